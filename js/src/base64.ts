// Base64 (RFC 4648, section 4) to bytes, strictly.

/**
 * Bytes of base64 text.
 *
 * @throws SyntaxError when it is none: other characters, padding that is missing.
 */
export function fromBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw new SyntaxError("not valid base64");
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}
