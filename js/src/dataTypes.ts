// Zarr v3 data types: how wide their elements are, what zarrita is told they are, and how those that zarrita lacks
// become values of JavaScript (docs/format.md; Zarr v3 core, "Data types"). Pure.

import { fromBase64 } from "./base64.js";
import { DamagedSourceError, InvalidReferencesError, UnsupportedError, shown } from "./errors.js";
import { isObject, type Json } from "./json.js";

/** A complex number. */
export interface Complex {
  real: number;
  imag: number;
}

/** An element of an array whose data type zarrita lacks; of a struct by its fields. */
export type Value = number | bigint | boolean | string | Uint8Array | Complex | { [field: string]: Value };

/** How the elements of an array are stored and read. */
export interface ElementType {
  /** What zarrita is told the data type is. */
  readonly served: string;
  /** Bytes of an element; undefined for one of variable length. */
  readonly nbytes: number | undefined;
  /** Bytes that byte order turns around; 1 when it does not matter. Only for types that zarrita has. */
  readonly word: number;
  /** Element at an offset; undefined for types that zarrita has. */
  readonly read?: (view: DataView, offset: number, isLittle: boolean) => Value;
  /** An element of variable length from its bytes. */
  readonly fromBytes?: (bytes: Uint8Array) => Value;
  /** The value of a fill value as `zarr.json` has it; only for types that zarrita lacks. */
  readonly fill?: (fill: Json) => Value;
}

type Read = NonNullable<ElementType["read"]>;

const NATIVE: Record<string, number> = {
  bool: 1,
  int8: 1,
  int16: 2,
  int32: 4,
  int64: 8,
  uint8: 1,
  uint16: 2,
  uint32: 4,
  uint64: 8,
  float32: 4,
  float64: 8,
};

const NUMBERS: Record<string, Read> = {
  bool: (view, at) => view.getUint8(at) !== 0,
  int8: (view, at) => view.getInt8(at),
  int16: (view, at, isLittle) => view.getInt16(at, isLittle),
  int32: (view, at, isLittle) => view.getInt32(at, isLittle),
  int64: (view, at, isLittle) => view.getBigInt64(at, isLittle),
  uint8: (view, at) => view.getUint8(at),
  uint16: (view, at, isLittle) => view.getUint16(at, isLittle),
  uint32: (view, at, isLittle) => view.getUint32(at, isLittle),
  uint64: (view, at, isLittle) => view.getBigUint64(at, isLittle),
  float16: (view, at, isLittle) => float16(view.getUint16(at, isLittle)),
  float32: (view, at, isLittle) => view.getFloat32(at, isLittle),
  float64: (view, at, isLittle) => view.getFloat64(at, isLittle),
};

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Look up a data type.
 *
 * @param dataType - As `zarr.json` has it.
 * @param name - What messages call the array.
 * @throws UnsupportedError for one that is not known here.
 */
export function elementType(dataType: Json | undefined, name: string): ElementType {
  const kind = typeof dataType === "string" ? dataType : isObject(dataType) ? dataType["name"] : undefined;
  const configuration = isObject(dataType) && isObject(dataType["configuration"]) ? dataType["configuration"] : {};
  if (typeof kind !== "string") {
    throw new InvalidReferencesError(
      `${name} has data_type ${shown(dataType)}; expected a name, or an object with one`,
    );
  }
  if (Object.hasOwn(NATIVE, kind)) return { served: kind, nbytes: NATIVE[kind], word: NATIVE[kind]! };
  const found = other(kind, configuration, name);
  if (found !== undefined) return found;
  throw new UnsupportedError(
    `${name} has the data type ${shown(dataType)}, which cannot be decoded in JavaScript here`,
  );
}

function other(kind: string, configuration: { [key: string]: Json }, name: string): ElementType | undefined {
  switch (kind) {
    case "float16":
      return { served: "float32", nbytes: 2, word: 2 }; // every half is a float
    case "numpy.datetime64":
    case "numpy.timedelta64":
      return { served: "int64", nbytes: 8, word: 8 };
    case "complex64":
      return complex("float32", 4);
    case "complex128":
      return complex("float64", 8);
    case "string":
      return { served: "string", nbytes: undefined, word: 1, fromBytes: text, fill: String };
    case "bytes":
    case "variable_length_bytes":
      return { served: "v2:object", nbytes: undefined, word: 1, fromBytes: (bytes) => bytes.slice(), fill: bytesFill };
    case "fixed_length_utf32":
      return fixedText(length(configuration, name, 4));
    case "null_terminated_bytes":
      return fixedBytes(length(configuration, name, 1), true);
    case "raw_bytes":
      return fixedBytes(length(configuration, name, 1), false);
    case "struct":
      return struct(configuration["fields"], name);
  }
  const bits = /^r(\d+)$/.exec(kind)?.[1];
  return bits !== undefined && Number(bits) % 8 === 0 ? fixedBytes(Number(bits) / 8, false) : undefined;
}

function complex(part: "float32" | "float64", size: number): ElementType {
  const read = NUMBERS[part] as (view: DataView, at: number, isLittle: boolean) => number;
  return {
    served: "v2:object",
    nbytes: 2 * size,
    word: size,
    read: (view, at, isLittle) => ({ real: read(view, at, isLittle), imag: read(view, at + size, isLittle) }),
    fill: (fill) => {
      const [real, imag] = Array.isArray(fill) ? fill : [fill, 0];
      return { real: floatFill(real ?? 0, size), imag: floatFill(imag ?? 0, size) };
    },
  };
}

function fixedText(nbytes: number): ElementType {
  const read: Read = (view, at, isLittle) => {
    let end = nbytes;
    while (end > 0 && view.getUint32(at + end - 4, isLittle) === 0) end -= 4;
    let result = "";
    for (let i = 0; i < end; i += 4) {
      const point = view.getUint32(at + i, isLittle);
      if (point > 0x10ffff) throw new DamagedSourceError(`text holds ${point}, which is no character`);
      result += String.fromCodePoint(point);
    }
    return result;
  };
  return { served: "string", nbytes, word: 4, read, fill: String };
}

function fixedBytes(nbytes: number, isTerminated: boolean): ElementType {
  const read: Read = (view, at) => {
    let end = nbytes;
    while (isTerminated && end > 0 && view.getUint8(at + end - 1) === 0) end--;
    return new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset + at, end).slice();
  };
  const fill = (value: Json): Value => {
    const bytes = bytesFill(value) as Uint8Array;
    if (isTerminated || bytes.length === nbytes) return bytes;
    const padded = new Uint8Array(nbytes);
    padded.set(bytes.subarray(0, nbytes));
    return padded;
  };
  return { served: "v2:object", nbytes, word: 1, read, fill };
}

function struct(fields: Json | undefined, name: string): ElementType {
  if (!Array.isArray(fields) || fields.length === 0) {
    throw new UnsupportedError(
      `${name} has a struct with fields ${shown(fields)}; expected name and data_type of each`,
    );
  }
  const parts: { name: string; offset: number; read: Read; fill: (fill: Json) => Value }[] = [];
  let nbytes = 0;
  for (const field of fields) {
    if (!isObject(field) || typeof field["name"] !== "string") {
      throw new UnsupportedError(`${name} has a struct with the field ${shown(field)}; expected name and data_type`);
    }
    const found = field["data_type"];
    const type = part(found, name);
    if (type === undefined) throw new UnsupportedError(`${name} has a struct with a field of ${shown(found)}`);
    parts.push({ name: field["name"], offset: nbytes, read: type.read, fill: type.fill });
    nbytes += type.nbytes;
  }
  return {
    served: "v2:object",
    nbytes,
    word: 0,
    read: (view, at, isLittle) =>
      Object.fromEntries(parts.map((field) => [field.name, field.read(view, at + field.offset, isLittle)])),
    fill: (fill) =>
      Object.fromEntries(parts.map((field) => [field.name, field.fill(isObject(fill) ? (fill[field.name] ?? 0) : 0)])),
  };
}

/** A data type as a field has it: read element by element whether zarrita has it or not. */
function part(
  dataType: Json | undefined,
  name: string,
): { nbytes: number; read: Read; fill: (fill: Json) => Value } | undefined {
  if (typeof dataType === "string" && Object.hasOwn(NUMBERS, dataType)) {
    const nbytes = NATIVE[dataType] ?? 2;
    return { nbytes, read: NUMBERS[dataType]!, fill: (fill) => numberFill(dataType, fill, nbytes) };
  }
  const type = elementType(dataType, name);
  if (type.nbytes === undefined) return undefined;
  if (type.served === "int64")
    return { nbytes: 8, read: NUMBERS["int64"]!, fill: (fill) => numberFill("int64", fill, 8) };
  return type.read === undefined || type.fill === undefined
    ? undefined
    : { nbytes: type.nbytes, read: type.read, fill: type.fill };
}

function numberFill(kind: string, fill: Json, nbytes: number): Value {
  if (kind === "bool") return Boolean(fill);
  if (kind === "int64" || kind === "uint64") return BigInt(fill as number);
  return kind.startsWith("float") ? floatFill(fill, nbytes) : Number(fill);
}

/** A floating-point fill value: a number, one of Zarr's words, or its bits in hexadecimal. */
export function floatFill(fill: Json, nbytes: number): number {
  if (typeof fill !== "string") return Number(fill);
  if (!/^0x[0-9a-fA-F]+$/.test(fill)) return Number(fill); // NaN, Infinity, -Infinity
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(fill) << BigInt(64 - 8 * nbytes));
  return NUMBERS[`float${8 * nbytes}`]!(view, 0, false) as number;
}

/** The number that 16 bits are in IEEE 754. */
export function float16(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

function text(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new DamagedSourceError("text is not UTF-8");
  }
}

function bytesFill(fill: Json): Value {
  if (Array.isArray(fill)) return Uint8Array.from(fill as number[]);
  return fromBase64(typeof fill === "string" ? fill : "");
}

function length(configuration: { [key: string]: Json }, name: string, unit: number): number {
  const nbytes = configuration["length_bytes"];
  if (!Number.isSafeInteger(nbytes) || (nbytes as number) < 1 || (nbytes as number) % unit !== 0) {
    throw new InvalidReferencesError(`${name} has text or bytes of length_bytes ${shown(nbytes)}`);
  }
  return nbytes as number;
}
