// What traces draw of a series: a window of it and some of its channels → points, from the chunks in the window alone.

import type { ArrayReader, ChunkedArray } from "./chunkedArray.js";
import { Envelope, type Points } from "./envelope.js";
import { UnsortedError } from "./search.js";
import { timeAxisOf, type TimeAxis } from "./timeAxis.js";
import { childOf, referenceAttribute, resolvePath, shapeOf } from "./tree.js";
import { scaled, scalingOf, type Scaling } from "./units.js";
import type { Span } from "./window.js";

/** A series that can be drawn. Axes after the first are flattened to channels. */
export interface Series {
  data: ChunkedArray;
  axis: TimeAxis;
  channels: number;
  scaling: Scaling;
  /** What channels are of, such as "electrode 17"; empty when the file does not say. */
  names: string[];
}

/** What is wanted of a series. */
export interface TraceWindow {
  from: number;
  to: number;
  channels: readonly number[];
  /** Columns of pixels. */
  columns: number;
  /** Decoded bytes that may be read for it; of more, evenly spread chunks are read. */
  budget: number;
}

/** What there is to draw. */
export interface Traces extends Points {
  window: TraceWindow;
  /** Every sample of the window is a point. */
  isRaw: boolean;
  /** Rows in the window, from the first up to but not with the last. */
  rows: [number, number];
  /** Points before the window and after it, to which lines go on. */
  beside: [number, number];
  /** Rows that were read; fewer than those in the window when it is sampled. */
  rowsRead: number;
  /** Stretches that were read, and those in the window. */
  stretches: [number, number];
  /** From the last sample of a stretch that was read to what was read next. */
  unread: Span[];
}

const FEW_SAMPLES = 200;
const FIRST_SAMPLES = 2000;

/** Read what is needed to know a series; of its data nothing. */
export async function openSeries(reader: ArrayReader, group: string, signal?: AbortSignal): Promise<Series> {
  const path = childOf(reader.store, group, "data");
  const shape = path === undefined ? undefined : shapeOf(reader.store, path);
  if (path === undefined || shape === undefined || shape.length === 0 || shape.includes(0)) {
    throw new Error(`/${group} has no data to draw`);
  }
  const channels = shape.slice(1).reduce((a, b) => a * b, 1);
  const [data, axis, scaling, names] = await Promise.all([
    reader.open(path),
    timeAxisOf(reader, group, shape[0]!, signal),
    scalingOf(reader, group, path, channels, signal),
    namesOf(reader, group, channels, signal),
  ]);
  return { data, axis, channels, scaling, names };
}

/** Names of channels by the rows of the table that they are of: a region of electrodes or of ROIs. */
async function namesOf(reader: ArrayReader, group: string, channels: number, signal?: AbortSignal): Promise<string[]> {
  const { store } = reader;
  for (const [name, what] of [
    ["electrodes", "electrode"],
    ["rois", "ROI"],
  ] as const) {
    const path = childOf(store, group, name);
    if (path === undefined || shapeOf(store, path)?.join() !== String(channels)) continue;
    const table = referenceAttribute(store.attributes(path), "table");
    const id = table === undefined ? undefined : resolvePath(store, `${table}/id`);
    if (id === undefined) continue;
    const ids = await reader.open(id);
    const [rows, numbers] = await Promise.all([
      reader.open(path).then((region) => region.numbers(0, channels, signal)),
      ids.range(0, ids.shape[0]!, signal),
    ]);
    return Array.from(rows, (row) => `${what} ${numbers[row] ?? "that is not in its table"}`);
  }
  return [];
}

/** What a series spans, and what of it is shown at first: a second, or what a chunk holds of a slow one. */
export function spansOf({ axis, data }: Series): { limits: Span; span: Span; narrowest: number } {
  const { first, last, length } = axis;
  const step = axis.rate === undefined ? (last - first) / Math.max(1, length - 1) : 1 / axis.rate;
  if (!(last > first)) {
    const around = { from: first - 0.5, to: first + 0.5 };
    return { limits: around, span: around, narrowest: 4 * step };
  }
  const limits = { from: first, to: last + step };
  const samples = Math.min(
    length,
    Math.max(FIRST_SAMPLES, Math.round(1 / step) || 0, slow(step) ? data.chunkShape[0]! : 0),
  );
  const to = Math.min(limits.to, limits.from + samples * step);
  return { limits, span: { from: limits.from, to }, narrowest: 4 * step };
}

/** Whether samples are so far apart that a second of them shows little. */
function slow(step: number): boolean {
  return step >= 0.002;
}

/** One stretch of rows that a chunk has, and the chunks of all channels beside each other. */
interface Stretch {
  number: number;
  start: number;
  stop: number;
}

/** Where a channel is: coordinates of its chunk after the first, and its element in a row of that. */
interface ChannelPlace {
  line: number;
  channel: number;
  rest: number[];
  within: number[];
}

/**
 * Read a window.
 *
 * @throws UnsortedError when timestamps in it go back.
 */
export async function readTraces(series: Series, window: TraceWindow, signal?: AbortSignal): Promise<Traces> {
  const { data, axis } = series;
  const inside = await axis.rows(window.from, window.to, signal);
  const [start, stop] = withNeighbours(axis, inside);
  const places = window.channels.map((channel, line) => placeOf(series, channel, line));
  const chunks = new Set(places.map(({ rest }) => rest.join(","))).size;
  const all = stretchesOf(start, stop, data.chunkShape[0]!);
  const affordable = Math.max(1, Math.floor(window.budget / (data.chunkNbytes * Math.max(1, chunks))));
  const chosen = all.length > affordable ? sampled(all, data.chunkShape[0]!, affordable) : all;
  const isSampled = chosen.length < all.length;
  const rowsRead = chosen.reduce((sum, { start, stop }) => sum + stop - start, 0);
  const parts = await Promise.all(chosen.map((stretch) => readStretch(series, places, stretch, signal)));
  checkOrder(parts);
  const isRaw = !isSampled && rowsRead <= 2 * window.columns;
  const scale = (line: number, value: number) => scaled(value, window.channels[line]!, series.scaling);
  const points = isRaw ? rawPoints(parts, places, scale) : envelopePoints(parts, places, window, isSampled, scale);
  return {
    ...points,
    window,
    isRaw,
    rows: [start, stop],
    beside: isRaw ? [inside[0] - start, stop - inside[1]] : [0, 0],
    rowsRead,
    stretches: [chosen.length, all.length],
    unread: unreadBetween(parts, all.length, window.to),
  };
}

/** Decoded bytes that are read for a window at least. */
export function leastBytes(series: Series, channels: readonly number[]): number {
  const chunks = new Set(channels.map((channel) => placeOf(series, channel, 0).rest.join(",")));
  return chunks.size * series.data.chunkNbytes;
}

/** Rows of a window; of a few samples also one on each side, so that lines go on to its edges. */
function withNeighbours(axis: TimeAxis, [start, stop]: [number, number]): [number, number] {
  if (stop - start > FEW_SAMPLES) return [start, stop]; // where it would not be seen, and might take chunks more
  return [Math.max(0, start - 1), Math.min(axis.length, stop + 1)];
}

/** Rows cut where chunks are. */
function stretchesOf(start: number, stop: number, edge: number): Stretch[] {
  const stretches: Stretch[] = [];
  for (let at = start; at < stop;) {
    const next = Math.min(stop, (Math.floor(at / edge) + 1) * edge);
    stretches.push({ number: stretches.length, start: at, stop: next });
    at = next;
  }
  return stretches;
}

/**
 * Some stretches, evenly spread: those in every second chunk of the array, or fourth, eighth, …, so that a window that
 * was moved or zoomed has those that were read for the one before.
 */
function sampled(all: readonly Stretch[], edge: number, wanted: number): Stretch[] {
  const step = 2 ** Math.ceil(Math.log2(all.length / wanted));
  const chosen = all.filter(({ start }) => Math.floor(start / edge) % step === 0);
  return chosen.length > 0 ? chosen : [all[0]!];
}

function placeOf({ data }: Series, channel: number, line: number): ChannelPlace {
  const index: number[] = [];
  for (let axis = data.shape.length - 1, left = channel; axis > 0; axis--) {
    index[axis - 1] = left % data.shape[axis]!;
    left = Math.floor(left / data.shape[axis]!);
  }
  const edges = data.chunkShape.slice(1);
  return {
    line,
    channel,
    rest: index.map((at, axis) => Math.floor(at / edges[axis]!)),
    within: index.map((at, axis) => at % edges[axis]!),
  };
}

/** What was read of a stretch. */
interface Part {
  stretch: Stretch;
  times: Float64Array;
  /** Where the stretch's values of a channel are: in which chunk, from which element on, how far apart. */
  values(place: ChannelPlace): { data: ArrayLike<unknown>; first: number; step: number };
}

async function readStretch(
  { data, axis }: Series,
  places: readonly ChannelPlace[],
  stretch: Stretch,
  signal: AbortSignal | undefined,
): Promise<Part> {
  const edge = data.chunkShape[0]!;
  const row = Math.floor(stretch.start / edge);
  const wanted = [...new Map(places.map(({ rest }) => [rest.join(","), rest])).values()];
  const [times, chunks] = await Promise.all([
    axis.times(stretch.start, stretch.stop, signal),
    Promise.all(wanted.map((rest) => data.chunk([row, ...rest], signal))),
  ]);
  const chunkOf = new Map(wanted.map((rest, i) => [rest.join(","), chunks[i]!]));
  const values = ({ rest, within }: ChannelPlace) => {
    const { data, stride } = chunkOf.get(rest.join(","))!;
    const inRow = within.reduce((sum, at, i) => sum + at * stride[i + 1]!, 0);
    return { data, first: (stretch.start - row * edge) * stride[0]! + inRow, step: stride[0]! };
  };
  return { stretch, times, values };
}

function checkOrder(parts: readonly Part[]): void {
  for (const [i, { times, stretch }] of parts.entries()) {
    if (i > 0 && times[0]! < parts[i - 1]!.times.at(-1)!) throw new UnsortedError(stretch.start);
  }
}

function unreadBetween(parts: readonly Part[], count: number, end: number): Span[] {
  return parts.flatMap(({ stretch, times }, i) => {
    const next = parts[i + 1];
    if ((next?.stretch.number ?? count) === stretch.number + 1) return [];
    return [{ from: times.at(-1)!, to: next?.times[0] ?? end }];
  });
}

type Scale = (line: number, value: number) => number;

function envelopePoints(
  parts: readonly Part[],
  places: readonly ChannelPlace[],
  { from, to, columns: count }: TraceWindow,
  isSampled: boolean,
  scale: Scale,
): Points {
  const envelope = new Envelope({ from, to, count }, places.length);
  for (const { stretch, times, values } of parts) {
    const columns = envelope.place(times, isSampled ? stretch.number : 0);
    for (const place of places) {
      const { data, first, step } = values(place);
      envelope.add(place.line, columns, data, first, step);
    }
  }
  return envelope.points(scale);
}

function rawPoints(parts: readonly Part[], places: readonly ChannelPlace[], scale: Scale): Points {
  const lines = places.map((place) =>
    parts.flatMap(({ times, values }) => {
      const { data, first, step } = values(place);
      return Array.from(times, (_, i) => {
        const value = Number(data[first + i * step]);
        return Number.isFinite(value) ? scale(place.line, value) : null;
      });
    }),
  );
  return { x: parts.flatMap(({ times }) => [...times]), lines };
}
