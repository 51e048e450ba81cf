// How places on an axis are written: as finely as what is shown needs, and no two ticks alike. Pure.

import type { Span } from "./window.js";

/** Ticks are written as `(value - base) / 10 ** power`. */
export interface Notation {
  base: number;
  power: number;
  decimals: number;
}

const MOST_DIGITS = 7; // of a tick
const NEARLY_ALIKE = 1000; // times its width a window is away from 0 where ticks are told from a place near it

/**
 * How to write ticks in few digits.
 *
 * @param increment - From one tick to the next.
 * @param round - Which round place near a far window is told from: one below, or the nearest.
 */
export function notationOf({ from, to }: Span, increment: number, round = Math.floor): Notation {
  const isShort = (value: number) => digitsOf(value, increment) <= MOST_DIGITS;
  const furthest = (base: number) => Math.max(Math.abs(from - base), Math.abs(to - base));
  if (!(increment > 0) || isShort(furthest(0))) return { base: 0, power: 0, decimals: decimalsOf(increment) };
  const width = to - from;
  const base = width * NEARLY_ALIKE < furthest(0) ? rounded(from, Math.ceil(Math.log10(width)) + 1, round) : 0;
  const left = furthest(base);
  const power = isShort(left) ? 0 : 3 * Math.floor(Math.log10(left) / 3);
  return { base, power, decimals: decimalsOf(increment / 10 ** power) };
}

/** A tick. */
export function tickText(value: number, { base, power, decimals }: Notation): string {
  const text = ((value - base) / 10 ** power).toFixed(decimals);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

/** The name of an axis, with what its ticks have to be multiplied by and added to. */
export function axisLabel(name: string, { base, power }: Notation): string {
  const scaled = power === 0 ? name : `${name} (× 1e${power})`;
  return base === 0 ? scaled : `${scaled} ${base < 0 ? "−" : "+"} ${Math.abs(base)}`;
}

/** A place in a window of a width, to a millionth of it. */
export function placeText(value: number, width: number): string {
  if (!Number.isFinite(value) || !(width > 0)) return String(value);
  return String(Number(value.toFixed(Math.min(15, Math.max(0, 6 - Math.floor(Math.log10(width)))))));
}

/** Digits before and after the point. */
function digitsOf(value: number, increment: number): number {
  return Math.max(1, Math.floor(Math.log10(Math.abs(value))) + 1) + decimalsOf(increment);
}

/** Digits after the point that tell multiples of a number from each other. */
function decimalsOf(increment: number): number {
  for (let decimals = 0; decimals < 20; decimals++) {
    const scaled = increment * 10 ** decimals;
    if (Math.abs(scaled - Math.round(scaled)) <= 1e-6 * scaled) return decimals;
  }
  return 20;
}

/** A multiple of a power of ten. */
function rounded(value: number, power: number, round: (value: number) => number): number {
  return power < 0 ? round(value * 10 ** -power) / 10 ** -power : round(value / 10 ** power) * 10 ** power;
}
