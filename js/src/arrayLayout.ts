// What `zarr.json` says about an array's chunks: how they are cut, how their keys are spelled, and their size
// (Zarr v3 core, "Regular grids", "Chunk key encoding"; the codecs `transpose` and `bytes`). Pure.

import { elementType, type ElementType } from "./dataTypes.js";
import { isCount } from "./document.js";
import { InvalidReferencesError, UnsupportedError, shown } from "./errors.js";
import { isObject, type Json } from "./json.js";

/** A codec as `zarr.json` names it. */
export interface CodecEntry {
  readonly name: string;
  readonly configuration: { readonly [key: string]: Json };
}

/** How an array is cut into chunks and how these are encoded. */
export interface ArrayLayout {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];
  /** Names of coordinates are joined by it, after `c` in the default encoding. */
  readonly separator: string;
  readonly encoding: "default" | "v2";
  readonly type: ElementType;
  /** The array's axes in the order in which a chunk stores them. */
  readonly axes: readonly number[];
  /** The codec that makes bytes of elements. */
  readonly toBytes: CodecEntry;
  /** What the bytes go through, in the order in which they were encoded. */
  readonly bytesCodecs: readonly CodecEntry[];
  /** Array-to-array codecs other than `transpose`, in the order in which values were encoded. */
  readonly filters: readonly CodecEntry[];
}

/**
 * Read an array's metadata document.
 *
 * @param metadata - Its `zarr.json`, parsed.
 * @param name - What messages call the array.
 * @throws InvalidReferencesError when it is not the metadata of an array.
 * @throws UnsupportedError for grids, encodings and data types that are not read here; where it is the codecs, `toBytes` does.
 */
export function arrayLayout(metadata: { readonly [key: string]: Json }, name: string): ArrayLayout {
  const { shape, grid, codecs } = arrayParts(metadata, name);
  const encoding = keyEncoding(metadata["chunk_key_encoding"], name);
  if (grid["name"] !== "regular") {
    throw new UnsupportedError(`${name} has a ${shown(grid["name"])} chunk grid; only regular ones are read here`);
  }
  const chunkShape = (grid["configuration"] as { [key: string]: Json } | undefined)?.["chunk_shape"];
  if (!Array.isArray(chunkShape) || chunkShape.length !== shape.length || !chunkShape.every(isCount)) {
    throw wrong(name, "chunk_shape", chunkShape, `${shape.length} edges`);
  }
  if (chunkShape.some((edge, axis) => edge === 0 && shape[axis]! > 0)) {
    throw wrong(name, "chunk_shape", chunkShape, "edges of at least 1");
  }
  const type = elementType(metadata["data_type"], name);
  const position = codecs.findIndex((codec) => ARRAY_TO_BYTES.has(codec.name));
  if (position < 0) return undecodedLayout({ shape, chunkShape, ...encoding, type } as UndecodedParts, codecs, name);
  const before = codecs.slice(0, position);
  return {
    shape,
    chunkShape: chunkShape as number[],
    ...encoding,
    type,
    axes: storedAxes(before, shape.length, name),
    toBytes: codecs[position]!,
    bytesCodecs: codecs.slice(position + 1),
    filters: before.filter((codec) => codec.name !== "transpose"),
  };
}

type UndecodedParts = Pick<ArrayLayout, "shape" | "chunkShape" | "separator" | "encoding" | "type">;

/** Of an array whose chunks are not decoded here: where they are can be told, `toBytes` throws. */
function undecodedLayout(parts: UndecodedParts, codecs: readonly CodecEntry[], name: string): ArrayLayout {
  return {
    ...parts,
    axes: parts.shape.map((_, axis) => axis),
    get toBytes(): CodecEntry {
      throw new UnsupportedError(
        `${name} has the codecs ${codecs.map((codec) => codec.name).join(", ")}; of those that make bytes of an array ` +
          `only ${[...ARRAY_TO_BYTES].join(", ")} are decoded here`,
      );
    },
    bytesCodecs: codecs,
    filters: [],
  };
}

/**
 * What every array's metadata document has to have, whether its chunks are read here or not.
 *
 * @throws InvalidReferencesError when it has not.
 */
export function arrayParts(
  metadata: { readonly [key: string]: Json },
  name: string,
): { shape: number[]; grid: { [key: string]: Json }; codecs: CodecEntry[] } {
  const { shape, chunk_grid: grid } = metadata;
  if (!Array.isArray(shape) || !shape.every(isCount)) throw wrong(name, "shape", shape, "a list of extents");
  if (!isObject(grid)) throw wrong(name, "chunk_grid", grid, "an object with a name");
  return { shape: shape as number[], grid, codecs: codecEntries(metadata["codecs"], name) };
}

const ARRAY_TO_BYTES = new Set(["bytes", "vlen-utf8", "vlen-bytes", "numcodecs.vlen-utf8", "numcodecs.vlen-bytes"]);

/** Number of elements. */
export function product(extents: readonly number[]): number {
  return extents.reduce((a, b) => a * b, 1);
}

/** Bytes of every decoded chunk; undefined when they differ. */
export function chunkNbytes(layout: ArrayLayout): number | undefined {
  return layout.type.nbytes === undefined ? undefined : product(layout.chunkShape) * layout.type.nbytes;
}

/** Whether chunks are stored as they are, so that parts beyond the array may be missing. */
export function isUncompressed(layout: ArrayLayout): boolean {
  return layout.bytesCodecs.length === 0 && layout.filters.length === 0 && layout.type.nbytes !== undefined;
}

/** Bytes of an uncompressed chunk up to the last one that lies within the array. */
export function neededNbytes(layout: ArrayLayout, coordinates: readonly number[]): number {
  let last = 0;
  let stride = 1;
  const itemsize = layout.type.nbytes ?? 0;
  for (const axis of [...layout.axes].reverse()) {
    const edge = layout.chunkShape[axis]!;
    const within = Math.min(edge, layout.shape[axis]! - coordinates[axis]! * edge);
    if (within < 1) return product(layout.chunkShape) * itemsize; // outside of the array, where nobody has business
    last += (within - 1) * stride;
    stride *= edge;
  }
  return (last + 1) * itemsize;
}

/** Number of chunks along each axis. */
export function chunkGrid(layout: Pick<ArrayLayout, "shape" | "chunkShape">): number[] {
  return layout.shape.map((extent, axis) => (extent ? Math.ceil(extent / layout.chunkShape[axis]!) : 0));
}

/** Chunk coordinates of the part of a key after the array's path; undefined for another key. */
export function coordinatesOf(layout: ArrayLayout, tail: string): number[] | undefined {
  if (layout.shape.length === 0) return tail === tailOf(layout, []) ? [] : undefined;
  const parts = tail.split(layout.separator);
  if (layout.encoding === "default" && parts.shift() !== "c") return undefined;
  const isRight = parts.length === layout.shape.length && parts.every((part) => /^(0|[1-9]\d*)$/.test(part));
  return isRight ? parts.map(Number) : undefined;
}

/** The part of a chunk's key after the array's path. */
export function tailOf(layout: ArrayLayout, coordinates: readonly number[]): string {
  if (layout.encoding === "default") return ["c", ...coordinates].join(layout.separator);
  return coordinates.join(layout.separator) || "0";
}

function keyEncoding(entry: Json | undefined, name: string): { encoding: "default" | "v2"; separator: string } {
  const encoding = isObject(entry) ? entry["name"] : entry;
  const configuration = isObject(entry) && isObject(entry["configuration"]) ? entry["configuration"] : {};
  if (encoding !== "default" && encoding !== "v2") {
    throw new UnsupportedError(`${name} has the chunk key encoding ${shown(entry)}; expected default or v2`);
  }
  const separator = configuration["separator"] ?? (encoding === "default" ? "/" : ".");
  if (separator !== "/" && separator !== ".") throw wrong(name, "chunk key separator", separator, "/ or .");
  return { encoding, separator };
}

function codecEntries(codecs: Json | undefined, name: string): CodecEntry[] {
  if (!Array.isArray(codecs) || codecs.length === 0) throw wrong(name, "codecs", codecs, "a list of codecs");
  return codecs.map((codec) => {
    const entry = typeof codec === "string" ? { name: codec } : codec;
    if (!isObject(entry) || typeof entry["name"] !== "string")
      throw wrong(name, "codec", codec, "an object with a name");
    const configuration = entry["configuration"];
    return { name: entry["name"], configuration: isObject(configuration) ? configuration : {} };
  });
}

function storedAxes(codecs: readonly CodecEntry[], ndim: number, name: string): number[] {
  let axes = Array.from({ length: ndim }, (_, axis) => axis);
  for (const codec of codecs) {
    if (codec.name !== "transpose") continue;
    const order = codec.configuration["order"];
    if (order === "C") continue; // early drafts of Zarr v3 wrote these
    const numbers = order === "F" ? axes.map((_, axis) => ndim - 1 - axis) : order;
    const isOrder =
      Array.isArray(numbers) && numbers.length === ndim && axes.every((_, axis) => numbers.includes(axis));
    if (!isOrder) throw wrong(name, "transposition", order, `an order of ${ndim} axes`);
    axes = (numbers as number[]).map((axis) => axes[axis]!);
  }
  return axes;
}

function wrong(name: string, what: string, found: unknown, expected: string): InvalidReferencesError {
  const text = found === undefined ? `no ${what}` : `${what} ${shown(found)}`;
  return new InvalidReferencesError(`${name} has ${text} in its zarr.json; expected ${expected}`);
}
