// The array-to-bytes codec by which the store gives zarrita elements that zarrita cannot decode: text, structs,
// complex numbers, bytes. It exists between the store and zarrita only; no document names it.

import { product } from "./arrayLayout.js";
import { elementType, type Value } from "./dataTypes.js";
import { DamagedSourceError, named } from "./errors.js";
import type { Json } from "./json.js";

/** Name under which the codec is registered with zarrita. */
export const VALUES_CODEC = "shadowzarr.values";

/** What the codec is told of an array. */
export interface ValuesConfiguration {
  /** The array's own data type. */
  dataType: Json;
  isLittle: boolean;
  /** The array's fill value as its `zarr.json` has it. */
  fill: Json;
  /** What messages call the array. */
  name: string;
}

interface ChunkOfValues {
  data: Value[];
  shape: number[];
  stride: number[];
}

/** The codec as zarrita's registry wants it. An empty chunk is one that was never written. */
export const valuesCodec = {
  fromConfig(configuration: unknown, meta: { shape: number[] }) {
    const { dataType, isLittle, fill, name } = configuration as ValuesConfiguration;
    const type = elementType(dataType, name);
    const count = product(meta.shape);
    const stride = meta.shape.map((_, axis) => product(meta.shape.slice(axis + 1)));
    return {
      kind: "array_to_bytes" as const,
      encode(): never {
        throw new Error("references are read-only");
      },
      decode(bytes: Uint8Array): ChunkOfValues {
        try {
          return { data: elements(bytes), shape: meta.shape, stride };
        } catch (error) {
          throw named(error, `a chunk of ${name}`);
        }
      },
    };

    function elements(bytes: Uint8Array): Value[] {
      if (bytes.length === 0) return new Array<Value>(count).fill(type.fill!(fill));
      if (type.fromBytes !== undefined) return variableLength(bytes, count, type.fromBytes);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      return Array.from({ length: count }, (_, i) => type.read!(view, i * type.nbytes!, isLittle));
    }
  },
};

/** Items as numcodecs writes them: their number, and each after its number of bytes, little-endian. */
function variableLength(bytes: Uint8Array, count: number, fromBytes: (bytes: Uint8Array) => Value): Value[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = (at: number): number => {
    if (at + 4 > bytes.length) throw new DamagedSourceError("a chunk of items of variable length is truncated");
    return view.getUint32(at, true);
  };
  const found = length(0);
  if (found !== count) throw new DamagedSourceError(`a chunk has ${found} items, not ${count}`);
  const items: Value[] = [];
  let at = 4;
  for (let i = 0; i < count; i++) {
    const end = at + 4 + length(at);
    if (end > bytes.length) throw new DamagedSourceError("a chunk of items of variable length is truncated");
    items.push(fromBytes(bytes.subarray(at + 4, end)));
    at = end;
  }
  if (at !== bytes.length) throw new DamagedSourceError(`a chunk has ${bytes.length - at} bytes after its last item`);
  return items;
}
