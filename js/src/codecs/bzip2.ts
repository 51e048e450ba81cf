// bzip2 streams, one or several after each other. The packages that decode them want Node's buffers, or a file of
// WebAssembly beside them. Each block's CRC is checked.

import { DamagedSourceError } from "../errors.js";
import { Output, type Decode } from "./decoder.js";

const BLOCK = 0x314159265359;
const END = 0x177245385090;
const GROUP = 50; // symbols that share a Huffman table
const MOST_BITS = 20;

export const bzip2: Decode = (data, _, expected) => {
  const output = new Output(expected);
  const bits = new Bits(data);
  do {
    if (bits.read(24) !== 0x425a68) throw new DamagedSourceError("it is no bzip2 stream");
    const level = bits.read(8) - 0x30;
    if (level < 1 || level > 9) throw new DamagedSourceError("its bzip2 header is damaged");
    for (;;) {
      const mark = bits.read(24) * 2 ** 24 + bits.read(24);
      const crc = bits.read(16) * 2 ** 16 + bits.read(16);
      if (mark === END) break;
      if (mark !== BLOCK) throw new DamagedSourceError("its bzip2 stream is damaged");
      const start = output.length;
      addRuns(readBlock(bits, level * 100_000), output);
      if (blockCrc(output.whole().subarray(start)) !== crc)
        throw new DamagedSourceError("a bzip2 block has another CRC");
    }
    bits.alignToByte();
  } while (!bits.isAtEnd);
  return output.whole();
};

class Bits {
  #at = 0;
  #kept = 0;
  #count = 0;

  constructor(private readonly data: Uint8Array) {}

  get isAtEnd(): boolean {
    return this.#at >= this.data.length;
  }

  /** Up to 24 bits. */
  read(count: number): number {
    while (this.#count < count) {
      if (this.#at >= this.data.length) throw new DamagedSourceError("its bzip2 stream is truncated");
      this.#kept = ((this.#kept & 0xffffff) << 8) | this.data[this.#at++]!;
      this.#count += 8;
    }
    this.#count -= count;
    return (this.#kept >>> this.#count) & ((1 << count) - 1);
  }

  alignToByte(): void {
    this.#count = 0;
  }
}

/** A Huffman table: for each length the codes below a limit, and where their symbols are. */
interface Table {
  limits: number[];
  bases: number[];
  symbols: number[];
}

/** The bytes of a block, still with runs. */
function readBlock(bits: Bits, most: number): Uint8Array {
  if (bits.read(1)) throw new DamagedSourceError("its bzip2 block is of an old kind (randomised)");
  const origin = bits.read(24);
  const used = readUsed(bits);
  const tables = bits.read(3);
  const selectors = readSelectors(bits, tables);
  const codes = Array.from({ length: tables }, () => readTable(bits, used.length + 2));
  const { last, counts } = readSymbols(bits, used, selectors, codes, most);
  if (origin >= last.length) throw new DamagedSourceError("its bzip2 block is damaged");
  return unsorted(last, counts, origin);
}

function readUsed(bits: Bits): number[] {
  const groups = bits.read(16);
  const used: number[] = [];
  for (let group = 0; group < 16; group++) {
    if (!((groups >> (15 - group)) & 1)) continue;
    const members = bits.read(16);
    for (let i = 0; i < 16; i++) if ((members >> (15 - i)) & 1) used.push(16 * group + i);
  }
  if (used.length === 0) throw new DamagedSourceError("its bzip2 block has no symbols");
  return used;
}

function readSelectors(bits: Bits, tables: number): Uint8Array {
  const count = bits.read(15);
  if (tables < 2 || tables > 6 || count === 0) throw new DamagedSourceError("its bzip2 block has no tables");
  const recent = Array.from({ length: tables }, (_, i) => i);
  return Uint8Array.from({ length: count }, () => {
    let place = 0;
    while (bits.read(1)) if (++place >= tables) throw new DamagedSourceError("its bzip2 block is damaged");
    const [table] = recent.splice(place, 1);
    recent.unshift(table!);
    return table!;
  });
}

function readTable(bits: Bits, size: number): Table {
  let length = bits.read(5);
  const lengths = Array.from({ length: size }, () => {
    for (;;) {
      if (length < 1 || length > MOST_BITS) throw new DamagedSourceError("its bzip2 table is damaged");
      if (!bits.read(1)) return length;
      length += bits.read(1) ? -1 : 1;
    }
  });
  const table: Table = { limits: [0], bases: [0], symbols: [] };
  let code = 0;
  for (let n = 1; n <= MOST_BITS; n++) {
    code <<= 1;
    table.bases.push(table.symbols.length - code);
    lengths.forEach((found, symbol) => {
      if (found === n) table.symbols.push(symbol);
    });
    code = table.symbols.length - table.bases[n]!;
    table.limits.push(code);
  }
  return table;
}

function readSymbol(bits: Bits, { limits, bases, symbols }: Table): number {
  let code = 0;
  for (let n = 1; n <= MOST_BITS; n++) {
    code = (code << 1) | bits.read(1);
    if (code < limits[n]!) return symbols[code + bases[n]!]!;
  }
  throw new DamagedSourceError("its bzip2 block is damaged");
}

/** The last column of the sorted block, and how often each byte is in it. */
function readSymbols(
  bits: Bits,
  used: number[],
  selectors: Uint8Array,
  codes: Table[],
  most: number,
): { last: Uint8Array; counts: Uint32Array } {
  const last = new Uint8Array(most);
  const counts = new Uint32Array(256);
  const recent = [...used];
  let size = 0;
  let run = 0;
  let weight = 1;
  for (let n = 0; ; n++) {
    const selector = selectors[Math.floor(n / GROUP)];
    if (selector === undefined) throw new DamagedSourceError("its bzip2 block has too few selectors");
    const symbol = readSymbol(bits, codes[selector]!);
    if (symbol < 2) {
      run += weight << symbol;
      weight *= 2;
      if (run > most) throw new DamagedSourceError("its bzip2 block is too large");
      continue;
    }
    const isEnd = symbol === used.length + 1;
    if (size + run + (isEnd ? 0 : 1) > most) throw new DamagedSourceError("its bzip2 block is too large");
    last.fill(recent[0]!, size, size + run);
    counts[recent[0]!]! += run;
    size += run;
    run = 0;
    weight = 1;
    if (isEnd) return { last: last.subarray(0, size), counts };
    const [byte] = recent.splice(symbol - 1, 1);
    recent.unshift(byte!);
    last[size++] = byte!;
    counts[byte!]!++;
  }
}

/** Undo the Burrows-Wheeler transform. */
function unsorted(last: Uint8Array, counts: Uint32Array, origin: number): Uint8Array {
  const starts = new Uint32Array(256);
  for (let byte = 1; byte < 256; byte++) starts[byte] = starts[byte - 1]! + counts[byte - 1]!;
  const next = new Uint32Array(last.length);
  for (let i = 0; i < last.length; i++) next[starts[last[i]!]!++] = i;
  const result = new Uint8Array(last.length);
  for (let i = 0, at = next[origin]!; i < result.length; i++, at = next[at]!) result[i] = last[at]!;
  return result;
}

/** Four equal bytes are followed by how many more there are. */
function addRuns(block: Uint8Array, output: Output): void {
  let equal = 0;
  let before = -1;
  for (const byte of block) {
    if (equal === 4) {
      output.repeat(1, byte);
      equal = 0;
      before = -1;
      continue;
    }
    output.grow(1);
    output.bytes[output.length++] = byte;
    equal = byte === before ? equal + 1 : 1;
    before = byte;
  }
}

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  return crc;
});

function blockCrc(data: Uint8Array): number {
  let crc = -1;
  for (const byte of data) crc = (crc << 8) ^ CRC[(crc >>> 24) ^ byte]!;
  return ~crc >>> 0;
}
