// Key → inline value, place in a file, or nothing. Explicit references win over gen entries, and these over chunk
// indexes. Data are never read, index chunks when one has to be asked.

import type { ChunkLocation, IndexReader } from "./chunkIndex.js";
import type { ReferenceDocument } from "./document.js";
import { coordinatesOf } from "./arrayLayout.js";
import { InvalidReferencesError, shown } from "./errors.js";
import { GenRule } from "./gen.js";
import { inlineBytes } from "./inline.js";
import { arrayName, type ChunkId, type Nodes } from "./nodes.js";
import { expandTemplates, resolvePlace } from "./places.js";

/** Where a chunk is: its bytes themselves, a place in a file, or undefined when the references do not list it. */
export type Found = Uint8Array | ChunkLocation | undefined;

/** Finds the chunks of a document. */
export class Locator {
  readonly #rules = new Map<string, GenRule[]>();
  readonly #templates: Readonly<Record<string, string>>;
  readonly #wellSpelled = new Set<string>();
  readonly #urls = new Map<string, string>();

  constructor(
    document: ReferenceDocument,
    private readonly nodes: Nodes,
    private readonly index: IndexReader,
    private readonly folder: URL | undefined,
  ) {
    this.#templates = document.templates ?? {};
    for (const [number, entry] of (document.gen ?? []).entries()) {
      let rule: GenRule;
      try {
        rule = new GenRule(entry);
      } catch (error) {
        throw new InvalidReferencesError(`gen[${number}]: ${(error as Error).message}`, { cause: error });
      }
      if (!nodes.has(rule.path)) {
        throw new InvalidReferencesError(`gen[${number}] is for ${arrayName(rule.path)}, which refs does not hold`);
      }
      const rules = this.#rules.get(rule.path);
      if (rules === undefined) this.#rules.set(rule.path, [rule]);
      else rules.push(rule);
    }
  }

  /** Find a chunk. */
  async find(chunk: ChunkId, signal?: AbortSignal): Promise<Found> {
    const key = this.nodes.key(chunk);
    const value = Object.hasOwn(this.nodes.refs, key) ? this.nodes.refs[key]! : undefined;
    if (typeof value === "string") return inlineBytes(value);
    if (Array.isArray(value)) {
      const [url, offset, length] = value;
      return {
        url: this.#url(url),
        range: offset === undefined || length === undefined ? undefined : { offset, length },
      };
    }
    if (value !== undefined)
      throw new InvalidReferencesError(`refs[${shown(key)}] is ${shown(value)}; expected a chunk`);
    return await this.#computed(chunk, signal);
  }

  async #computed({ path, coordinates }: ChunkId, signal: AbortSignal | undefined): Promise<Found> {
    for (const rule of this.#rules.get(path) ?? []) {
      const place = rule.at(coordinates);
      if (place === undefined) continue;
      const [offset, length] = place;
      const range = offset === undefined || length === undefined ? undefined : { offset, length };
      return { url: this.#url(rule.url), range };
    }
    this.#checkSpelling(path);
    return this.index.has(path)
      ? await this.index.location(path, coordinates, this.nodes.layout(path), signal)
      : undefined;
  }

  #url(text: string): string {
    let url = this.#urls.get(text);
    if (url === undefined) {
      url = resolvePlace(expandTemplates(text, this.#templates), this.folder);
      this.#urls.set(text, url);
    }
    return url;
  }

  /**
   * Refuse keys and rules below an array that are not spelled as its chunks are: such a chunk is listed but would
   * never be found, and fill values would be shown for it.
   */
  #checkSpelling(path: string): void {
    if (this.#wellSpelled.has(path)) return;
    const layout = this.nodes.layout(path);
    const name = arrayName(path);
    for (const { ndim } of this.#rules.get(path) ?? []) {
      if (ndim !== layout.shape.length) {
        throw new InvalidReferencesError(`a gen entry is for ${ndim} axes; ${name} has ${layout.shape.length}`);
      }
    }
    const prefix = path === "" ? "" : `${path}/`;
    for (const key in this.nodes.refs) {
      if (!key.startsWith(prefix) || this.nodes.isOfV2(key) || this.nodes.metadataPath(key) !== undefined) continue;
      if (coordinatesOf(layout, key.slice(prefix.length)) !== undefined) continue;
      const usual = this.nodes.key({ path, coordinates: layout.shape.map(() => 0) });
      throw new InvalidReferencesError(
        `refs[${shown(key)}] is no chunk of ${name}, whose keys look like ${shown(usual)}`,
      );
    }
    this.#wellSpelled.add(path);
  }
}
