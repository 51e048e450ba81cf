// Blosc 1, by numcodecs (WebAssembly). Its header is looked at first, because the decoder believes it.

import Blosc from "numcodecs/blosc";

import { DamagedSourceError } from "../errors.js";
import { bytesAt, refuseMore, type Decode } from "./decoder.js";

const HEADER = 16;

export const blosc: Decode = async (data, _, expected) => {
  const header = bytesAt(data, 0, HEADER).slice();
  const view = new DataView(header.buffer);
  const [nbytes, blocksize, stored] = [4, 8, 12].map((at) => view.getUint32(at, true)) as [number, number, number];
  refuseMore(nbytes, expected);
  if (stored < HEADER || blocksize > Math.max(nbytes, 1)) throw new DamagedSourceError("its blosc header is damaged");
  if (nbytes === 0) return new Uint8Array();
  let result: Uint8Array;
  try {
    result = await Blosc.fromConfig({} as Parameters<typeof Blosc.fromConfig>[0]).decode(bytesAt(data, 0, stored));
  } catch (error) {
    if (error instanceof DamagedSourceError) throw error;
    throw new DamagedSourceError(`its blosc buffer is damaged: ${(error as Error).message ?? error}`, { cause: error });
  }
  if (result.length !== nbytes) throw new DamagedSourceError(`blosc made ${result.length} bytes, not ${nbytes}`);
  return result;
};
