// Zstandard (RFC 8878): small frames by fzstd, which is small itself; large ones by numcodecs (WebAssembly), which is
// five times as fast and 240 KB to load.

import { decompress } from "fzstd";

import { DamagedSourceError } from "../errors.js";
import { refuseMore, type Decode, type Expected } from "./decoder.js";

const LARGE = 256 * 1024;

export const zstd: Decode = async (data, _, expected) => {
  const announced = contentSize(data);
  if (announced === undefined || announced < LARGE) return unzstd(data, expected);
  refuseMore(announced, expected);
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
  const announced = contentSize(data);
  if (announced !== undefined) refuseMore(announced, expected);
  let result: Uint8Array;
  try {
    // A buffer for the result keeps a damaged frame from taking all memory.
    result =
      expected.nbytes !== undefined && announced === expected.nbytes
        ? decompress(data, new Uint8Array(announced))
        : decompress(data);
  } catch (error) {
    throw new DamagedSourceError(`its zstd frame is damaged: ${messageOf(error)}`, { cause: error });
  }
  refuseMore(result.length, expected);
  return result;
}

/** Bytes that a frame says it decodes to. */
function contentSize(data: Uint8Array): number | undefined {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.length < 6 || view.getUint32(0, true) !== 0xfd2fb528) {
    throw new DamagedSourceError("it is no zstd frame");
  }
  const descriptor = data[4]!;
  const isSingle = (descriptor & 0x20) !== 0;
  const at = 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  const flag = descriptor >> 6;
  if (flag === 0 && !isSingle) return undefined;
  if (data.length < at + [1, 2, 4, 8][flag]!) throw new DamagedSourceError("its zstd frame is truncated");
  if (flag === 0) return data[at]!;
  if (flag === 1) return view.getUint16(at, true) + 256;
  return flag === 2 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
