// HDF5's lzf filter (32000): LibLZF's format, one stream.

import { DamagedSourceError } from "../errors.js";
import { bytesAt, type Expected } from "./decoder.js";

/** Undo lzf; the stream does not say how many bytes it has. */
export function lzf(data: Uint8Array, { nbytes, most }: Expected): Uint8Array {
  const result = new Uint8Array(nbytes ?? most);
  let from = 0;
  let to = 0;
  while (from < data.length) {
    const control = data[from++]!;
    const isLiteral = control < 32;
    let length = isLiteral ? control + 1 : (control >> 5) + 2;
    if (control >> 5 === 7) length += bytesAt(data, from++, 1)[0]!;
    if (to + length > result.length) throw new DamagedSourceError(`an lzf stream has more than ${result.length} bytes`);
    if (isLiteral) {
      result.set(bytesAt(data, from, length), to);
      from += length;
    } else {
      const back = ((control & 31) << 8) + bytesAt(data, from++, 1)[0]! + 1;
      if (back > to) throw new DamagedSourceError("an lzf stream refers to bytes before its start");
      for (let i = to; i < to + length; i++) result[i] = result[i - back]!;
    }
    to += length;
  }
  return result.subarray(0, to);
}
