// What TIFF does to bytes: LZW, PackBits, and bits in reversed order (TIFF 6.0, sections 9, 13).

import { DamagedSourceError } from "../errors.js";
import { bytesAt, Output, type Decode } from "./decoder.js";

const CLEAR = 256;
const END = 257;
const MOST_CODES = 4096;

export const packbits: Decode = (data, _, expected) => {
  const output = new Output(expected);
  let from = 0;
  while (from < data.length) {
    const header = data[from++]!;
    if (header === 128) continue;
    if (header < 128) {
      output.add(bytesAt(data, from, header + 1));
      from += header + 1;
    } else {
      output.add(bytesAt(data, from++, 1));
      output.repeat(1, 256 - header);
    }
  }
  return output.whole();
};

/** Codes of 9 to 12 bits, the highest bit first; they grow one code early. */
export const lzw: Decode = (data, _, expected) => {
  if (data[0] === 0 && data[1]! & 1)
    throw new DamagedSourceError("its LZW stream is of an old kind (lowest bit first)");
  const output = new Output(expected);
  // A code stands for bytes that were written before: where they start, and how many there are.
  const starts = new Uint32Array(MOST_CODES);
  const lengths = new Uint32Array(MOST_CODES);
  let [next, width, kept, count, from] = [END + 1, 9, 0, 0, 0];
  let before = -1;
  for (;;) {
    while (count < width) {
      if (from >= data.length) return output.whole(); // some writers leave the last code away
      kept = ((kept << 8) | data[from++]!) & 0xffffff;
      count += 8;
    }
    count -= width;
    const code = (kept >>> count) & ((1 << width) - 1);
    if (code === END) return output.whole();
    if (code === CLEAR) {
      [next, width, before] = [END + 1, 9, -1];
      continue;
    }
    const start = output.length;
    if (code < CLEAR) output.add(Uint8Array.of(code));
    else if (code < next) output.repeat(start - starts[code]!, lengths[code]!);
    else if (code === next && before >= 0) {
      output.repeat(start - before, start - before); // the last bytes again, and the first of them
      output.repeat(start - before, 1);
    } else throw new DamagedSourceError("its LZW stream is damaged");
    if (before >= 0 && next < MOST_CODES) {
      starts[next] = before;
      lengths[next] = start - before + 1;
      next++;
    }
    before = start;
    width = next < 511 ? 9 : next < 1023 ? 10 : next < 2047 ? 11 : 12;
  }
};

/** The bits of each byte the other way round. */
export function reversedBits(data: Uint8Array): Uint8Array {
  return data.map((byte) => {
    let bits = ((byte & 0x0f) << 4) | (byte >> 4);
    bits = ((bits & 0x33) << 2) | ((bits >> 2) & 0x33);
    return ((bits & 0x55) << 1) | ((bits >> 1) & 0x55);
  });
}
