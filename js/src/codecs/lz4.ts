// LZ4 blocks, and HDF5's lz4 filter (32004): bytes in all (8, big-endian), bytes of a block (4), and blocks, each
// after the number of its bytes (4); a block that is no smaller is stored as it is.

import { DamagedSourceError } from "../errors.js";
import { bigEndian, bytesAt, refuseMore, type Decode } from "./decoder.js";

export const lz4h5: Decode = (data, _, expected) => {
  const total = bigEndian(data, 0, 8);
  refuseMore(total, expected);
  const block = Math.min(bigEndian(data, 8, 4), total);
  if (block === 0 && total > 0) throw new DamagedSourceError("its lz4 header is damaged");
  const result = new Uint8Array(total);
  let from = 12;
  for (let to = 0; to < total; to += block) {
    const nbytes = Math.min(block, total - to);
    const stored = bigEndian(data, from, 4);
    const bytes = bytesAt(data, from + 4, stored);
    const target = result.subarray(to, to + nbytes);
    if (stored === nbytes) target.set(bytes);
    else lz4Block(bytes, target);
    from += 4 + stored;
  }
  return result;
};

/** Decode one LZ4 block (LZ4 Block Format) into a buffer of just its size. */
export function lz4Block(data: Uint8Array, target: Uint8Array): void {
  let from = 0;
  let to = 0;
  const more = (start: number): number => {
    let length = start;
    if (start !== 15) return length;
    for (let byte = 255; byte === 255; length += byte) byte = bytesAt(data, from++, 1)[0]!;
    return length;
  };
  while (from < data.length) {
    const token = data[from++]!;
    const literals = more(token >> 4);
    if (to + literals > target.length) throw tooMuch(target);
    target.set(bytesAt(data, from, literals), to);
    from += literals;
    to += literals;
    if (from === data.length) break; // the last sequence has literals only
    const offset = bytesAt(data, from, 2)[0]! | (data[from + 1]! << 8);
    from += 2;
    const length = more(token & 15) + 4;
    if (offset === 0 || offset > to) throw new DamagedSourceError("an lz4 block refers to bytes before its start");
    if (to + length > target.length) throw tooMuch(target);
    if (offset >= length) target.copyWithin(to, to - offset, to - offset + length);
    else for (let i = to; i < to + length; i++) target[i] = target[i - offset]!;
    to += length;
  }
  if (to !== target.length) throw new DamagedSourceError(`an lz4 block has ${to} bytes, not ${target.length}`);
}

function tooMuch(target: Uint8Array): DamagedSourceError {
  return new DamagedSourceError(`an lz4 block has more than ${target.length} bytes`);
}
