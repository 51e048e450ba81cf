// Chunk indexes: where the chunks of a large array are, as an array of (offset, nbytes) beside the document
// (docs/format.md, "indexes"). Its index chunks are read when a chunk they cover is asked for, once however many
// ask, and recent ones are kept.

import { arrayLayout, chunkGrid, chunkNbytes, product, tailOf, type ArrayLayout } from "./arrayLayout.js";
import { decodeBytes } from "./codecs/index.js";
import type { IndexEntry } from "./document.js";
import { DamagedSourceError, InvalidReferencesError, UnsupportedError, named, shown } from "./errors.js";
import type { FileRange } from "./answers.js";
import type { FileReader } from "./fileReader.js";
import { isObject, parseJson, type Json } from "./json.js";
import { arrayName } from "./nodes.js";
import { expandPlain, inside, resolvePlace } from "./places.js";
import { SharedReads } from "./sharedReads.js";

const KEPT_BYTES = 64 * 2 ** 20;
const MISSING = 2n ** 64n - 1n;

/** Where a chunk is in a file. */
export interface ChunkLocation {
  readonly url: string;
  /** Undefined for the whole file. */
  readonly range: FileRange | undefined;
}

/** Looks up chunks in the chunk indexes of a document. */
export class IndexReader {
  readonly #metadata = new SharedReads<ArrayLayout>(KEPT_BYTES);
  readonly #chunks = new SharedReads<BigUint64Array>(KEPT_BYTES);

  /**
   * @param indexes - The document's.
   * @param folder - Where the document is.
   */
  constructor(
    private readonly indexes: Readonly<Record<string, IndexEntry>>,
    private readonly templates: Readonly<Record<string, string>>,
    private readonly folder: URL | undefined,
    private readonly reader: FileReader,
  ) {}

  /** Whether an array has a chunk index. */
  has(path: string): boolean {
    return Object.hasOwn(this.indexes, path);
  }

  /**
   * Where a chunk is.
   *
   * @param layout - Of the array.
   * @returns undefined when the chunk was never written, or lies outside of the chunk grid.
   */
  async location(
    path: string,
    coordinates: readonly number[],
    layout: ArrayLayout,
    signal?: AbortSignal,
  ): Promise<ChunkLocation | undefined> {
    const grid = chunkGrid(layout);
    if (!coordinates.every((coordinate, axis) => coordinate < grid[axis]!)) return undefined;
    const entry = this.indexes[path]!;
    const index = await this.#open(path, grid, signal);
    const edges = index.chunkShape.slice(0, -1);
    const number = coordinates.map((coordinate, axis) => Math.floor(coordinate / edges[axis]!));
    const entries = await this.#chunk(path, index, number, signal);
    const place = coordinates.reduce((sum, coordinate, axis) => sum * edges[axis]! + (coordinate % edges[axis]!), 0);
    const [offset, nbytes] = [entries[2 * place]!, entries[2 * place + 1]!];
    if (offset === MISSING && nbytes === MISSING) return undefined;
    if (offset + nbytes > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new DamagedSourceError(`the chunk index of ${arrayName(path)} has offset ${offset}, size ${nbytes}`);
    }
    const url = resolvePlace(expandPlain(entry.url, this.templates), this.folder);
    return { url, range: { offset: Number(offset), length: Number(nbytes) } };
  }

  async #open(path: string, grid: readonly number[], signal: AbortSignal | undefined): Promise<ArrayLayout> {
    return await this.#metadata.get(
      path,
      async (shared) => {
        const { metadata } = this.indexes[path]!;
        const found = metadata ?? (await this.#readMetadata(path, shared)); // older documents do not hold it
        return [indexLayout(found, path, grid), 1024];
      },
      signal,
    );
  }

  async #readMetadata(path: string, signal: AbortSignal): Promise<{ [key: string]: Json }> {
    const data = await this.#file(path, "zarr.json", signal);
    try {
      const metadata = parseJson(new TextDecoder().decode(data), false);
      if (isObject(metadata)) return metadata;
    } catch (error) {
      throw damaged(path, (error as Error).message);
    }
    throw damaged(path, "its zarr.json is no object");
  }

  async #chunk(
    path: string,
    index: ArrayLayout,
    number: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<BigUint64Array> {
    return await this.#chunks.get(
      `${number.join(",")} ${path}`,
      async (shared) => {
        const data = await this.#file(path, tailOf(index, [...number, 0]), shared);
        const nbytes = chunkNbytes(index)!;
        let bytes: Uint8Array;
        try {
          bytes = await decodeBytes(data, index.bytesCodecs, nbytes, 8);
        } catch (error) {
          if (error instanceof UnsupportedError) throw error;
          throw damaged(path, (error as Error).message);
        }
        if (bytes.length !== nbytes) throw damaged(path, `an index chunk has ${bytes.length} bytes, not ${nbytes}`);
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        const entries = new BigUint64Array(product(index.chunkShape));
        for (let i = 0; i < entries.length; i++) entries[i] = view.getBigUint64(8 * i, true);
        return [entries, nbytes];
      },
      signal,
    );
  }

  /** A file of the index array; it is never taken for missing, which would show fill values. */
  async #file(path: string, name: string, signal: AbortSignal): Promise<Uint8Array> {
    try {
      const folder = new URL(resolvePlace(this.indexes[path]!.index, this.folder));
      return await this.reader.read(inside(folder, name).href, undefined, { signal });
    } catch (error) {
      throw named(error, `the chunk index of ${arrayName(path)} cannot be read`);
    }
  }
}

function indexLayout(metadata: { [key: string]: Json }, path: string, grid: readonly number[]): ArrayLayout {
  const name = `the chunk index of ${arrayName(path)}`;
  const layout = arrayLayout(metadata, name);
  const { shape, chunkShape, toBytes } = layout;
  if (metadata["data_type"] !== "uint64" || shape.at(-1) !== 2 || chunkShape.at(-1) !== 2) {
    throw new InvalidReferencesError(
      `${name} is ${shown(metadata["data_type"])} of shape ${shown(shape)} in chunks of ${shown(chunkShape)}; ` +
        "a chunk index is uint64 and its last axis is 2",
    );
  }
  const isTurned = layout.axes.some((axis, place) => axis !== place) || layout.filters.length > 0;
  if (isTurned || toBytes.configuration["endian"] === "big") {
    throw new UnsupportedError(`${name} is not stored as little-endian numbers in C order`);
  }
  if (shape.length - 1 !== grid.length || grid.some((extent, axis) => extent !== shape[axis])) {
    throw new InvalidReferencesError(
      `${name} is for a chunk grid of ${shown(shape.slice(0, -1))}, but the array has ${shown(grid)}; ` +
        "generate the references again",
    );
  }
  return layout;
}

function damaged(path: string, reason: string): DamagedSourceError {
  return new DamagedSourceError(
    `the chunk index of ${arrayName(path)} is damaged: ${reason}; write the references again`,
  );
}
