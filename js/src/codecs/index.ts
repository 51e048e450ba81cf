// Names of codecs → their decoders, each loaded on first use. What is not here is asked of zarrita's registry,
// which programs may add codecs to.

import { registry } from "zarrita";

import type { CodecEntry } from "../arrayLayout.js";
import { DamagedSourceError, ShadowzarrError, UnsupportedError } from "../errors.js";
import type { Decode, Expected } from "./decoder.js";

const DECODERS: Record<string, () => Promise<Decode>> = {
  "numcodecs.zlib": async () => (await import("./zlib.js")).zlib,
  zlib: async () => (await import("./zlib.js")).zlib,
  "numcodecs.gzip": async () => (await import("./zlib.js")).gzip,
  gzip: async () => (await import("./zlib.js")).gzip,
  "numcodecs.shuffle": async () => (await import("./shuffle.js")).shuffle,
  "numcodecs.fletcher32": async () => (await import("./fletcher32.js")).fletcher32,
  blosc: async () => (await import("./blosc.js")).blosc,
  "numcodecs.blosc": async () => (await import("./blosc.js")).blosc,
  zstd: async () => (await import("./zstd.js")).zstd,
  "numcodecs.zstd": async () => (await import("./zstd.js")).zstd,
  imagecodecs_lz4h5: async () => (await import("./lz4.js")).lz4h5,
  "numcodecs.bz2": async () => (await import("./bzip2.js")).bzip2,
  imagecodecs_lzw: async () => (await import("./tiff.js")).lzw,
  imagecodecs_packbits: async () => (await import("./tiff.js")).packbits,
  "shadowzarr.hdf5_filters": async () => (await import("./hdf5Filters.js")).hdf5Filters,
};

/** Codecs that give as many bytes as they take, or so many more. */
const ADDED: Record<string, number> = { "numcodecs.shuffle": 0, "numcodecs.fletcher32": 4, crc32c: 4 };
const LARGEST_OF_UNKNOWN = 2 ** 28; // of chunks of elements without a fixed size, as in Python
const OVERHEAD = 4096; // what codecs before one may have added to a small chunk

/**
 * Undo codecs.
 *
 * @param codecs - In the order in which they were applied.
 * @param nbytes - Bytes of a whole decoded chunk; undefined when they differ.
 * @throws UnsupportedError when a codec is not known; DamagedSourceError when the bytes do not decode.
 */
export async function decodeBytes(
  data: Uint8Array,
  codecs: readonly CodecEntry[],
  nbytes: number | undefined,
  itemsize: number,
): Promise<Uint8Array> {
  const most = nbytes === undefined ? LARGEST_OF_UNKNOWN : 2 * nbytes + OVERHEAD;
  let bytes = data;
  for (let i = codecs.length - 1; i >= 0; i--) {
    const codec = codecs[i]!;
    const decode = await decoderOf(codec);
    const expected: Expected = { nbytes: sizeBefore(codecs.slice(0, i), nbytes), most, itemsize };
    try {
      bytes = await decode(bytes, codec.configuration, expected);
    } catch (error) {
      if (error instanceof DamagedSourceError)
        error.message = `the chunk is damaged: codec ${codec.name}: ${error.message}`;
      if (error instanceof ShadowzarrError) throw error;
      const message = `the chunk does not decode: codec ${codec.name}: ${error instanceof Error ? error.message : error}`;
      throw new DamagedSourceError(message, { cause: error });
    }
  }
  return bytes;
}

async function decoderOf({ name, configuration }: CodecEntry): Promise<Decode> {
  if (Object.hasOwn(DECODERS, name)) return await DECODERS[name]!();
  const entry = await registry.get(name)?.();
  if (entry === undefined) {
    throw new UnsupportedError(
      `it needs the codec ${name}, which has no decoder in JavaScript here. Read it in Python, or add a decoder to ` +
        "zarrita's registry",
    );
  }
  const codec = entry.fromConfig(configuration, { dataType: "uint8", shape: [], codecs: [], fillValue: 0 });
  if (codec.kind === "array_to_array" || codec.kind === "array_to_bytes") {
    throw new UnsupportedError(`it has the codec ${name} where a codec of bytes is expected`);
  }
  return async (data) => (await codec.decode(data)) as Uint8Array;
}

/** Bytes behind some codecs, when all of them make a size that is known. */
function sizeBefore(codecs: readonly CodecEntry[], nbytes: number | undefined): number | undefined {
  return codecs.reduce<number | undefined>(
    (size, { name }) => (size === undefined || !Object.hasOwn(ADDED, name) ? undefined : size + ADDED[name]!),
    nbytes,
  );
}
