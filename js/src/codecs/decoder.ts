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
