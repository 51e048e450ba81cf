// Values of a table's cells as text. Pure.

import { isObject } from "../src/json.js";
import { nameOf } from "./tree.js";
import { shortNumber } from "./units.js";

/** Elements of a cell that are shown. */
export const LISTED = 6;
const MOST_CHARACTERS = 120;

/** How the items of a column are written. */
export type Format = (value: unknown) => string;

/** An item as it is. */
export const plain: Format = (value) => {
  if (typeof value === "number") return shortNumber(value, 9);
  if (typeof value === "string") return shortened(value);
  if (value instanceof Uint8Array)
    return shortened(`0x${Array.from(value, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
  if (Array.isArray(value)) return `[${value.map(plain).join(", ")}]`;
  if (isObject(value)) {
    const fields = Object.entries(value).map(([name, item]) => `${name}: ${plain(item)}`);
    return `(${fields.join(", ")})`;
  }
  return String(value);
};

/** A row of another table. */
export function rowOf(table: string): Format {
  const name = nameOf(table) || table;
  return (value) => `${name}[${plain(value)}]`;
}

/** One of a list of names, given by its number. */
export function oneOf(names: ArrayLike<unknown>): Format {
  return (value) => {
    const name = names[Number(value)];
    return name === undefined ? `${plain(value)} (no such element)` : plain(name);
  };
}

/** A path, or nothing. */
export const reference: Format = (value) => (value === "" ? "none" : plain(value));

/** A part of a dataset, as references have it: JSON. */
export const region: Format = (value) => {
  if (value === "") return "none";
  try {
    const found: unknown = JSON.parse(String(value));
    const { path, region: part } = (isObject(found) ? (found["_REFERENCE"] ?? found) : {}) as {
      [key: string]: unknown;
    };
    const selection = isObject(part) ? part["selection"] : undefined;
    if (typeof path === "string") return shortened(`${path} ${JSON.stringify(selection ?? "")}`);
  } catch {
    // Whatever it is, it is shown as it is.
  }
  return plain(value);
};

/** Several items, of which the first are given. */
export function list(items: readonly string[], count: number): string {
  const more = count > items.length ? `, … (${count} in all)` : "";
  return `[${items.join(", ")}${more}]`;
}

/** Text that fits a cell. */
export function shortened(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS - 1)}…`;
}
