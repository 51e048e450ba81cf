// Opening nodes and reading arrays through zarrita, with what it leaves undone: names that URLs change, and
// arrays without elements.

import { get, open, root, type Array as ZarrArray, type DataType, type Group, type Slice } from "zarrita";

import { ShadowzarrError } from "./errors.js";
import type { ReferenceStore } from "./referenceStore.js";

/** Values of an array or of a part of it, as zarrita gives them; `stride` tells how they lie in `data`. */
export interface Values {
  data: ArrayLike<unknown>;
  shape: number[];
  stride: number[];
}

export interface ReadOptions {
  signal?: AbortSignal;
}

/** Open a node by its path in the references, whatever its name. */
export async function openNode(
  store: ReferenceStore,
  path = "",
  options: ReadOptions = {},
): Promise<ZarrArray<DataType, ReferenceStore> | Group<ReferenceStore>> {
  return await open.v3(rootAt(store, path), options);
}

/** Open an array by its path in the references. */
export async function openArray(
  store: ReferenceStore,
  path = "",
  options: ReadOptions = {},
): Promise<ZarrArray<DataType, ReferenceStore>> {
  return await open.v3(rootAt(store, path), { ...options, kind: "array" });
}

/** Open a group by its path in the references. */
export async function openGroup(
  store: ReferenceStore,
  path = "",
  options: ReadOptions = {},
): Promise<Group<ReferenceStore>> {
  return await open.v3(rootAt(store, path), { ...options, kind: "group" });
}

/**
 * Read an array, or a part of it, in C order.
 *
 * @param selection - As for zarrita's `get`: for each axis a number, a slice, or null for all of it.
 * @returns Values with a shape without the axes that a number selects. A scalar has the shape `[]` and one value.
 */
export async function readArray(
  array: ZarrArray<DataType, ReferenceStore>,
  selection: (number | Slice | null)[] | null = null,
  options: ReadOptions = {},
): Promise<Values> {
  const shape = selectedShape(array.shape, selection);
  if (shape.includes(0)) return { data: emptyData(array), shape, stride: strides(shape) };
  const found: unknown = await get(array, selection, options).catch(unwrapped);
  if (shape.length === 0) return { data: oneValue(array, found), shape, stride: [] };
  return inCOrder(found as Values);
}

/** What went wrong, rather than what zarrita says of the codec in which it did. */
export function unwrapped(error: unknown): never {
  throw error instanceof Error && error.cause instanceof ShadowzarrError && !(error instanceof ShadowzarrError)
    ? error.cause
    : error;
}

function rootAt(store: ReferenceStore, path: string) {
  const location = root(store);
  const segments = store.zarritaPath(path).slice(1);
  return segments === "" ? location : location.resolve(segments.split("/").map(encodeURIComponent).join("/"));
}

function selectedShape(extents: readonly number[], selection: (number | Slice | null)[] | null): number[] {
  const shape: number[] = [];
  for (const [axis, extent] of extents.entries()) {
    const part = selection?.[axis] ?? null;
    if (typeof part === "number") continue;
    const [start, stop] = [edge(part?.start ?? 0, extent), edge(part?.stop ?? extent, extent)];
    shape.push(Math.max(0, Math.ceil((stop - start) / (part?.step ?? 1))));
  }
  return shape;
}

/** An end of a slice, clipped as slicing does; negative ones count from the end. */
function edge(value: number, extent: number): number {
  return Math.min(extent, Math.max(0, value < 0 ? value + extent : value));
}

function strides(shape: readonly number[]): number[] {
  return shape.map((_, axis) => shape.slice(axis + 1).reduce((a, b) => a * b, 1));
}

const TYPED: Record<string, new (length: number) => ArrayLike<unknown>> = {
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  float32: Float32Array,
  float64: Float64Array,
};

function emptyData(array: ZarrArray<DataType, ReferenceStore>): ArrayLike<unknown> {
  const Kind = TYPED[array.dtype];
  return Kind === undefined ? [] : new Kind(0);
}

function oneValue(array: ZarrArray<DataType, ReferenceStore>, value: unknown): ArrayLike<unknown> {
  const Kind = TYPED[array.dtype] as unknown as { of(value: unknown): ArrayLike<unknown> } | undefined;
  return Kind === undefined ? [value] : Kind.of(value);
}

function inCOrder(values: Values): Values {
  const { shape, stride } = values;
  const wanted = strides(shape);
  if (wanted.every((step, axis) => step === stride[axis] || shape[axis] === 1)) return values;
  const data = values.data as unknown as { length: number; get?: (i: number) => unknown; [i: number]: unknown };
  const at = (i: number) => (typeof data.get === "function" ? data.get(i) : data[i]);
  const count = shape.reduce((a, b) => a * b, 1);
  const isPlain = Array.isArray(data) || typeof data.get === "function";
  const Kind = data.constructor as new (length: number) => { [i: number]: unknown };
  const turned: { [i: number]: unknown } = isPlain ? new Array(count) : new Kind(count);
  const numbers = shape.map(() => 0);
  let from = 0;
  for (let i = 0; i < count; i++) {
    turned[i] = at(from);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      from += stride[axis]!;
      if (++numbers[axis]! < shape[axis]!) break;
      from -= stride[axis]! * shape[axis]!;
      numbers[axis] = 0;
    }
  }
  return { data: turned as unknown as ArrayLike<unknown>, shape, stride: wanted };
}
