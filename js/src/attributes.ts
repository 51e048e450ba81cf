// The two conventions for attributes that JSON lacks: Non-Finite Attributes and Bytes Attributes (docs/format.md,
// "Attributes that JSON lacks"). Only nodes that register one are decoded.

import { fromBase64 } from "./base64.js";
import { isObject, type Json } from "./json.js";

/** An attribute's value, with NaN, infinities and bytes as themselves. */
export type AttributeValue = Json | Uint8Array | AttributeValue[] | { [key: string]: AttributeValue };

const REGISTRY_KEY = "zarr_conventions";
const NON_FINITE = {
  uuid: "2adc9aac-d676-4e93-8feb-903b6ae9e08a",
  name: "non-finite-attributes",
  description: "Numbers that are not finite are stored as strings",
};
const BYTES_UUID = "e6a456e4-34b3-4f16-9120-92f66bff2d30";
const LOOKS_NON_FINITE = /^(?:_str_)*(?:NaN|Infinity|-Infinity)$/;
const LOOKS_BYTES = /^(?:_str_)*base64:/;
const NUMBERS: Record<string, number> = { NaN: Number.NaN, Infinity: Infinity, "-Infinity": -Infinity };

/**
 * Attributes as they were before they were stored: NaN, infinities and bytes are themselves again.
 *
 * @param attributes - Those of a group or array, as zarrita or the store returns them; they are not changed.
 * @returns A copy without the registrations that were undone. A node that registers neither convention gets its
 * attributes unchanged.
 */
export function decodeAttributes(attributes: Readonly<Record<string, unknown>>): Record<string, AttributeValue> {
  const stored = attributes as Record<string, AttributeValue>;
  return undo(undo(stored, BYTES_UUID, decodeBytes), NON_FINITE.uuid, decodeNonFinite);
}

/** Attributes with bare NaN and infinities, of older writers, in the form that strict JSON has. */
export function encodeNonFinite(attributes: { [key: string]: Json }): { [key: string]: Json } {
  if (!holdsNonFinite(attributes)) return attributes;
  const { [REGISTRY_KEY]: registered, ...others } = attributes;
  const encoded = map(others, encode) as { [key: string]: Json };
  return { ...encoded, [REGISTRY_KEY]: [...(Array.isArray(registered) ? registered : []), NON_FINITE] };
}

function undo(
  attributes: Record<string, AttributeValue>,
  uuid: string,
  decode: (value: string) => AttributeValue,
): Record<string, AttributeValue> {
  const entries = attributes[REGISTRY_KEY];
  const names = (entry: unknown) => isObject(entry) && entry["uuid"] === uuid;
  if (!Array.isArray(entries) || !entries.some(names)) return { ...attributes };
  const others = (entries as AttributeValue[]).filter((entry) => !names(entry));
  const { [REGISTRY_KEY]: _, ...plain } = attributes;
  const decoded = map(plain, (value) => (typeof value === "string" ? decode(value) : value));
  return { ...(decoded as Record<string, AttributeValue>), ...(others.length ? { [REGISTRY_KEY]: others } : {}) };
}

function decodeNonFinite(text: string): AttributeValue {
  if (!LOOKS_NON_FINITE.test(text)) return text;
  return Object.hasOwn(NUMBERS, text) ? NUMBERS[text]! : text.slice("_str_".length);
}

function decodeBytes(text: string): AttributeValue {
  if (!LOOKS_BYTES.test(text)) return text;
  return text.startsWith("base64:") ? fromBase64(text.slice("base64:".length)) : text.slice("_str_".length);
}

function encode(value: AttributeValue): AttributeValue {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return typeof value === "string" && LOOKS_NON_FINITE.test(value) ? `_str_${value}` : value;
}

function holdsNonFinite(value: Json): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(holdsNonFinite);
}

function map(value: AttributeValue, change: (value: AttributeValue) => AttributeValue): AttributeValue {
  if (Array.isArray(value)) return value.map((item) => map(item, change));
  if (value instanceof Uint8Array || !isObject(value)) return change(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item, change)]));
}
