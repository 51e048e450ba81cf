// The document: its parts as types, and checks that name the place (docs/format.md). Pure.

import { InvalidReferencesError, shown } from "./errors.js";
import { isObject, type Json } from "./json.js";

/** Newest version of the format that is read here. */
export const FORMAT_VERSION = 1;

/** What a document may ask of its reader in `requires`. */
export const KNOWN_REQUIREMENTS: readonly string[] = ["indexes", "gen", "selections"];

/** An inline value, or `[url]`, or `[url, offset, size]`; metadata may be an object. */
export type Reference = string | [string] | [string, number, number] | { [key: string]: Json };

export interface Dimension {
  stop: number;
  start?: number;
  step?: number;
}

export interface GenEntry {
  key: string;
  url: string;
  offset?: string | number;
  length?: string | number;
  dimensions: Record<string, Dimension>;
}

export interface IndexEntry {
  url: string;
  index: string;
  metadata?: { [key: string]: Json };
}

export interface SelectionEntry {
  record_size: number;
  keep: [number, number][];
}

export interface SourceEntry {
  size: number;
  etag?: string;
  linked?: boolean;
}

/** A reference file system, of version 1 or 2. */
export interface ReferenceDocument {
  version: 1 | 2;
  refs: Record<string, Reference>;
  format?: number;
  requires?: string[];
  templates?: Record<string, string>;
  gen?: GenEntry[];
  indexes?: Record<string, IndexEntry>;
  selections?: Record<string, SelectionEntry>;
  sources?: Record<string, SourceEntry>;
  inline_files?: string[];
  skipped?: { path: string; kind: string; reason: string }[];
  converted?: { path: string; what: string }[];
  hdf5?: { [key: string]: Json };
}

/** Whether a value is an offset, size or extent; those from 2^53 on cannot be counted with here. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * Refuse what is not a reference file system, or one of a newer format.
 *
 * @param document - Parsed JSON.
 * @param name - What messages call it.
 */
export function checkDocument(document: unknown, name: string): asserts document is ReferenceDocument {
  if (!isObject(document)) throw wrong(name, `is ${shown(document)}`, "an object with version and refs");
  checkVersions(document, name);
  const refs = document["refs"];
  if (!isObject(refs)) throw wrong(`${name}: refs`, `is ${shown(refs)}`, "an object");
  for (const key in refs) if (!isReference(key, refs[key])) throw wrongReference(name, key, refs[key]);
  if (!Object.hasOwn(refs, "zarr.json") && (Object.hasOwn(refs, ".zgroup") || Object.hasOwn(refs, ".zarray"))) {
    throw wrong(name, "describes a Zarr v2 store", "Zarr v3 keys (zarr.json)");
  }
  for (const part of ["templates", "indexes", "selections", "sources", "hdf5"]) check(document, part, isObject, name);
  for (const part of ["gen", "inline_files", "skipped", "converted"]) check(document, part, Array.isArray, name);
  for (const [key, value] of entries(document["templates"])) {
    if (typeof value !== "string") throw wrong(`${name}: templates[${shown(key)}]`, `is ${shown(value)}`, "text");
  }
  checkEntries(document, refs, name);
}

function checkVersions(document: { [key: string]: Json }, name: string): void {
  const { version, format, requires } = document;
  if (version !== 1 && version !== 2) throw wrong(name, `has version ${shown(version)}`, "version 1 or 2");
  if (format !== undefined && (!isCount(format) || format > FORMAT_VERSION)) {
    throw new InvalidReferencesError(
      `${name} has format ${shown(format)}; this version of shadowzarr reads up to ${FORMAT_VERSION}. ` +
        "Update shadowzarr",
    );
  }
  check(document, "requires", Array.isArray, name);
  const unknown = ((requires ?? []) as Json[]).filter((item) => !KNOWN_REQUIREMENTS.includes(item as string));
  if (unknown.length > 0) {
    throw new InvalidReferencesError(
      `${name} requires ${unknown.map(shown).join(", ")}, which is unknown to this version of shadowzarr ` +
        `(${KNOWN_REQUIREMENTS.join(", ")}). Update shadowzarr`,
    );
  }
}

function isReference(key: string, value: unknown): boolean {
  if (key.startsWith("/")) return false;
  if (typeof value === "string" || isObject(value)) return true;
  if (!Array.isArray(value) || typeof value[0] !== "string" || value[0] === "") return false;
  if (value.length === 1) return true;
  return value.length === 3 && isCount(value[1]) && isCount(value[2]) && isCount(value[1] + value[2]);
}

function checkEntries(document: { [key: string]: Json }, refs: { [key: string]: Json }, name: string): void {
  const of = (part: string, path: string, place: string) => {
    const key = path === "" ? "zarr.json" : `${path}/zarr.json`;
    if (!Object.hasOwn(refs, key)) {
      throw wrong(`${name}: ${place}`, `is for ${shown(`/${path}`)}, which refs does not hold`, `an array in ${part}`);
    }
  };
  for (const [path, entry] of entries(document["indexes"])) {
    const place = `indexes[${shown(path)}]`;
    if (!isObject(entry) || typeof entry["url"] !== "string" || typeof entry["index"] !== "string") {
      throw wrong(`${name}: ${place}`, `is ${shown(entry)}`, "an object with url and index");
    }
    of("refs", path, place);
  }
  for (const [path, entry] of entries(document["selections"])) {
    if (!isSelection(entry)) {
      throw wrong(`${name}: selections[${shown(path)}]`, `is ${shown(entry)}`, "record_size and keep within it");
    }
    of("refs", path, `selections[${shown(path)}]`);
  }
  for (const [url, entry] of entries(document["sources"])) {
    const etag = isObject(entry) ? (entry["etag"] ?? "") : undefined;
    if (!isObject(entry) || !isCount(entry["size"]) || typeof etag !== "string") {
      throw wrong(`${name}: sources[${shown(url)}]`, `is ${shown(entry)}`, "a size and perhaps an etag");
    }
  }
  ((document["gen"] ?? []) as Json[]).forEach((entry, number) => checkGen(entry, `${name}: gen[${number}]`));
}

function isSelection(entry: unknown): boolean {
  if (!isObject(entry) || !isCount(entry["record_size"]) || !Array.isArray(entry["keep"])) return false;
  const size = entry["record_size"];
  const isRange = (range: unknown) =>
    Array.isArray(range) && range.length === 2 && range.every(isCount) && range[0] < range[1] && range[1] <= size;
  return entry["keep"].length > 0 && entry["keep"].every(isRange);
}

function checkGen(entry: unknown, place: string): void {
  const isText = (value: unknown) => typeof value === "string";
  if (!isObject(entry) || !isText(entry["key"]) || !isText(entry["url"]) || !isObject(entry["dimensions"])) {
    throw wrong(place, `is ${shown(entry)}`, "key, url and dimensions");
  }
  if ("offset" in entry !== "length" in entry) throw wrong(place, "has one of offset and length", "both or neither");
  for (const key of ["offset", "length"]) {
    const value = entry[key] ?? 0;
    if (!isText(value) && !isCount(value))
      throw wrong(place, `has ${key} ${shown(value)}`, "a number or an expression");
  }
  for (const [name, dimension] of Object.entries(entry["dimensions"])) {
    const { start = 0, stop, step = 1 } = isObject(dimension) ? dimension : {};
    if (!isCount(start) || !isCount(stop) || !isCount(step) || step < 1) {
      throw wrong(`${place}: dimensions[${shown(name)}]`, `is ${shown(dimension)}`, "stop, start from 0, step from 1");
    }
  }
}

function check(document: { [key: string]: Json }, part: string, is: (value: unknown) => boolean, name: string): void {
  const value = document[part];
  if (value === undefined || value === null) return; // null in place of an optional part is no part
  if (!is(value)) throw wrong(`${name}: ${part}`, `is ${shown(value)}`, is === isObject ? "an object" : "a list");
}

function entries(part: Json | undefined): [string, Json][] {
  return isObject(part) ? Object.entries(part) : [];
}

function wrongReference(name: string, key: string, value: unknown): InvalidReferencesError {
  const place = `${name}: refs[${shown(key)}]`;
  if (key.startsWith("/")) return wrong(place, "begins with a slash", "a key without it");
  return wrong(place, `is ${shown(value)}`, "text, [url] or [url, offset, size] with whole numbers below 2^53");
}

function wrong(place: string, found: string, expected: string): InvalidReferencesError {
  return new InvalidReferencesError(`${place} ${found}; expected ${expected}`);
}
