// The nodes of a document: their metadata, their layout, the tree they make, and the paths under which zarrita
// finds them. Reads nothing.

import { arrayLayout, arrayParts, coordinatesOf, tailOf, type ArrayLayout } from "./arrayLayout.js";
import type { Reference, ReferenceDocument } from "./document.js";
import { InvalidReferencesError, shown } from "./errors.js";
import { inlineText } from "./inline.js";
import { isObject, isTooDeep, parseJson, type Json } from "./json.js";

/** A metadata document. */
export type Metadata = { readonly [key: string]: Json };

/** One chunk of one array; its path has no leading slash. */
export interface ChunkId {
  readonly path: string;
  readonly coordinates: readonly number[];
}

const METADATA_NAME = "zarr.json";
/** Metadata keys of Zarr v2, which readers ask for beside `zarr.json`. */
const V2_NAMES = new Set([".zarray", ".zattrs", ".zgroup", ".zmetadata"]);
/** What zarrita's paths, which go through URLs, do not keep. */
const LOST_IN_URLS = /[%#?\\|:"<>^`{}\t\n\r\0-\x1f\x7f\ud800-\udfff]/u;

/** The arrays and groups of a document. */
export class Nodes {
  readonly refs: Readonly<Record<string, Reference>>;
  readonly #metadata = new Map<string, Metadata>();
  readonly #layouts = new Map<string, ArrayLayout>();
  #aliases: Map<string, string> | undefined;
  #children: Map<string, string[]> | undefined;

  constructor(document: ReferenceDocument) {
    this.refs = document.refs;
  }

  /** Whether a path is that of a node. */
  has(path: string): boolean {
    return Object.hasOwn(this.refs, metadataKey(path));
  }

  /** Names of the nodes directly below a group, in the document's order. */
  children(path: string): string[] {
    this.#children ??= this.#tree();
    return [...(this.#children.get(path) ?? [])];
  }

  /**
   * The metadata document of a node; whole numbers beyond 2^53 are bigints.
   *
   * @throws InvalidReferencesError when there is none, or it is no group's and no array's.
   */
  metadata(path: string): Metadata {
    let metadata = this.#metadata.get(path);
    if (metadata === undefined) {
      metadata = this.#parse(path);
      this.#metadata.set(path, metadata);
    }
    return metadata;
  }

  /** How an array's chunks are cut and named. */
  layout(path: string): ArrayLayout {
    let layout = this.#layouts.get(path);
    if (layout === undefined) {
      const metadata = this.metadata(path);
      if (metadata["node_type"] !== "array") {
        throw new InvalidReferencesError(`${shown(`/${path}`)} is a group; it is treated as an array`);
      }
      layout = arrayLayout(metadata, arrayName(path));
      this.#layouts.set(path, layout);
    }
    return layout;
  }

  /** The path of the node that a metadata key names; undefined for another key. */
  metadataPath(key: string): string | undefined {
    return key === METADATA_NAME || key.endsWith(`/${METADATA_NAME}`)
      ? key.slice(0, -METADATA_NAME.length - 1)
      : undefined;
  }

  /** Whether a key is one of Zarr v2's metadata, which no document here has. */
  isOfV2(key: string): boolean {
    return V2_NAMES.has(key.slice(key.lastIndexOf("/") + 1));
  }

  /** The chunk that a key names, listed or not; undefined when no array of the document has such a chunk. */
  chunkOf(key: string): ChunkId | undefined {
    let end = key.length;
    do {
      end = key.lastIndexOf("/", end - 1);
      const path = end < 0 ? "" : key.slice(0, end);
      if (!this.has(path)) continue;
      if (this.metadata(path)["node_type"] !== "array") return undefined;
      const coordinates = coordinatesOf(this.layout(path), key.slice(end + 1));
      return coordinates && { path, coordinates };
    } while (end > 0);
    return undefined;
  }

  /** The key of a chunk. */
  key({ path, coordinates }: ChunkId): string {
    const tail = tailOf(this.layout(path), coordinates);
    return path === "" ? tail : `${path}/${tail}`;
  }

  /** The path under which zarrita finds a node, without leading slash. */
  alias(path: string): string {
    if (!LOST_IN_URLS.test(path)) return path;
    for (const [alias, own] of this.#namedAnew()) if (own === path) return alias;
    throw new InvalidReferencesError(`there is no node ${shown(`/${path}`)}`);
  }

  /** A key as the document spells it. */
  ownKey(key: string): string {
    const aliases = this.#namedAnew();
    if (aliases.size === 0) return key;
    for (let end = key.lastIndexOf("/"); end > 0; end = key.lastIndexOf("/", end - 1)) {
      const own = aliases.get(key.slice(0, end));
      if (own !== undefined) return own + key.slice(end);
    }
    return key;
  }

  #namedAnew(): Map<string, string> {
    if (this.#aliases !== undefined) return this.#aliases;
    this.#aliases = new Map();
    for (const key of Object.keys(this.refs)) {
      const path = this.metadataPath(key);
      if (path === undefined || !LOST_IN_URLS.test(path)) continue;
      let alias = path.replaceAll(new RegExp(LOST_IN_URLS, "gu"), (mark) => `~${mark.charCodeAt(0).toString(16)}`);
      while (this.has(alias) || this.#aliases.has(alias)) alias += "~";
      this.#aliases.set(alias, path);
    }
    return this.#aliases;
  }

  #parse(path: string): Metadata {
    const key = metadataKey(path);
    const value = Object.hasOwn(this.refs, key) ? this.refs[key] : undefined;
    if (value === undefined) throw new InvalidReferencesError(`there is no node ${shown(`/${path}`)}`);
    if (Array.isArray(value)) {
      throw new InvalidReferencesError(
        `refs[${shown(key)}] is a reference to a file; metadata is expected in the document`,
      );
    }
    let node: Json;
    try {
      node = typeof value === "string" ? parseJson(inlineText(value)) : value;
    } catch (error) {
      throw new InvalidReferencesError(`refs[${shown(key)}] is not JSON: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (isTooDeep(node)) throw new InvalidReferencesError(`refs[${shown(key)}] is nested too deeply to be read`);
    const kind = isObject(node) ? node["node_type"] : undefined;
    if (!isObject(node) || (kind !== "group" && kind !== "array") || node["zarr_format"] !== 3) {
      throw new InvalidReferencesError(`refs[${shown(key)}] is ${shown(node)}; expected metadata of a group or array`);
    }
    if (!isObject(node["attributes"] ?? {})) {
      throw new InvalidReferencesError(
        `refs[${shown(key)}] has attributes ${shown(node["attributes"])}; expected an object`,
      );
    }
    if (kind === "array") arrayParts(node, arrayName(path));
    return node;
  }

  #tree(): Map<string, string[]> {
    const children = new Map<string, string[]>();
    for (const key of Object.keys(this.refs)) {
      const path = this.metadataPath(key);
      if (!path) continue;
      const parent = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
      const names = children.get(parent);
      const name = path.slice(parent === "" ? 0 : parent.length + 1);
      if (names === undefined) children.set(parent, [name]);
      else names.push(name);
    }
    return children;
  }
}

/** Key of a node's metadata document. */
export function metadataKey(path: string): string {
  return path === "" ? METADATA_NAME : `${path}/${METADATA_NAME}`;
}

/** What messages call an array. */
export function arrayName(path: string): string {
  return `array ${shown(`/${path}`)}`;
}
