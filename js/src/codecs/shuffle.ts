// HDF5's shuffle filter: first bytes of all elements, then second ones, and so on; what is less than an element
// comes last as it is.

import { InvalidReferencesError, shown } from "../errors.js";
import type { Decode } from "./decoder.js";

export const shuffle: Decode = (data, configuration, { itemsize }) => {
  const size = configuration["elementsize"] ?? itemsize;
  if (!Number.isSafeInteger(size) || (size as number) < 1) {
    throw new InvalidReferencesError(`the codec numcodecs.shuffle has elementsize ${shown(size)}`);
  }
  return unshuffle(data, size as number);
};

/** Undo a shuffle of elements of some bytes. */
export function unshuffle(data: Uint8Array, size: number): Uint8Array {
  const count = Math.floor(data.length / size);
  if (size === 1 || count < 2) return data;
  const result = new Uint8Array(data.length);
  for (let byte = 0, from = 0; byte < size; byte++) {
    for (let to = byte, i = 0; i < count; i++, to += size) result[to] = data[from++]!;
  }
  result.set(data.subarray(count * size), count * size);
  return result;
}
