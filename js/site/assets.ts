// The catalogue's data: an overview, and the rows of assets in parts that are loaded when they are needed.

import type { AssetPlace } from "./route.js";

export type State = "indexed" | "partial" | "stale" | "failed" | "skipped";
export const STATES: Record<State, string> = {
  indexed: "indexed",
  partial: "objects left out",
  stale: "stale",
  failed: "failed",
  skipped: "passed over",
};

/** One asset; what is not known is null. Columns are those of shadowzarr/catalog/site/site_rows.py. */
export interface Asset {
  dandiset: string;
  version: string;
  path: string;
  asset_id: string | null;
  etag: string | null;
  url: string | null;
  size: number;
  state: State;
  problem: string | null;
  references: string | null;
  references_bytes: number | null;
  arrays: number | null;
  chunks: number | null;
  left_out: number | null;
  verification: string | null;
  indexed_at: string | null;
  species: string | null;
  sex: string | null;
  age: string | null;
  genotype: string | null;
  subject_id: string | null;
  session_id: string | null;
  session_start_time: string | null;
  session_description: string | null;
  institution: string | null;
  lab: string | null;
  types: string[] | null;
  experimenters: string[] | null;
  keywords: string[] | null;
}

/** A version of a dandiset; or a folder or manifest, which has a name in place of six digits. */
export interface Dandiset {
  dandiset: string;
  version: string;
  assets: number;
  states: Partial<Record<State, number>>;
  passed_over: Record<string, number>;
  size: number;
  references_bytes: number;
  last_indexed: string | null;
  url: string | null;
}

export interface Overview {
  version: number;
  assets: number;
  parts: { file: string; rows: number }[];
  dandisets: Dandiset[];
  types: [string, number][];
  species: [string, number][];
  report: string | null;
}

type Column = unknown[] | { values: unknown[]; codes: (number | null | number[])[] };
const DATA_VERSION = 1;

/** The rows, as they come. */
export class Catalog {
  readonly assets: Asset[] = [];
  #loading: Promise<void> | undefined;
  #loaded = 0;

  private constructor(
    readonly overview: Overview,
    private readonly folder: string,
  ) {}

  /**
   * Load the overview.
   *
   * @param folder - Address of the data, relative to the page.
   */
  static async open(folder: string): Promise<Catalog> {
    const overview = await loadJson(`${folder}catalog.json`);
    if (isObject(overview) && overview["version"] !== DATA_VERSION) {
      throw new Error(`the catalogue's data are of version ${overview["version"]}, this page is for ${DATA_VERSION}`);
    }
    if (!isOverview(overview)) throw damaged(`${folder}catalog.json`, "what a catalogue has in all");
    return new Catalog(overview, folder);
  }

  get isWhole(): boolean {
    return this.#loaded === this.overview.parts.length;
  }

  /** Load the next part; resolves to whether all are there. */
  async more(): Promise<boolean> {
    if (this.isWhole) return true;
    this.#loading ??= this.#part().finally(() => (this.#loading = undefined));
    await this.#loading;
    return this.isWhole;
  }

  /** An asset by its place; undefined when there is none. */
  async find(place: AssetPlace): Promise<Asset | undefined> {
    const isIt = (asset: Asset) =>
      asset.path === place.path && asset.dandiset === place.dandiset && asset.version === place.version;
    let found = this.assets.find(isIt);
    while (found === undefined && !this.isWhole) {
      const before = this.assets.length;
      await this.more();
      found = this.assets.slice(before).find(isIt);
    }
    return found;
  }

  async #part(): Promise<void> {
    const { file, rows } = this.overview.parts[this.#loaded]!;
    const columns = await loadJson(`${this.folder}${file}`);
    if (!hasRows(columns, rows)) throw damaged(`${this.folder}${file}`, `columns of ${rows} rows`);
    for (const asset of rowsOf(columns, rows)) this.assets.push(asset);
    this.#loaded++;
  }
}

/** Rows of columns, in which values that repeat may stand once. */
export function rowsOf(columns: Record<string, Column>, rows: number): Asset[] {
  const assets: Record<string, unknown>[] = Array.from({ length: rows }, () => ({}));
  for (const [name, column] of Object.entries(columns)) {
    const isPlain = Array.isArray(column);
    for (let i = 0; i < rows; i++) {
      if (isPlain) assets[i]![name] = column[i];
      else {
        const code = column.codes[i] ?? null;
        assets[i]![name] = Array.isArray(code)
          ? code.map((each) => column.values[each])
          : code === null
            ? null
            : column.values[code];
      }
    }
  }
  return assets as unknown as Asset[];
}

/** What went wrong with the catalogue, and what to do. */
export function reloadText(error: unknown): string {
  const told = error instanceof Error ? error.message : String(error);
  const isPassing = error instanceof Error && error.name === "TransientReadError";
  const why = isPassing ? "Reload the page in a while." : "It may have been written anew meanwhile: reload the page.";
  return `${told}${/[.!?]$/.test(told) ? "" : "."} ${why}`;
}

/** A file of the catalogue. */
async function loadJson(address: string): Promise<unknown> {
  const data = await load(address);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    throw damaged(address, "JSON");
  }
}

/** Bytes of a file; what goes wrong is tried again as files of references are, by what most readers need not load. */
async function load(address: string): Promise<BufferSource> {
  try {
    const response = await fetch(address);
    if (response.ok) return await response.arrayBuffer();
    await response.body?.cancel();
  } catch {
    // Whatever it was, it is told when it lasts.
  }
  const { FileReader } = await import("../src/fileReader.js");
  return (await new FileReader().read(new URL(address, document.baseURI).href, undefined)) as Uint8Array<ArrayBuffer>;
}

function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function damaged(address: string, expected: string): Error {
  return new Error(`${address} is damaged: expected ${expected}`);
}

function isOverview(value: unknown): value is Overview {
  if (!isObject(value)) return false;
  const { assets, parts, dandisets, types, species } = value;
  const isPart = (part: unknown) => isObject(part) && typeof part["file"] === "string" && isCount(part["rows"]);
  const isCounted = (pair: unknown) => Array.isArray(pair) && typeof pair[0] === "string" && isCount(pair[1]);
  return (
    isCount(assets) &&
    Array.isArray(parts) &&
    parts.every(isPart) &&
    Array.isArray(dandisets) &&
    dandisets.every(isDandiset) &&
    [types, species].every((counted) => Array.isArray(counted) && counted.every(isCounted))
  );
}

function isDandiset(value: unknown): boolean {
  return (
    isObject(value) &&
    [value["dandiset"], value["version"]].every((name) => typeof name === "string") &&
    [value["states"], value["passed_over"]].every(isObject) &&
    [value["assets"], value["size"], value["references_bytes"]].every(isCount)
  );
}

/** Whether these are columns of so many rows, with those that every row is shown by. */
function hasRows(columns: unknown, rows: number): columns is Record<string, Column> {
  if (!isObject(columns)) return false;
  const isColumn = (column: unknown) =>
    Array.isArray(column)
      ? column.length === rows
      : isObject(column) &&
        Array.isArray(column["values"]) &&
        Array.isArray(column["codes"]) &&
        column["codes"].length === rows;
  return ["dandiset", "version", "path", "state"].every((name) => isColumn(columns[name])) && Object.values(columns).every(isColumn);
}
