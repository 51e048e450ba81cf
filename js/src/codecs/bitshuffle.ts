// HDF5's bitshuffle filter (32008), alone or with lz4 or zstd for each block. Values of the filter: version (2),
// bytes of an element, elements of a block (0 for the default), compression (0, 2: lz4, 3: zstd).

import { DamagedSourceError, InvalidReferencesError } from "../errors.js";
import { bigEndian, bytesAt, refuseMore, type Expected } from "./decoder.js";
import { lz4Block } from "./lz4.js";

const BLOCK_BYTES = 8192;
const FEWEST = 128;
const GRAIN = 8; // elements; what is less is stored as it is
const LZ4 = 2;
const ZSTD = 3;

/** Undo bitshuffle, given the filter's client data values. */
export async function bitshuffle(data: Uint8Array, values: readonly number[], expected: Expected): Promise<Uint8Array> {
  const [, , itemsize = 0, block = 0, compression = 0] = values;
  if (itemsize < 1) throw new InvalidReferencesError("a bitshuffle filter does not say how large an element is");
  if (compression === 0) return unblocked(data, itemsize, block || defaultBlock(itemsize));
  const undo = await blockDecoder(compression, expected);
  const total = bigEndian(data, 0, 8);
  const blockBytes = bigEndian(data, 8, 4);
  refuseMore(total, expected);
  if (blockBytes === 0 || blockBytes % (GRAIN * itemsize) !== 0) {
    throw new DamagedSourceError("its header of blocks is damaged");
  }
  const rest = total % (GRAIN * itemsize);
  const result = new Uint8Array(total);
  let from = 12;
  for (let to = 0; to < total - rest; to += blockBytes) {
    const nbytes = Math.min(blockBytes, total - rest - to);
    const stored = bigEndian(data, from, 4);
    const bits = undo(bytesAt(data, from + 4, stored), nbytes);
    unshuffleBits(bits, result.subarray(to, to + nbytes), itemsize);
    from += 4 + stored;
  }
  result.set(bytesAt(data, from, rest), total - rest);
  return result;
}

async function blockDecoder(
  compression: number,
  expected: Expected,
): Promise<(data: Uint8Array, nbytes: number) => Uint8Array> {
  if (compression === LZ4) {
    return (data, nbytes) => {
      const target = new Uint8Array(nbytes);
      lz4Block(data, target);
      return target;
    };
  }
  if (compression !== ZSTD) throw new InvalidReferencesError(`bitshuffle with compression ${compression} is not known`);
  const { unzstd } = await import("./zstd.js");
  return (data, nbytes) => {
    const bits = unzstd(data, { ...expected, nbytes, most: nbytes });
    if (bits.length !== nbytes) throw new DamagedSourceError(`a block has ${bits.length} bytes, not ${nbytes}`);
    return bits;
  };
}

function unblocked(data: Uint8Array, itemsize: number, block: number): Uint8Array {
  const result = new Uint8Array(data.length);
  const whole = data.length - (data.length % (GRAIN * itemsize));
  for (let at = 0; at < whole; at += block * itemsize) {
    const end = Math.min(at + block * itemsize, whole);
    unshuffleBits(data.subarray(at, end), result.subarray(at, end), itemsize);
  }
  result.set(data.subarray(whole), whole);
  return result;
}

function defaultBlock(itemsize: number): number {
  const elements = Math.floor(BLOCK_BYTES / itemsize);
  return Math.max(elements - (elements % GRAIN), FEWEST);
}

/** Undo the transposition of bits: first those of weight 1 of all first bytes, then of weight 2, and so on. */
export function unshuffleBits(bits: Uint8Array, target: Uint8Array, itemsize: number): void {
  const groups = target.length / itemsize / GRAIN; // of eight elements, whose bits share a byte
  for (let byte = 0; byte < itemsize; byte++) {
    for (let group = 0; group < groups; group++) {
      // A matrix of 8 × 8 bits, turned as two halves (Hacker's Delight, "Transposing a bit matrix").
      let high = 0;
      let low = 0;
      for (let bit = 0; bit < 4; bit++) {
        low |= bits[(byte * 8 + bit) * groups + group]! << (8 * bit);
        high |= bits[(byte * 8 + bit + 4) * groups + group]! << (8 * bit);
      }
      let t = (low ^ (low >>> 7)) & 0x00aa00aa;
      low ^= t ^ (t << 7);
      t = (high ^ (high >>> 7)) & 0x00aa00aa;
      high ^= t ^ (t << 7);
      t = (low ^ (low >>> 14)) & 0x0000cccc;
      low ^= t ^ (t << 14);
      t = (high ^ (high >>> 14)) & 0x0000cccc;
      high ^= t ^ (t << 14);
      t = (low & 0x0f0f0f0f) | ((high << 4) & 0xf0f0f0f0);
      high = ((low >>> 4) & 0x0f0f0f0f) | (high & 0xf0f0f0f0);
      low = t;
      const start = group * GRAIN * itemsize + byte;
      for (let element = 0; element < 4; element++) {
        target[start + element * itemsize] = low >>> (8 * element);
        target[start + (element + 4) * itemsize] = high >>> (8 * element);
      }
    }
  }
}
