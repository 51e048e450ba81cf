// HDF5's lzf filter (32000): LibLZF's format, one stream.

import { bytesAt, Output, type Expected } from "./decoder.js";

/** Undo lzf; the stream does not say how many bytes it has. */
export function lzf(data: Uint8Array, expected: Expected): Uint8Array {
  const output = new Output(expected);
  let from = 0;
  while (from < data.length) {
    const control = data[from++]!;
    if (control < 32) {
      output.add(bytesAt(data, from, control + 1));
      from += control + 1;
      continue;
    }
    let length = (control >> 5) + 2;
    if (length === 9) length += bytesAt(data, from++, 1)[0]!;
    output.repeat(((control & 31) << 8) + bytesAt(data, from++, 1)[0]! + 1, length);
  }
  return output.whole();
}
