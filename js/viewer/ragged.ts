// Ragged columns of a DynamicTable (hdmf-common, VectorIndex): row i has the elements from the end of row i - 1 up to
// its own end.

import type { ChunkedArray } from "./chunkedArray.js";

/** Where the elements of a row are; `ends` from the first row on. */
export function raggedRange(ends: ArrayLike<number>, row: number): [number, number] {
  return [row === 0 ? 0 : ends[row - 1]!, ends[row]!];
}

/**
 * Read the ends of all rows.
 *
 * @param length - Number of elements there are.
 * @throws Error when they do not ascend, or go beyond the elements.
 */
export async function readEnds(index: ChunkedArray, length: number, signal?: AbortSignal): Promise<Float64Array> {
  const ends = await index.numbers(0, index.shape[0]!, signal);
  checkEnds(ends, 0, length, index.path);
  return ends;
}

/**
 * Read the ranges of some rows.
 *
 * @returns Start and stop of each row from `first` up to but not with `last`.
 */
export async function readRanges(
  index: ChunkedArray,
  first: number,
  last: number,
  length: number,
  signal?: AbortSignal,
): Promise<[number, number][]> {
  const from = Math.max(0, first - 1);
  const ends = await index.numbers(from, last, signal);
  checkEnds(ends, 0, length, index.path);
  return Array.from({ length: last - first }, (_, i) => {
    const at = first - from + i;
    return [at === 0 ? 0 : ends[at - 1]!, ends[at]!];
  });
}

function checkEnds(ends: Float64Array, start: number, length: number, path: string): void {
  let before = start;
  for (const end of ends) {
    if (!(end >= before && end <= length)) {
      throw new Error(`/${path} says that a row ends at ${end}; expected ${before} to ${length}`);
    }
    before = end;
  }
}
