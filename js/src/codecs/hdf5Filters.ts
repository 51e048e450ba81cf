// The codec `shadowzarr.hdf5_filters`: chunks as an HDF5 file stores them, behind filters that are named by their
// numbers and client data values.

import { DamagedSourceError, InvalidReferencesError, UnsupportedError, shown } from "../errors.js";
import { isObject, type Json } from "../json.js";
import { bytesAt, type Decode, type Expected } from "./decoder.js";

interface Filter {
  readonly id: number;
  readonly name: string;
  readonly values: readonly number[];
}

/** Begins, after the byte 0x89, a chunk that names the filters it skipped, in four bytes after it. */
const MARK = new TextEncoder().encode("shadowzarr-mask");
const NBIT = 5;
const SCALEOFFSET = 6;
const INTEGERS = 2;

type Undo = (data: Uint8Array, filter: Filter, expected: Expected) => Uint8Array | Promise<Uint8Array>;

const FILTERS: Record<number, () => Promise<Undo>> = {
  1: async () => codec((await import("./zlib.js")).zlib),
  2: async () => {
    const { unshuffle } = await import("./shuffle.js");
    return (data, { values }, { itemsize }) => unshuffle(data, values[0] || itemsize);
  },
  3: async () => codec((await import("./fletcher32.js")).fletcher32),
  6: async () => {
    const { scaleOffset } = await import("./scaleOffset.js");
    return (data, { values }, expected) => scaleOffset(data, values, expected);
  },
  307: async () => codec((await import("./bzip2.js")).bzip2),
  32000: async () => {
    const { lzf } = await import("./lzf.js");
    return (data, _, expected) => lzf(data, expected);
  },
  32001: async () => codec((await import("./blosc.js")).blosc),
  32004: async () => codec((await import("./lz4.js")).lz4h5),
  32008: async () => {
    const { bitshuffle } = await import("./bitshuffle.js");
    return (data, { values }, expected) => bitshuffle(data, values, expected);
  },
  32015: async () => codec((await import("./zstd.js")).zstd),
};

export const hdf5Filters: Decode = async (data, configuration, expected) => {
  const filters = parsed(configuration["filters"]);
  const [stored, mask] = unmarked(data);
  const applied = filters.filter((filter, position) => !((mask >>> position) & 1) && !doesNothing(filter));
  const missing = applied.filter(({ id }) => !(id in FILTERS)).map(({ name }) => name);
  if (missing.length > 0) {
    throw new UnsupportedError(
      `it is behind the HDF5 filter ${missing.join(", ")}, which has no decoder in JavaScript here; read it in Python`,
    );
  }
  let bytes = stored;
  for (const [position, filter] of [...applied.entries()].reverse()) {
    const undo = await FILTERS[filter.id]!();
    const nbytes = position === 0 ? expected.nbytes : sizeBefore(applied.slice(0, position), expected);
    try {
      bytes = await undo(bytes, filter, { ...expected, nbytes });
    } catch (error) {
      if (error instanceof DamagedSourceError) error.message = `HDF5 filter ${filter.name}: ${error.message}`;
      throw error;
    }
  }
  return bytes;
};

function codec(decode: Decode): Undo {
  return (data, _, expected) => decode(data, {}, expected);
}

/** Bytes that some filters have made, when each of them makes a size that is known. */
function sizeBefore(filters: readonly Filter[], { nbytes }: Expected): number | undefined {
  let size = nbytes;
  for (const { id } of filters) {
    if (id === 3) size = size === undefined ? undefined : size + 4;
    else if (id !== 2) return undefined;
  }
  return size;
}

/** n-bit and scale-offset of types without bits to spare pass a chunk on as it is. */
function doesNothing({ id, values }: Filter): boolean {
  if (id === NBIT) return values.length > 1 && values[1] !== 0;
  return id === SCALEOFFSET && values[0] === INTEGERS && values[1] === 8 * (values[4] ?? 0);
}

function unmarked(data: Uint8Array): [stored: Uint8Array, mask: number] {
  const isMarked = data.length >= MARK.length + 5 && data[0] === 0x89 && MARK.every((byte, i) => data[i + 1] === byte);
  if (!isMarked) return [data, 0];
  const start = MARK.length + 1;
  const mask = new DataView(bytesAt(data, start, 4).slice().buffer).getUint32(0, true);
  return [data.subarray(start + 4), mask];
}

function parsed(filters: Json | undefined): Filter[] {
  if (!Array.isArray(filters)) throw wrong(filters);
  return filters.map((entry) => {
    if (!isObject(entry)) throw wrong(entry);
    const { id, name, cd_values: values } = entry;
    if (!Number.isSafeInteger(id) || !Array.isArray(values) || !values.every(Number.isSafeInteger)) throw wrong(entry);
    return { id: id as number, name: typeof name === "string" ? name : String(id), values: values as number[] };
  });
}

function wrong(found: unknown): InvalidReferencesError {
  return new InvalidReferencesError(
    `the codec shadowzarr.hdf5_filters has ${shown(found)}; expected a list of filters, each with id and cd_values`,
  );
}
