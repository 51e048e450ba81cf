// Inline values: bytes held in the document itself, in base64, or as text that stands for its UTF-8 bytes.

import { fromBase64 } from "./base64.js";
import { InvalidReferencesError } from "./errors.js";

const PREFIX = "base64:";

/**
 * Bytes of an inline value.
 *
 * @throws InvalidReferencesError when it announces base64 and is not.
 */
export function inlineBytes(value: string): Uint8Array {
  if (!value.startsWith(PREFIX)) return new TextEncoder().encode(value);
  try {
    return fromBase64(value.slice(PREFIX.length));
  } catch (error) {
    throw new InvalidReferencesError(`an inline value is ${(error as Error).message}`, { cause: error });
  }
}

/** Text of an inline value. */
export function inlineText(value: string): string {
  return value.startsWith(PREFIX) ? new TextDecoder("utf-8", { fatal: true }).decode(inlineBytes(value)) : value;
}
