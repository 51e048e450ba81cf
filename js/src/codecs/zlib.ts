// zlib and gzip streams (RFC 1950, 1952), by the environment's own decoder.

import { DamagedSourceError } from "../errors.js";
import { Output, type Decode, type Expected } from "./decoder.js";

export const zlib: Decode = (data, _, expected) => decompress("deflate", data, expected);
export const gzip: Decode = (data, _, expected) => decompress("gzip", data, expected);

async function decompress(format: CompressionFormat, data: Uint8Array, expected: Expected): Promise<Uint8Array> {
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(data as Uint8Array<ArrayBuffer>);
      controller.close();
    },
  });
  const reader = source.pipeThrough(new DecompressionStream(format)).getReader();
  const output = new Output(expected);
  for (;;) {
    let part: ReadableStreamReadResult<Uint8Array>;
    try {
      part = await reader.read();
    } catch (error) {
      throw new DamagedSourceError(`its ${format} stream is damaged: ${(error as Error).message}`, { cause: error });
    }
    if (part.done) return output.whole();
    try {
      output.add(part.value);
    } catch (error) {
      await reader.cancel().catch(() => undefined);
      throw error;
    }
  }
}
