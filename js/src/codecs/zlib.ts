// zlib and gzip streams (RFC 1950, 1952), by the environment's own decoder.

import { DamagedSourceError } from "../errors.js";
import type { Decode, Expected } from "./decoder.js";

export const zlib: Decode = (data, _, expected) => decompress("deflate", data, expected);
export const gzip: Decode = (data, _, expected) => decompress("gzip", data, expected);

async function decompress(format: CompressionFormat, data: Uint8Array, expected: Expected): Promise<Uint8Array> {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(data as Uint8Array<ArrayBuffer>);
      controller.close();
    },
  });
  const result = new Uint8Array(expected.nbytes ?? expected.most);
  const reader = source.pipeThrough(new DecompressionStream(format)).getReader();
  let nbytes = 0;
  for (;;) {
    let part: ReadableStreamReadResult<Uint8Array>;
    try {
      part = await reader.read();
    } catch (error) {
      throw new DamagedSourceError(`its ${format} stream is damaged: ${(error as Error).message}`, { cause: error });
    }
    if (part.done) return result.subarray(0, nbytes);
    if (nbytes + part.value.length > result.length) {
      await reader.cancel().catch(() => undefined);
      throw new DamagedSourceError(`it decodes to more than ${result.length} bytes`);
    }
    result.set(part.value, nbytes);
    nbytes += part.value.length;
  }
}
