// HDF5's Fletcher-32 checksum, in the last four bytes, little-endian. Of big-endian words of two bytes; HDF5
// before 1.6.3 swapped the bytes of both halves.

import { DamagedSourceError } from "../errors.js";
import { bytesAt, type Decode } from "./decoder.js";

export const fletcher32: Decode = (data) => {
  const end = data.length - 4;
  const stored = new DataView(bytesAt(data, end, 4).slice().buffer).getUint32(0, true);
  const values = bytesAt(data, 0, end);
  const sum = checksum(values);
  const swapped = ((sum & 0x00ff00ff) << 8) | ((sum >>> 8) & 0x00ff00ff);
  if (stored !== sum && stored !== swapped >>> 0) {
    throw new DamagedSourceError("its Fletcher-32 checksum is not that of its bytes");
  }
  return values;
};

/** Fletcher's checksum of 32 bits, as HDF5 has it. */
export function checksum(data: Uint8Array): number {
  let first = 0;
  let second = 0;
  const words = data.length >> 1;
  for (let i = 0; i < words;) {
    for (const end = Math.min(words, i + 360); i < end; i++) {
      first += (data[2 * i]! << 8) | data[2 * i + 1]!;
      second += first;
    }
    first = (first & 0xffff) + (first >>> 16);
    second = (second & 0xffff) + (second >>> 16);
  }
  if (data.length % 2) {
    first += data[data.length - 1]! << 8;
    second += first;
    first = (first & 0xffff) + (first >>> 16);
    second = (second & 0xffff) + (second >>> 16);
  }
  first = (first & 0xffff) + (first >>> 16);
  second = (second & 0xffff) + (second >>> 16);
  return ((second << 16) | first) >>> 0;
}
