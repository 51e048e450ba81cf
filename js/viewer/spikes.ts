// Spike times of units: one ragged column, of which only the parts are read that a window needs.

import type { ArrayReader, ChunkedArray } from "./chunkedArray.js";
import { raggedRange, readEnds } from "./ragged.js";
import { checkAscending, firstAtLeast, nextAfter, UnsortedError, type SortedNumbers } from "./search.js";
import { extentOf } from "./stacking.js";
import { childOf } from "./tree.js";
import type { Span } from "./window.js";

/** Units of a table. */
export interface Units {
  times: ChunkedArray;
  /** Where each unit's spikes end in `times`. */
  ends: Float64Array;
  /** What the file calls them. */
  ids: string[];
}

/** Spikes of some units in a window. */
export interface Spikes {
  /** Rows of the units in their table. */
  units: readonly number[];
  /** Times of each unit's spikes. */
  times: Float64Array[];
  /** Units whose times are in no order; all of them had to be read. */
  unsorted: number[];
  /** From the first to the last of the spikes of those units. */
  unsortedExtent: Span | undefined;
}

/** Read what is needed to know the units: of their spikes nothing. */
export async function openUnits(reader: ArrayReader, group: string, signal?: AbortSignal): Promise<Units> {
  const { store } = reader;
  const [times, index, id] = ["spike_times", "spike_times_index", "id"].map((name) => childOf(store, group, name));
  if (times === undefined || index === undefined) throw new Error(`/${group} has no spike times`);
  const array = await reader.open(times);
  const [ends, ids] = await Promise.all([
    readEnds(await reader.open(index), array.shape[0] ?? 0, signal),
    id === undefined ? undefined : reader.open(id).then((array) => array.range(0, array.shape[0]!, signal)),
  ]);
  return { times: array, ends, ids: Array.from(ends, (_, i) => String(ids?.[i] ?? i)) };
}

/** Spikes at or after one time and at or before another. */
export async function readSpikes(
  units: Units,
  chosen: readonly number[],
  span: Span,
  signal?: AbortSignal,
): Promise<Spikes> {
  const unsorted: number[] = [];
  const extents: (Span | undefined)[] = [];
  const times = await Promise.all(
    chosen.map(async (unit) => {
      try {
        return await sortedSpikes(units, unit, span, signal);
      } catch (error) {
        if (!(error instanceof UnsortedError)) throw error;
        const all = (await units.times.numbers(...raggedRange(units.ends, unit), signal)).sort();
        unsorted.push(unit);
        extents.push(extentOf(all));
        return all.filter((time) => time >= span.from && time <= span.to);
      }
    }),
  );
  return { units: chosen, times, unsorted: unsorted.sort((a, b) => a - b), unsortedExtent: united(extents) };
}

/** From the first spike of some units to the last, if they are in order; undefined when they have none. */
export async function spikeExtent(
  { times, ends }: Units,
  chosen: readonly number[],
  signal?: AbortSignal,
): Promise<Span | undefined> {
  const extents = chosen.map(async (unit) => {
    const [start, stop] = raggedRange(ends, unit);
    if (start === stop) return undefined;
    const [first, last] = await Promise.all([
      times.numbers(start, start + 1, signal),
      times.numbers(stop - 1, stop, signal),
    ]);
    return extentOf([first[0]!, last[0]!]);
  });
  return united(await Promise.all(extents));
}

/** The span of several; undefined when there is none. */
export function united(spans: readonly (Span | undefined)[]): Span | undefined {
  const all = spans.filter((span) => span !== undefined);
  if (all.length === 0) return undefined;
  return { from: Math.min(...all.map(({ from }) => from)), to: Math.max(...all.map(({ to }) => to)) };
}

/** Decoded bytes of all spikes of some units. */
export function bytesOf({ times, ends }: Units, chosen: readonly number[]): number {
  const edge = times.chunkShape[0]!;
  const chunks = new Set<number>();
  for (const unit of chosen) {
    const [start, stop] = raggedRange(ends, unit);
    for (let chunk = Math.floor(start / edge); chunk * edge < stop; chunk++) chunks.add(chunk);
  }
  return chunks.size * times.chunkNbytes;
}

async function sortedSpikes({ times, ends }: Units, unit: number, span: Span, signal?: AbortSignal) {
  const [start, stop] = raggedRange(ends, unit);
  const numbers: SortedNumbers = {
    start,
    stop,
    chunkLength: times.chunkShape[0]!,
    read: (start, stop, signal) => times.numbers(start, stop, signal),
  };
  const first = await firstAtLeast(numbers, span.from, { signal });
  const beyond = await firstAtLeast(numbers, nextAfter(span.to), {
    expected: (first - start) / (stop - start),
    signal,
  });
  const found = await times.numbers(first, beyond, signal);
  checkAscending(found, first);
  return found;
}
