// Numbers and times as people read them; as shadowzarr/formatting.py has them. Pure.

export const NO_VALUE = "–";

const BYTES = ["B", "kB", "MB", "GB", "TB", "PB"];
const AGES: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });

/** Bytes with a decimal unit and three digits: `1.26 MB`. */
export function bytes(nbytes: number | null | undefined): string {
  if (nbytes === null || nbytes === undefined) return NO_VALUE;
  let [value, unit] = [nbytes, 0];
  while (value >= 999.5 && unit < BYTES.length - 1) [value, unit] = [value / 1000, unit + 1];
  const digits = value >= 99.5 || Number.isInteger(value) ? 0 : value >= 9.95 ? 1 : 2;
  return `${value.toFixed(digits)} ${BYTES[unit]}`;
}

/** A count with separators, and what is counted. */
export function count(number: number | bigint | null | undefined, noun = "", plural = `${noun}s`): string {
  if (number === null || number === undefined) return NO_VALUE;
  const text = number.toLocaleString("en");
  return noun === "" ? text : `${text} ${Number(number) === 1 ? noun : plural}`;
}

/** How long ago a time was: `3 days ago`. */
export function age(time: string | null | undefined, now: number = Date.now()): string {
  const then = Date.parse(time ?? "");
  if (Number.isNaN(then)) return NO_VALUE;
  const seconds = Math.max(0, (now - then) / 1000);
  const [unit, length] = AGES.find(([, length]) => seconds >= length) ?? ["minute", 60];
  return seconds < 60 ? "just now" : relative.format(-Math.floor(seconds / length), unit);
}

/** A shape: `72,000 × 64`; `scalar` for none. */
export function shape(extents: readonly (number | bigint)[]): string {
  return extents.length === 0 ? "scalar" : extents.map((extent) => count(extent)).join(" × ");
}
