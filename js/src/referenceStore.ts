// The store: zarrita's read-only store over a reference file system. Key in, decoded chunk out.

import { registry, type AbsolutePath, type AsyncReadable, type GetOptions, type RangeQuery } from "zarrita";

import { chunkGrid, chunkNbytes, product, type ArrayLayout } from "./arrayLayout.js";
import { decodeAttributes, type AttributeValue } from "./attributes.js";
import { padInline, ChunkFetcher } from "./chunkFetcher.js";
import { IndexReader } from "./chunkIndex.js";
import { decodeChunk, filledChunk } from "./decodeChunk.js";
import { checkDocument, type ReferenceDocument } from "./document.js";
import { InvalidReferencesError, SourceNotFoundError, UnsupportedError, named, shown } from "./errors.js";
import { FileReader, type ReaderOptions } from "./fileReader.js";
import type { Json } from "./json.js";
import { parseJson } from "./json.js";
import { Locator, type Found } from "./locate.js";
import { DEFAULT_MERGING, RangeMerger, type MergeOptions } from "./merging.js";
import { arrayName, Nodes, type ChunkId, type Metadata } from "./nodes.js";
import { documentUrl, folderOf, withoutQuery } from "./places.js";
import { isFilledByZarrita, servedMetadata } from "./servedMetadata.js";
import { VALUES_CODEC, valuesCodec } from "./values.js";

/** Options of a store. */
export interface StoreOptions extends ReaderOptions, Partial<MergeOptions> {
  /** Whether files must be those that were indexed, by size and ETag (`SourceChangedError`). True by default. */
  validateSources?: boolean;
  /** Ends reading the document. */
  signal?: AbortSignal;
}

/** Where the stored bytes of a chunk are. */
export interface ChunkPlace {
  /** The file, without a query that may sign it; undefined when the document holds the bytes itself. */
  url?: string;
  /** Where in the file they begin; undefined for a whole file. */
  offset?: number;
  /** How many there are, as they are stored; undefined for a whole file. */
  nbytes?: number;
}

/** Where a document is that is not read from a URL. */
export interface DocumentOptions extends StoreOptions {
  /** URL of the document, or of its folder with a slash at its end; what the document names relatively is there. */
  url?: string | URL;
}

/**
 * A read-only store for zarrita over references.
 *
 * Only a chunk that the references do not list is absent, so that zarrita shows the fill value; whatever cannot be
 * read is an error.
 */
export class ReferenceStore implements AsyncReadable {
  /** The document; do not change it. */
  readonly document: ReferenceDocument;
  readonly #nodes: Nodes;
  readonly #locator: Locator;
  readonly #fetcher: ChunkFetcher;

  private constructor(document: ReferenceDocument, folder: URL | undefined, reader: FileReader, options: StoreOptions) {
    const { mergeGap, maxMergeSize, mergeBelow } = { ...DEFAULT_MERGING, ...withoutUndefined(options) };
    const merger = new RangeMerger(reader, { mergeGap, maxMergeSize, mergeBelow });
    this.document = document;
    this.#nodes = new Nodes(document);
    const index = new IndexReader(document.indexes ?? {}, document.templates ?? {}, folder, reader);
    this.#locator = new Locator(document, this.#nodes, index, folder);
    this.#fetcher = new ChunkFetcher(document, folder, reader, merger, options.validateSources ?? true);
    registry.set(VALUES_CODEC, async () => valuesCodec as never);
  }

  /**
   * Open references.
   *
   * @param url - An http(s) URL of a `.json` document, or of a directory that holds `refs.json`.
   * @throws InvalidReferencesError when it is no reference file system, or one that this version does not know.
   * @throws ReadError when it cannot be read.
   */
  static async fromUrl(url: string | URL, options: StoreOptions = {}): Promise<ReferenceStore> {
    const place = documentUrl(url);
    const isDocument = place.pathname === documentUrl(url, true).pathname;
    const reader = new FileReader(options);
    let data: Uint8Array;
    try {
      data = await reader.read(place.href, undefined, { signal: options.signal, look: refuseBinary });
    } catch (error) {
      if (error instanceof SourceNotFoundError) {
        throw new SourceNotFoundError(
          `no references at ${withoutQuery(place.href)}; expected a .json file, or a directory that holds refs.json`,
          { status: error.status, cause: error },
        );
      }
      throw named(error, withoutQuery(place.href));
    }
    const document = parseDocument(data, withoutQuery(place.href));
    // A directory that was named keeps its URL's query: who gave it gave it for all that is in there.
    const folder = isDocument ? folderOf(place) : documentUrl(url, true);
    return new ReferenceStore(document, folder, reader, options);
  }

  /**
   * Open references that are in memory.
   *
   * @param document - Parsed JSON; it is checked and not copied.
   */
  static fromDocument(document: unknown, options: DocumentOptions = {}): ReferenceStore {
    const plain = withoutNull(document);
    checkDocument(plain, "the document");
    const folder = options.url === undefined ? undefined : folderOf(documentUrl(options.url, true));
    return new ReferenceStore(plain, folder, new FileReader(options), options);
  }

  /**
   * The value of a key: metadata for zarrita, or a decoded chunk.
   *
   * @returns undefined when the references do not list the key.
   */
  async get(key: AbsolutePath, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const { signal } = options;
    signal?.throwIfAborted();
    const own = this.#nodes.ownKey(key.slice(1));
    const path = this.#nodes.metadataPath(own);
    if (path !== undefined) return this.#nodes.has(path) ? servedMetadata(this.#nodes, path) : undefined;
    if (this.#nodes.isOfV2(own)) return undefined;
    const chunk = this.#nodes.chunkOf(own);
    if (chunk === undefined) {
      throw new InvalidReferencesError(
        `the references have no array with a chunk ${shown(key)}; open nodes by openNode, which knows names that ` +
          "zarrita's paths do not keep",
      );
    }
    return await this.#chunk(chunk, signal);
  }

  /** A part of a value; zarrita asks for parts of shards only, which references here do not have. */
  async getRange(key: AbsolutePath, range: RangeQuery, options: GetOptions = {}): Promise<Uint8Array | undefined> {
    const value = await this.get(key, options);
    if (value === undefined) return undefined;
    if ("suffixLength" in range) return value.subarray(Math.max(0, value.length - range.suffixLength));
    return value.subarray(range.offset, range.offset + range.length);
  }

  /** Names of the nodes directly below a group (`""` or `"/"` is the root), in the document's order. */
  children(path = ""): string[] {
    return this.#nodes.children(bare(path));
  }

  /** The metadata document of a node as the references have it; whole numbers beyond 2^53 are bigints. */
  metadata(path = ""): Metadata {
    return this.#nodes.metadata(bare(path));
  }

  /**
   * Attributes of a node, decoded (`decodeAttributes`); whole numbers beyond 2^53 are bigints.
   *
   * @throws InvalidReferencesError when they do not decode, or there is no such node.
   */
  attributes(path = ""): Record<string, AttributeValue> {
    const stored = (this.metadata(path)["attributes"] ?? {}) as { [key: string]: Json };
    try {
      return decodeAttributes(stored);
    } catch (error) {
      const what = `attributes of ${shown(`/${bare(path)}`)} cannot be decoded: ${(error as Error).message}`;
      throw new InvalidReferencesError(what, { cause: error });
    }
  }

  /**
   * Where the bytes of a chunk are; nothing of them is read, though an index of chunks may be.
   *
   * @param coordinates - Of the chunk in the array's chunk grid; none for a scalar.
   * @returns undefined when the chunk was never written, so that it shows the fill value.
   * @throws RangeError when the chunk grid has no such chunk.
   */
  async locate(
    path: string,
    coordinates: readonly number[],
    options: { signal?: AbortSignal } = {},
  ): Promise<ChunkPlace | undefined> {
    const own = bare(path);
    const grid = this.chunkGrid(own);
    const isThere = coordinates.every((each, axis) => Number.isInteger(each) && each >= 0 && each < grid[axis]!);
    if (coordinates.length !== grid.length || !isThere) {
      throw new RangeError(`${arrayName(own)} has no chunk (${coordinates.join(", ")}); its grid is ${shown(grid)}`);
    }
    const found = await this.#locator.find({ path: own, coordinates }, options.signal);
    if (found === undefined) return undefined;
    if (found instanceof Uint8Array) return { nbytes: found.length };
    const url = withoutQuery(found.url);
    return found.range === undefined ? { url } : { url, offset: found.range.offset, nbytes: found.range.length };
  }

  /** How many chunks an array has along each axis. */
  chunkGrid(path = ""): number[] {
    return [...chunkGrid(this.#nodes.layout(bare(path)))];
  }

  /** How many bytes every chunk of an array has when it is decoded; undefined when they differ. */
  chunkNbytes(path = ""): number | undefined {
    return chunkNbytes(this.#nodes.layout(bare(path)));
  }

  /** The path by which zarrita finds a node; another one than its own when that has characters that URLs change. */
  zarritaPath(path = ""): AbsolutePath {
    return `/${this.#nodes.alias(bare(path))}`;
  }

  async #chunk(chunk: ChunkId, signal: AbortSignal | undefined): Promise<Uint8Array | undefined> {
    const { path, coordinates } = chunk;
    let found: Found;
    try {
      const layout = this.#nodes.layout(path);
      refuseLarge(layout);
      found = await this.#locator.find(chunk, signal);
      if (found === undefined) return this.#neverWritten(path);
      const isInline = found instanceof Uint8Array;
      const stored = isInline
        ? padInline(found as Uint8Array, layout, coordinates)
        : await this.#fetcher.fetch(chunk, found as Exclude<Found, Uint8Array | undefined>, layout, signal);
      return await decodeChunk(stored, layout);
    } catch (error) {
      signal?.throwIfAborted();
      throw named(error, `chunk (${coordinates.join(", ")}) of ${arrayName(path)}`);
    }
  }

  #neverWritten(path: string): Uint8Array | undefined {
    const layout = this.#nodes.layout(path);
    const metadata = this.#nodes.metadata(path);
    if (isFilledByZarrita(layout, metadata)) return undefined;
    const isByCodec = layout.type.read !== undefined || layout.type.fromBytes !== undefined;
    return isByCodec ? new Uint8Array() : filledChunk(layout, metadata["fill_value"]!);
  }
}

/** Refuse an array whose chunks no page can hold, also those that were never written: zarrita makes them whole. */
function refuseLarge(layout: ArrayLayout): void {
  const nbytes = chunkNbytes(layout) ?? product(layout.chunkShape);
  if (nbytes > LARGEST_CHUNK) {
    throw new UnsupportedError(`it takes ${nbytes} bytes when it is decoded; up to ${LARGEST_CHUNK} are read here`);
  }
}

const LARGEST_CHUNK = 2 ** 31;

function parseDocument(data: Uint8Array, name: string): ReferenceDocument {
  let document: unknown;
  try {
    const text = textOf(data);
    document = withoutNull(parseJson(text, false));
    const refs = (document as ReferenceDocument | null)?.refs;
    const holdsObjects = Object.values(refs ?? {}).some((value) => typeof value === "object" && !Array.isArray(value));
    if (holdsObjects) document = withoutNull(parseJson(text)); // kerchunk's metadata may have large numbers
  } catch (error) {
    throw new InvalidReferencesError(`${name} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  checkDocument(document, name);
  return document;
}

function textOf(data: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch (error) {
    throw new SyntaxError("it is not UTF-8", { cause: error });
  }
}

/** A document in which null parts are left out. */
function withoutNull(document: unknown): unknown {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return document;
  return Object.fromEntries(Object.entries(document).filter(([, value]) => value !== null));
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

/** Stop at a file that references are made for, before it is read whole. */
function refuseBinary(start: Uint8Array): void {
  const head = String.fromCharCode(...start.subarray(0, 4));
  const kind = head === "\x89HDF" ? "an HDF5 file" : /^(II[*+]\0|MM\0[*+])/.test(head) ? "a TIFF file" : undefined;
  const found = kind ?? (start.subarray(0, 64).includes(0) ? "a binary file" : undefined);
  if (found !== undefined) {
    throw new InvalidReferencesError(
      `it is ${found}, not references to one; make references first: shadowzarr generate`,
    );
  }
}

function bare(path: string): string {
  return path.replace(/^\/+|\/+$/g, "");
}
