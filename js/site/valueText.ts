// Values of attributes and arrays as text.

import { h } from "./dom.js";
import { count } from "./format.js";

const MOST_CHARACTERS = 1000;

/** JSON of a value, with what JSON lacks as it is written elsewhere: NaN, whole numbers of 64 bits, bytes. */
export function jsonText(value: unknown): string {
  if (value === undefined) return "";
  if (typeof value === "bigint" || typeof value === "number") return String(value);
  if (value instanceof Uint8Array) return bytesText(value);
  if (Array.isArray(value)) return `[${value.map(jsonText).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const parts = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}: ${jsonText(part)}`);
    return `{${parts.join(", ")}}`;
  }
  return JSON.stringify(value) ?? String(value);
}

/** An element of an array: text as it is, all else as JSON. */
export function elementText(value: unknown): string {
  return typeof value === "string" ? value : jsonText(value);
}

/** Text of which a long one shows its beginning until it is asked for. */
export function longText(text: string): HTMLElement {
  if (text.length <= MOST_CHARACTERS) return h("span", {}, text);
  const element = h("span", {}, text.slice(0, MOST_CHARACTERS), "… ");
  const more = h("button", { type: "button" }, `show all ${count(text.length, "character")}`);
  more.addEventListener("click", () => element.replaceWith(h("span", { tabindex: -1 }, text)));
  element.append(more);
  return element;
}

function bytesText(value: Uint8Array): string {
  const shown = [...value.subarray(0, 32)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${count(value.length, "byte")}: ${shown}${value.length > 32 ? " …" : ""}`;
}
