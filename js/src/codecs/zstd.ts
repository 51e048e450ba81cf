// Zstandard (RFC 8878): small frames by fzstd, which is small itself; large ones by numcodecs (WebAssembly), which is
// five times as fast and 240 KB to load.

import { Decompress } from "fzstd";

import { DamagedSourceError } from "../errors.js";
import { bytesAt, Output, refuseMore, type Decode, type Expected } from "./decoder.js";

const LARGE = 256 * 1024;
const BLOCK = 128 * 1024; // most bytes that a block decodes to
const ROOM = 2 ** 20; // by which blocks of frames that do not say their size may be less than that
const LARGEST_WINDOW = 2 ** 27; // as libzstd has it
const REPEATED = 1;
const COMPRESSED = 2;

export const zstd: Decode = async (data, _, expected) => {
  const announced = contentSize(data);
  if (announced === undefined || announced < LARGE) return unzstd(data, expected);
  refuseBombs(data, expected);
  const { default: Zstd } = await import("numcodecs/zstd");
  let result: Uint8Array;
  try {
    result = await Zstd.fromConfig({}).decode(data);
  } catch (error) {
    throw new DamagedSourceError(`its zstd frame is damaged: ${messageOf(error)}`, { cause: error });
  }
  refuseMore(result.length, expected);
  return result;
};

/** Undo Zstandard. */
export function unzstd(data: Uint8Array, expected: Expected): Uint8Array {
  contentSize(data);
  const announced = refuseBombs(data, expected);
  // Block by block: fzstd takes an announced size for granted, and leaves zeros or cuts off where it is wrong.
  const output = new Output({ ...expected, nbytes: announced });
  const stream = new Decompress((part) => output.add(part));
  try {
    stream.push(data, true);
  } catch (error) {
    throw new DamagedSourceError(`its zstd frame is damaged: ${messageOf(error)}`, { cause: error });
  }
  if (announced !== undefined && output.length !== announced) {
    throw new DamagedSourceError(`its zstd frame has ${output.length} bytes, and announces ${announced}`);
  }
  return output.whole();
}

/**
 * Refuse frames that stand for more than any chunk: decoders believe them, and a kilobyte may stand for gigabytes.
 *
 * @returns The bytes that all of them announce; undefined when one does not.
 */
function refuseBombs(data: Uint8Array, expected: Expected): number | undefined {
  let [claimed, most] = [0, 0];
  for (let left = data; left.length > 0;) {
    const frame = frameOf(left);
    if (frame.announced === undefined) most += frame.most;
    else claimed += frame.announced;
    left = left.subarray(frame.nbytes);
  }
  refuseMore(claimed, expected);
  if (claimed + most > expected.most + ROOM) refuseMore(claimed + most, expected);
  return most > 0 ? undefined : claimed;
}

/** Bytes that a frame says it decodes to. */
function contentSize(data: Uint8Array): number | undefined {
  if (data.length < 6 || isSkippable(data) || !isFrame(data)) throw new DamagedSourceError("it is no zstd frame");
  return frameOf(data).announced;
}

/** What a frame says of itself, bytes that its blocks decode to at most, and its own bytes (RFC 8878, section 3.1). */
function frameOf(data: Uint8Array): { announced: number | undefined; most: number; nbytes: number } {
  if (isSkippable(data)) return { announced: 0, most: 0, nbytes: 8 + littleEndian(data, 4, 4) };
  if (!isFrame(data)) throw new DamagedSourceError("it is no zstd frame");
  const descriptor = littleEndian(data, 4, 1);
  const isSingle = (descriptor & 0x20) !== 0;
  if (!isSingle && windowSize(littleEndian(data, 5, 1)) > LARGEST_WINDOW) {
    throw new DamagedSourceError("its zstd frame wants more memory than decoders give");
  }
  let at = 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  const digits = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  const announced = digits === 0 ? undefined : littleEndian(data, at, digits) + (digits === 2 ? 256 : 0);
  at += digits;
  let most = 0;
  for (let isLast = false; !isLast;) {
    const header = littleEndian(data, at, 3);
    const [kind, size] = [(header >> 1) & 3, header >> 3];
    isLast = (header & 1) === 1;
    most += kind === COMPRESSED ? BLOCK : size;
    at += 3 + (kind === REPEATED ? 1 : size);
  }
  return { announced, most, nbytes: at + (descriptor & 4 ? 4 : 0) };
}

function windowSize(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3));
  return base + (base / 8) * (descriptor & 7);
}

function isFrame(data: Uint8Array): boolean {
  return littleEndian(data, 0, 4) === 0xfd2fb528;
}

function isSkippable(data: Uint8Array): boolean {
  return littleEndian(data, 0, 4) >>> 4 === 0x184d2a5;
}

function littleEndian(data: Uint8Array, offset: number, length: number): number {
  if (offset + length > data.length) throw new DamagedSourceError("its zstd frame is truncated");
  return bytesAt(data, offset, length).reduceRight((number, byte) => number * 256 + byte, 0);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
