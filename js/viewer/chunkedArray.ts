// Arrays read chunk by chunk, recent chunks kept, so that moving a window asks only for what is new.

import type { Array as ZarrArray, DataType } from "zarrita";

import { openArray, type ReferenceStore } from "../src/index.js";
import { unwrapped } from "../src/reading.js";
import { SharedReads } from "../src/sharedReads.js";
import { elementType } from "../src/dataTypes.js";
import { chunksOf, copyOverlap, sizeOf, type Box, type Chunk } from "./boxes.js";

const KEPT_BYTES = 128 * 2 ** 20;
const TEXT_BYTES = 64; // what an item of variable length is taken for

/** The arrays of one store as a view reads them. */
export class ArrayReader {
  readonly #chunks = new SharedReads<Chunk>(KEPT_BYTES);
  readonly #opened = new Map<string, Promise<ChunkedArray>>();

  constructor(readonly store: ReferenceStore) {}

  /** Open an array by its path in the references; without a request. */
  open(path: string): Promise<ChunkedArray> {
    let opened = this.#opened.get(path);
    if (opened === undefined) {
      opened = openArray(this.store, path).then((array) => {
        const { nbytes } = elementType(this.store.metadata(path)["data_type"], path);
        return new ChunkedArray(path, array, nbytes ?? TEXT_BYTES, this.#chunks);
      });
      this.#opened.set(path, opened);
    }
    return opened;
  }
}

/** One array. */
export class ChunkedArray {
  readonly shape: readonly number[];
  readonly chunkShape: readonly number[];

  constructor(
    readonly path: string,
    private readonly array: ZarrArray<DataType, ReferenceStore>,
    private readonly itemsize: number,
    private readonly chunks: SharedReads<Chunk>,
  ) {
    this.shape = array.shape;
    this.chunkShape = array.chunks;
  }

  /** Bytes of a chunk once it is decoded. */
  get chunkNbytes(): number {
    return this.chunkShape.reduce((a, b) => a * b, this.itemsize);
  }

  /** A chunk by its place in the grid. */
  chunk(coordinates: readonly number[], signal?: AbortSignal): Promise<Chunk> {
    const read = async (signal: AbortSignal): Promise<[Chunk, number]> => {
      const found = await this.array.getChunk([...coordinates], { signal }).catch(unwrapped);
      return [{ ...found, data: indexed(found.data as ArrayLike<unknown>) }, this.chunkNbytes];
    };
    return this.chunks.get(`${this.path}\n${coordinates.join(",")}`, read, signal);
  }

  /** Elements of a box in C order; they are of the chunks' own type. */
  async box(box: Box, signal?: AbortSignal): Promise<ArrayLike<unknown>> {
    const size = sizeOf(box);
    if (size === 0) return [];
    // Chunks go on beyond the array, with values that nobody wrote.
    if (box.stop.length !== this.shape.length || box.stop.some((stop, axis) => !(stop <= this.shape[axis]!))) {
      throw new Error(`/${this.path} has the shape [${this.shape.join(", ")}], and no elements up to ${box.stop.join(", ")}`);
    }
    const places = chunksOf(box, this.chunkShape);
    const chunks = await Promise.all(places.map((place) => this.chunk(place, signal)));
    const target = emptyLike(chunks[0]!.data, size);
    for (const [i, chunk] of chunks.entries()) copyOverlap(chunk, places[i]!, box, target);
    return target;
  }

  /** Elements of an array with one axis. */
  range(start: number, stop: number, signal?: AbortSignal): Promise<ArrayLike<unknown>> {
    return this.box({ start: [start], stop: [stop] }, signal);
  }

  /** The same, as numbers. */
  async numbers(start: number, stop: number, signal?: AbortSignal): Promise<Float64Array> {
    return Float64Array.from(await this.range(start, stop, signal), Number);
  }
}

/** zarrita's arrays of booleans have no elements by index. */
function indexed(data: ArrayLike<unknown>): ArrayLike<unknown> {
  const { get } = data as unknown as { get?: (i: number) => unknown };
  return typeof get === "function" ? Array.from({ length: data.length }, (_, i) => get.call(data, i)) : data;
}

function emptyLike(data: ArrayLike<unknown>, size: number): unknown[] {
  if (!ArrayBuffer.isView(data)) return new Array<unknown>(size);
  const Kind = data.constructor as new (length: number) => ArrayLike<unknown>;
  return new Kind(size) as unknown[];
}
