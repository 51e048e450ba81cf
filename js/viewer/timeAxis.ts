// When the samples of a series were taken: from a starting time and a rate, or from timestamps, of which only the
// chunks are read that a question needs.

import { sizeOf } from "./boxes.js";
import type { ArrayReader, ChunkedArray } from "./chunkedArray.js";
import { checkAscending, firstAtLeast, type SortedNumbers } from "./search.js";
import { childOf, numberAttribute } from "./tree.js";

/** Places of samples on the x axis. */
export interface TimeAxis {
  /** Number of samples. */
  readonly length: number;
  readonly first: number;
  readonly last: number;
  /** Samples per unit of the axis; undefined for timestamps. */
  readonly rate: number | undefined;
  readonly unit: string;
  /** What a reader has to know of it. */
  readonly note: string | undefined;
  /** Rows at or after one place and before another, as `[start, stop]`. */
  rows(from: number, to: number, signal?: AbortSignal): Promise<[number, number]>;
  /** Places of the rows from `start` up to but not with `stop`; they ascend. */
  times(start: number, stop: number, signal?: AbortSignal): Promise<Float64Array>;
}

/**
 * The time axis of a series.
 *
 * Without usable times the samples are numbered, and a note says so.
 *
 * @param group - Path of the series.
 * @param length - Number of its samples.
 */
export async function timeAxisOf(
  reader: ArrayReader,
  group: string,
  length: number,
  signal?: AbortSignal,
): Promise<TimeAxis> {
  const { store } = reader;
  const timestamps = childOf(store, group, "timestamps");
  if (timestamps !== undefined) return await stampedAxis(await reader.open(timestamps), length, signal);
  const starting = childOf(store, group, "starting_time");
  if (starting === undefined) return sampleAxis(length, "the file has no times for them");
  const rate = numberAttribute(store.attributes(starting), "rate");
  if (rate === undefined || !(rate > 0) || !Number.isFinite(rate)) {
    return sampleAxis(length, `their rate is ${rate ?? "missing"}`);
  }
  const array = await reader.open(starting);
  if (sizeOf({ start: array.shape.map(() => 0), stop: array.shape }) !== 1) {
    return sampleAxis(length, `their starting time has the shape [${array.shape.join(", ")}]`);
  }
  const found = await array.box({ start: array.shape.map(() => 0), stop: array.shape }, signal);
  const first = Number(found[0]);
  if (!Number.isFinite(first)) return sampleAxis(length, `their starting time is ${first}`);
  return regularAxis(length, first, rate, "s");
}

/** Samples by their number. */
export function sampleAxis(length: number, reason: string): TimeAxis {
  return { ...regularAxis(length, 0, 1, "samples"), rate: undefined, note: `Samples are numbered: ${reason}.` };
}

/** Samples at a rate. */
export function regularAxis(length: number, first: number, rate: number, unit: string): TimeAxis {
  const timeOf = (row: number) => first + row / rate;
  const clip = (row: number) => Math.min(length, Math.max(0, row));
  return {
    length,
    first,
    last: timeOf(Math.max(0, length - 1)),
    rate,
    unit,
    note: undefined,
    rows: (from, to) => {
      // Rounding may put a sample that is at an end just outside of it.
      const ends: [number, number] = [(from - first) * rate, (to - first) * rate];
      const start = clip(Math.ceil(ends[0] - 1e-6));
      return Promise.resolve([start, Math.max(start, clip(Math.ceil(ends[1] - 1e-6)))]);
    },
    times: (start, stop) => Promise.resolve(Float64Array.from({ length: stop - start }, (_, i) => timeOf(start + i))),
  };
}

async function stampedAxis(stamps: ChunkedArray, samples: number, signal?: AbortSignal): Promise<TimeAxis> {
  if (stamps.shape.length !== 1) {
    return sampleAxis(samples, `their timestamps have the shape [${stamps.shape.join(", ")}]`);
  }
  const length = Math.min(samples, stamps.shape[0]!);
  if (length === 0) return sampleAxis(samples, "the file has no times for them");
  const numbers: SortedNumbers = {
    start: 0,
    stop: length,
    chunkLength: stamps.chunkShape[0]!,
    read: (start, stop, signal) => stamps.numbers(start, stop, signal),
  };
  const [[first], [last]] = (await Promise.all([
    stamps.numbers(0, 1, signal),
    stamps.numbers(length - 1, length, signal),
  ])) as unknown as [[number], [number]];
  if (!Number.isFinite(first) || !Number.isFinite(last) || last < first) {
    return sampleAxis(samples, `their timestamps go from ${first} to ${last}`);
  }
  const place = (wanted: number, signal?: AbortSignal) =>
    firstAtLeast(numbers, wanted, { expected: (wanted - first) / (last - first || 1), signal });
  return {
    length,
    first,
    last,
    rate: undefined,
    unit: "s",
    note:
      length < samples ? `Only ${length} of ${samples} samples have timestamps; the others are not shown.` : undefined,
    rows: async (from, to, signal) => {
      const start = await place(from, signal);
      const beyond = await place(to, signal);
      return [start, Math.max(start, beyond)];
    },
    times: async (start, stop, signal) => {
      const times = await stamps.numbers(start, stop, signal);
      checkAscending(times, start);
      return times;
    },
  };
}
