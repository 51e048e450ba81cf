// Stored numbers → physical values, and how units and sizes are written.

import { shown } from "../src/errors.js";
import type { ArrayReader } from "./chunkedArray.js";
import { childOf, numberAttribute, textAttribute } from "./tree.js";

/** How stored numbers become values: `stored * factors[channel] * conversion + offset`. */
export interface Scaling {
  conversion: number;
  offset: number;
  /** One for each channel (`channel_conversion`); undefined when there are none. */
  channels: Float64Array | undefined;
  /** As the file has it; empty when it has none. */
  unit: string;
  /** What a reader has to know of it. */
  note?: string;
}

/** The scaling of a series; attributes that are no numbers count as missing, and a note says so. */
export async function scalingOf(
  reader: ArrayReader,
  group: string,
  data: string,
  channels: number,
  signal?: AbortSignal,
): Promise<Scaling> {
  const { store } = reader;
  const attributes = store.attributes(data);
  const path = childOf(store, group, "channel_conversion");
  let factors: Float64Array | undefined;
  if (path !== undefined) {
    const array = await reader.open(path);
    const isForChannels = array.shape.length === 1 && array.shape[0] === channels;
    if (!isForChannels) {
      throw new Error(
        `channel_conversion of /${group} has the shape [${array.shape.join(", ")}]; expected one factor for each of ` +
          `the ${channels} channels`,
      );
    }
    factors = await array.numbers(0, channels, signal);
  }
  const left = ["conversion", "offset"].filter(
    (name) => attributes[name] !== undefined && numberAttribute(attributes, name) === undefined,
  );
  const values = left.map((name) => `${name} ${shown(attributes[name])}`).join(", ");
  return {
    ...(left.length === 0 ? {} : { note: `Values are drawn without ${values}, which is no number.` }),
    conversion: numberAttribute(attributes, "conversion") ?? 1,
    offset: numberAttribute(attributes, "offset") ?? 0,
    channels: factors,
    unit: textAttribute(attributes, "unit") ?? "",
  };
}

/** The physical value of a stored number. */
export function scaled(stored: number, channel: number, { conversion, offset, channels }: Scaling): number {
  return (channels === undefined ? stored : stored * channels[channel]!) * conversion + offset;
}

const SYMBOLS: Record<string, string> = {
  volts: "V",
  volt: "V",
  v: "V",
  amperes: "A",
  ampere: "A",
  amps: "A",
  a: "A",
  meters: "m",
  meter: "m",
  metres: "m",
  m: "m",
  seconds: "s",
  second: "s",
  s: "s",
};
const PREFIXES: [number, string][] = [
  [1e-12, "p"],
  [1e-9, "n"],
  [1e-6, "µ"],
  [1e-3, "m"],
  [1, ""],
];

/** A unit in which a magnitude is a number that is easy to read. */
export interface Display {
  /** What values are multiplied by. */
  factor: number;
  unit: string;
}

/** The unit to write values of about a magnitude in; only units of the SI get prefixes. */
export function displayUnit(unit: string, magnitude: number): Display {
  const name = unit.toLowerCase();
  const symbol = Object.hasOwn(SYMBOLS, name) ? SYMBOLS[name] : undefined; // not "constructor"
  if (symbol === undefined || !(magnitude > 0)) return { factor: 1, unit: symbol ?? unit };
  const [size, prefix] = PREFIXES.findLast(([size]) => magnitude >= size) ?? PREFIXES[0]!;
  return { factor: 1 / size, unit: prefix + symbol };
}

/** A number in few digits; those before the point are never rounded away below 10 ** 15. */
export function shortNumber(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e15) return Number(value.toPrecision(digits)).toExponential();
  if (Number.isInteger(value)) return String(value);
  const whole = Math.floor(Math.log10(size)) + 1;
  const rounded = Number(value.toPrecision(Math.max(digits, whole + 3)));
  return Math.abs(rounded) < 1e-4 ? rounded.toExponential() : String(rounded);
}

/**
 * Numbers with the digits that they are meant by: those of 32 bits in the fewest that give them back, which are fewer
 * than the number of 64 bits that it is for a page takes.
 */
export function withFewestDigits(data: ArrayLike<unknown>): ArrayLike<unknown> {
  return data instanceof Float32Array ? Float64Array.from(data, fewestDigits) : data;
}

function fewestDigits(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number(value.toPrecision(9));
}

/** How many there are of something. */
export function countText(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** A number of bytes. */
export function bytesText(nbytes: number): string {
  if (nbytes < 1000) return `${nbytes} bytes`;
  return nbytes < 1e6 ? `${(nbytes / 1e3).toFixed(1)} kB` : `${(nbytes / 1e6).toFixed(1)} MB`;
}
