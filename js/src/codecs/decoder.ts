// What a decoder of one bytes-to-bytes codec is, and bytes that are read with their ends looked after.

import { DamagedSourceError } from "../errors.js";
import type { Json } from "../json.js";

/** What is known of the bytes that a codec has to give. */
export interface Expected {
  /** How many there are; undefined behind a codec whose result has any size. */
  readonly nbytes: number | undefined;
  /** Most bytes there can be; more are never made of a damaged chunk. */
  readonly most: number;
  /** Bytes of an element. */
  readonly itemsize: number;
}

/** Undoes a codec. */
export type Decode = (
  data: Uint8Array,
  configuration: { readonly [key: string]: Json },
  expected: Expected,
) => Uint8Array | Promise<Uint8Array>;

/** Bytes from an offset on; it is an error when there are fewer. */
export function bytesAt(data: Uint8Array, offset: number, length: number): Uint8Array {
  if (length < 0 || offset + length > data.length) {
    throw new DamagedSourceError(`it is truncated: ${data.length} bytes where ${offset + length} are needed`);
  }
  return data.subarray(offset, offset + length);
}

/** An unsigned big-endian number of up to 8 bytes. */
export function bigEndian(data: Uint8Array, offset: number, length: number): number {
  return bytesAt(data, offset, length).reduce((number, byte) => number * 256 + byte, 0);
}

/** Refuse a size that no chunk of the array has. */
export function refuseMore(nbytes: number, { most }: Expected): void {
  if (nbytes > most) throw new DamagedSourceError(`it announces ${nbytes} bytes, more than a chunk has`);
}

/** Bytes that are being decoded: room for as many as are expected, or growing where that is not known. */
export class Output {
  bytes: Uint8Array;
  length = 0;
  readonly #most: number;

  constructor({ nbytes, most }: Expected) {
    this.bytes = new Uint8Array(nbytes ?? Math.min(most, FIRST_ROOM));
    this.#most = nbytes ?? most;
  }

  /** Make room for more bytes; refuses more than a chunk has. */
  grow(by: number): void {
    const needed = this.length + by;
    if (needed <= this.bytes.length) return;
    if (needed > this.#most) throw new DamagedSourceError(`it decodes to more than ${this.#most} bytes`);
    const larger = new Uint8Array(Math.min(this.#most, Math.max(needed, 2 * this.bytes.length)));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  /** Add bytes at the end. */
  add(data: Uint8Array): void {
    this.grow(data.length);
    this.bytes.set(data, this.length);
    this.length += data.length;
  }

  /** Add bytes that are there already, from so many before the end on; they may overlap with what is added. */
  repeat(back: number, length: number): void {
    if (back > this.length) throw new DamagedSourceError("it refers to bytes before its start");
    this.grow(length);
    const end = this.length + length;
    for (let i = this.length; i < end; i++) this.bytes[i] = this.bytes[i - back]!;
    this.length = end;
  }

  /** All that was added. */
  whole(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }
}

const FIRST_ROOM = 2 ** 16;
