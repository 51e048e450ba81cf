// `zarr.json` as the store serves it: what zarrita has to be told so that it reads what the store hands out, which
// are decoded chunks. Pure.

import type { ArrayLayout, CodecEntry } from "./arrayLayout.js";
import { encodeNonFinite } from "./attributes.js";
import { InvalidReferencesError, UnsupportedError, shown } from "./errors.js";
import { isObject, writeJson, type Json } from "./json.js";
import { arrayName, type Metadata, type Nodes } from "./nodes.js";
import { VALUES_CODEC, type ValuesConfiguration } from "./values.js";

/** The metadata document of a node as bytes. */
export function servedMetadata(nodes: Nodes, path: string): Uint8Array {
  const metadata = nodes.metadata(path);
  const attributes = encodeNonFinite((metadata["attributes"] ?? {}) as { [key: string]: Json });
  const served =
    metadata["node_type"] === "array"
      ? servedArray(metadata, nodes.layout(path), arrayName(path))
      : { zarr_format: 3, node_type: "group" };
  return new TextEncoder().encode(writeJson({ ...served, attributes }));
}

/** Whether zarrita fills chunks that were never written rightly by itself. */
export function isFilledByZarrita(layout: ArrayLayout, metadata: Metadata): boolean {
  const fill = metadata["fill_value"];
  if (layout.type.read !== undefined || layout.type.fromBytes !== undefined) return false;
  return !(typeof fill === "string" && fill.startsWith("0x")); // bits of a float
}

function servedArray(metadata: Metadata, layout: ArrayLayout, name: string): { [key: string]: Json } {
  const { type, toBytes } = layout; // which throws where chunks are not decoded here
  const isTurned = layout.axes.some((axis, place) => axis !== place);
  const isNative = type.read === undefined && type.fromBytes === undefined;
  const bytes: Json = isNative
    ? { name: "bytes", configuration: { endian: "little" } }
    : { name: VALUES_CODEC, configuration: valuesConfiguration(metadata, toBytes, name) };
  const order: Json[] = isTurned ? [{ name: "transpose", configuration: { order: [...layout.axes] } }] : [];
  const names = metadata["dimension_names"];
  return {
    zarr_format: 3,
    node_type: "array",
    shape: [...layout.shape],
    data_type: type.served,
    chunk_grid: { name: "regular", configuration: { chunk_shape: [...layout.chunkShape] } },
    chunk_key_encoding: { name: layout.encoding, configuration: { separator: layout.separator } },
    codecs: [...order, bytes],
    fill_value: servedFill(metadata["fill_value"], layout, name),
    ...(Array.isArray(names) ? { dimension_names: names } : {}),
  };
}

function valuesConfiguration(metadata: Metadata, toBytes: CodecEntry, name: string): { [key: string]: Json } {
  const configuration: ValuesConfiguration = {
    dataType: metadata["data_type"]!,
    isLittle: toBytes.configuration["endian"] !== "big",
    fill: strict(metadata["fill_value"] ?? null),
    name,
  };
  return { ...configuration };
}

function servedFill(fill: Json | undefined, layout: ArrayLayout, name: string): Json {
  const { served } = layout.type;
  if (served === "int64" || served === "uint64") {
    if (fill === "NaT") return String(-(2n ** 63n));
    if (fill === null || fill === undefined) throw noFill(name);
    checkFill(fill, served, name);
    return String(fill); // a number would lose digits in zarrita
  }
  if (served === "v2:object") return null; // missing chunks go through our codec
  if (fill === null || fill === undefined) throw noFill(name);
  checkFill(fill, served, name);
  if (served.startsWith("float") && typeof fill === "string" && fill.startsWith("0x")) return "NaN";
  return strict(fill);
}

/** Refuse a fill value of another type, which zarrita would take for NaN or 0. */
function checkFill(fill: Json, served: string, name: string): void {
  const isWhole = Number.isInteger(fill) || typeof fill === "bigint";
  const isRight =
    served === "bool"
      ? typeof fill === "boolean"
      : served === "string"
        ? typeof fill === "string"
        : served.startsWith("float")
          ? typeof fill === "number" || typeof fill === "bigint" || (typeof fill === "string" && FLOAT.test(fill))
          : isWhole && isWithin(BigInt(fill as number), served);
  if (isRight) return;
  throw new InvalidReferencesError(`${name} has fill_value ${shown(fill)} in its zarr.json; expected one of ${served}`);
}

const FLOAT = /^(NaN|-?Infinity|0x[0-9a-fA-F]+)$/;

function isWithin(value: bigint, integer: string): boolean {
  const bits = Number(/\d+$/.exec(integer)?.[0]);
  return value === (integer.startsWith("u") ? BigInt.asUintN(bits, value) : BigInt.asIntN(bits, value));
}

function noFill(name: string): UnsupportedError {
  return new UnsupportedError(`${name} has no fill value in its zarr.json; generate the references again`);
}

/** A fill value with NaN and infinities as Zarr v3 writes them. */
function strict(value: Json): Json {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return value.map(strict);
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, strict(item)]));
  return value;
}
