// Lines one above another: where each is put. Pure.

import type { Span } from "./window.js";

/** Lines as they are drawn, in the display's unit. */
export interface Stacked {
  lines: (number | null)[][];
  /** Where each line's middle is drawn. */
  offsets: number[];
  /** Distance between neighbours. */
  spacing: number;
  y: Span;
}

/** Least and greatest finite value; undefined when there is none. */
export function extentOf(line: ArrayLike<number | null>): Span | undefined {
  let [from, to] = [Infinity, -Infinity];
  for (let i = 0; i < line.length; i++) {
    const value = line[i]!;
    if (!Number.isFinite(value)) continue;
    if (value < from) from = value;
    if (value > to) to = value;
  }
  return from <= to ? { from, to } : undefined;
}

/** The first line on top, each around the median of its own values; what reaches further has room. */
export function stacked(lines: readonly (readonly (number | null)[])[], factor: number): Stacked {
  const extents = lines.map(extentOf);
  const heights = extents.flatMap((extent) => (extent === undefined ? [] : [(extent.to - extent.from) * factor]));
  heights.sort((a, b) => a - b);
  const spacing = roundUp(heights[Math.floor(0.75 * heights.length)] ?? 0) || 1;
  const offsets = lines.map((_, i) => (lines.length - 1 - i) * spacing);
  const drawn = lines.map((line, i) => {
    const middle = medianOf(line);
    return line.map((value) => (value === null ? null : (value - middle) * factor + offsets[i]!));
  });
  const all = drawn.map(extentOf).filter((extent) => extent !== undefined);
  const from = Math.min(-0.75 * spacing, ...all.map(({ from }) => from));
  const to = Math.max((lines.length - 0.25) * spacing, ...all.map(({ to }) => to));
  return { lines: drawn, offsets, spacing, y: { from, to } };
}

/** Lines over each other, at their own values. */
export function overlaid(
  lines: readonly (readonly (number | null)[])[],
  factor: number,
): { lines: (number | null)[][]; y: Span } {
  const drawn = lines.map((line) => line.map((value) => (value === null ? null : value * factor)));
  const extents = drawn.map(extentOf).filter((extent) => extent !== undefined);
  const from = Math.min(...extents.map(({ from }) => from));
  const to = Math.max(...extents.map(({ to }) => to));
  if (extents.length === 0) return { lines: drawn, y: { from: 0, to: 1 } };
  const margin = 0.05 * (to - from) || Math.abs(to) * 0.05 || 1;
  return { lines: drawn, y: { from: from - margin, to: to + margin } };
}

function medianOf(line: readonly (number | null)[]): number {
  const values = Float64Array.from(line.filter((value) => value !== null)).sort();
  return values[Math.floor(values.length / 2)] ?? 0;
}

/** The next number of the kind 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  if (!(value > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = [1, 2, 5, 10].find((digit) => digit * power >= value * (1 - 1e-9)) ?? 10;
  return digit * power;
}
