// Rows of a DynamicTable (hdmf-common): columns by their kind, and the text of the cells that are in view.

import { list, LISTED, oneOf, plain, reference, region, rowOf, type Format } from "./cells.js";
import type { ArrayReader, ChunkedArray } from "./chunkedArray.js";
import { readRanges } from "./ragged.js";
import { childOf, referenceAttribute, resolvePath, shapeOf, textAttribute } from "./tree.js";
import { bytesText, withFewestDigits } from "./units.js";

/** A column. */
export interface Column {
  name: string;
  /** What the file says about it; empty when it says nothing. */
  description: string;
  /** Text of the cells of some rows, from the first up to but not with the last. */
  cells(first: number, last: number, signal?: AbortSignal): Promise<string[]>;
}

export interface Table {
  columns: Column[];
  rows: number;
}

const LARGE = 32 * 2 ** 20; // decoded bytes of a chunk that is not read for a table

/** Read what is needed to know a table: of its rows nothing. */
export async function openTable(reader: ArrayReader, group: string, signal?: AbortSignal): Promise<Table> {
  const { store } = reader;
  const listed = store.attributes(group)["colnames"];
  const names = (Array.isArray(listed) ? listed : [listed]).filter((name) => typeof name === "string");
  const columns = await Promise.all(["id", ...names].map((name) => openColumn(reader, group, name, signal)));
  const lengths = ["id", ...names].map((name) => {
    const outer = indexesOf(reader, group, name).at(-1) ?? childOf(store, group, name);
    return outer === undefined ? undefined : shapeOf(store, outer)?.[0];
  });
  return { columns, rows: lengths.find((length) => length !== undefined) ?? 0 };
}

async function openColumn(reader: ArrayReader, group: string, name: string, signal?: AbortSignal): Promise<Column> {
  const { store } = reader;
  const path = childOf(store, group, name);
  const same = (text: string) => (first: number, last: number) =>
    Promise.resolve(Array.from({ length: last - first }, () => text));
  if (path === undefined) return { name, description: "", cells: same("not in the references") };
  const attributes = store.attributes(path);
  const description = textAttribute(attributes, "description") ?? "";
  if (shapeOf(store, path) === undefined) {
    return { name, description, cells: same("stored by its fields, which are nodes of their own") };
  }
  const array = await reader.open(path);
  if (array.chunkNbytes > LARGE) {
    return { name, description, cells: same(`not read: a chunk takes ${bytesText(array.chunkNbytes)}`) };
  }
  const [indexes, format] = await Promise.all([
    Promise.all(indexesOf(reader, group, name).map((index) => reader.open(index))),
    formatOf(reader, path, signal),
  ]);
  const below = [array, ...indexes];
  const length = below.at(-1)!.shape[0] ?? 0;
  // Columns of a damaged table may be shorter than others.
  const cells: Column["cells"] = async (first, last, signal) => {
    const end = Math.max(first, Math.min(last, length));
    const found = await raggedCells(below, below.length - 1, first, end, format, signal);
    return [...found, ...Array.from({ length: last - end }, () => `none: there are ${length} rows`)];
  };
  return { name, description, cells };
}

/** Paths of a column's indexes, the one next to the data first. */
function indexesOf({ store }: ArrayReader, group: string, name: string): string[] {
  const found: string[] = [];
  for (let index = `${name}_index`; ; index += "_index") {
    const path = childOf(store, group, index);
    if (path === undefined || shapeOf(store, path)?.length !== 1) return found;
    found.push(path);
  }
}

async function formatOf(reader: ArrayReader, path: string, signal?: AbortSignal): Promise<Format> {
  const { store } = reader;
  const attributes = store.attributes(path);
  const kind = attributes["_DTYPE"];
  if (kind === "object_reference") return reference;
  if (kind === "region_reference") return region;
  const table = referenceAttribute(attributes, "table");
  if (table !== undefined) return rowOf(table);
  const elements = referenceAttribute(attributes, "elements");
  const names = elements === undefined ? undefined : resolvePath(store, elements);
  if (names === undefined) return plain;
  const array = await reader.open(names);
  return oneOf(await array.range(0, array.shape[0] ?? 0, signal));
}

/** Text of items of the data: one for each, of an item with axes of its own the first elements. */
async function items(
  array: ChunkedArray,
  first: number,
  last: number,
  format: Format,
  signal?: AbortSignal,
): Promise<string[]> {
  const inner = array.shape.slice(1);
  const shown = inner.map((extent, axis) =>
    axis === inner.length - 1 ? Math.min(extent, LISTED) : Math.min(extent, 1),
  );
  const values = withFewestDigits(await array.box({ start: [first, ...inner.map(() => 0)], stop: [last, ...shown] }, signal));
  if (inner.length === 0) return Array.from(values, format);
  const size = shown.reduce((a, b) => a * b, 1);
  const count = inner.reduce((a, b) => a * b, 1);
  const shape = inner.length > 1 ? `${inner.join(" × ")}: ` : "";
  return Array.from({ length: last - first }, (_, i) => {
    const own = Array.from({ length: size }, (_, element) => format(values[i * size + element]));
    return `${shape}${list(own, count)}`;
  });
}

/**
 * Text of ragged cells.
 *
 * @param below - The data, and its indexes from the next to the outermost.
 * @param level - Which of them has the rows; 0 for the data.
 */
async function raggedCells(
  below: readonly ChunkedArray[],
  level: number,
  first: number,
  last: number,
  format: Format,
  signal?: AbortSignal,
): Promise<string[]> {
  if (level === 0) return await items(below[0]!, first, last, format, signal);
  const ranges = await readRanges(below[level]!, first, last, below[level - 1]!.shape[0]!, signal);
  return await Promise.all(
    ranges.map(async ([start, stop]) => {
      const end = Math.min(stop, start + LISTED);
      return list(start === stop ? [] : await raggedCells(below, level - 1, start, end, format, signal), stop - start);
    }),
  );
}
