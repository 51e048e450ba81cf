// Stored bytes of a chunk → what the store hands to zarrita: elements of full width, little-endian, in the chunk's
// own order of axes.

import { chunkNbytes, product, type ArrayLayout } from "./arrayLayout.js";
import { decodeBytes } from "./codecs/index.js";
import { float16, floatFill } from "./dataTypes.js";
import { DamagedSourceError, UnsupportedError } from "./errors.js";
import { undoFilters } from "./filters.js";
import type { Json } from "./json.js";

/**
 * Decode a chunk.
 *
 * @throws UnsupportedError when a codec is not known; DamagedSourceError when the bytes do not decode to a chunk.
 */
export async function decodeChunk(stored: Uint8Array, layout: ArrayLayout): Promise<Uint8Array> {
  const { type, filters, bytesCodecs, toBytes } = layout;
  const nbytes = chunkNbytes(layout);
  const bytes = await decodeBytes(stored, bytesCodecs, nbytes, type.nbytes ?? 1);
  if (nbytes === undefined) return bytes;
  if (bytes.length !== nbytes)
    throw new DamagedSourceError(`the chunk decodes to ${bytes.length} bytes, not ${nbytes}`);
  if (type.read !== undefined && filters.length > 0) {
    throw new UnsupportedError(`it needs the codec ${filters[0]!.name} of values that are no numbers`);
  }
  if (type.read !== undefined) return bytes; // byte order is looked after where elements are made
  const isBig = toBytes.configuration["endian"] === "big";
  const ordered = isBig && type.word > 1 ? swapped(bytes, type.word) : bytes;
  const little = filters.length > 0 ? undoFilters(ordered, layout) : ordered;
  return type.nbytes === 2 && type.served === "float32" ? widened(little) : little;
}

/** A chunk of a floating-point fill value that is given by its bits. */
export function filledChunk(layout: ArrayLayout, fill: Json): Uint8Array {
  const count = product(layout.chunkShape);
  const size = layout.type.nbytes!;
  if (size === 2) return new Uint8Array(new Float32Array(count).fill(floatFill(fill, size)).buffer);
  const bits = BigInt(fill as string);
  const result = new Uint8Array(count * size);
  for (let byte = 0; byte < size; byte++) result[byte] = Number((bits >> BigInt(8 * byte)) & 0xffn);
  for (let at = size; at < result.length; at += size) result.copyWithin(at, 0, size);
  return result;
}

function swapped(bytes: Uint8Array, word: number): Uint8Array {
  const result = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at += word) {
    for (let byte = 0; byte < word; byte++) result[at + byte] = bytes[at + word - 1 - byte]!;
  }
  return result;
}

/** Halves as floats, which hold each of them. */
function widened(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const floats = new Float32Array(bytes.length / 2);
  for (let i = 0; i < floats.length; i++) floats[i] = float16(view.getUint16(2 * i, true));
  return new Uint8Array(floats.buffer);
}
