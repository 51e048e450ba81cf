// Small documents for tests: groups, and arrays whose chunks lie one after another in one file.

import { ReferenceStore, type StoreOptions } from "../src/index.js";

type Numbers = Float64Array | Float32Array | Int32Array | Int16Array | Uint16Array | Uint8Array | BigInt64Array;

const TYPES: Record<string, string> = {
  Float64Array: "float64",
  Float32Array: "float32",
  Int32Array: "int32",
  Int16Array: "int16",
  Uint16Array: "uint16",
  Uint8Array: "uint8",
  BigInt64Array: "int64",
};

/** Puts nodes together, and the bytes of the file that they refer to. */
export class Nodes {
  readonly refs: Record<string, unknown> = { "zarr.json": group({}) };
  readonly #parts: Uint8Array[] = [];
  #length = 0;

  group(path: string, attributes: object = {}): this {
    this.refs[`${path}/zarr.json`] = group(attributes);
    return this;
  }

  /** An array with its values in the file. */
  array(path: string, values: Numbers, shape: number[], chunks: number[], attributes: object = {}): this {
    const metadata = {
      data_type: TYPES[values.constructor.name],
      codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    };
    this.refs[`${path}/zarr.json`] = array(shape, chunks, { ...metadata, fill_value: 0, attributes });
    const Kind = values.constructor as new (length: number) => Numbers;
    const grid = shape.map((extent, axis) => Math.ceil(extent / chunks[axis]!));
    for (const place of product(grid)) {
      const chunk = new Kind(chunks.reduce((a, b) => a * b, 1));
      for (const [i, within] of product(chunks).entries()) {
        const index = within.map((at, axis) => place[axis]! * chunks[axis]! + at);
        if (index.some((at, axis) => at >= shape[axis]!)) continue;
        chunk[i] = values[index.reduce((sum, at, axis) => sum * shape[axis]! + at, 0)]!;
      }
      const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      this.refs[`${path}/${["c", ...place].join("/")}`] = ["f", this.#length, bytes.length];
      this.#parts.push(bytes);
      this.#length += bytes.length;
    }
    return this;
  }

  /** An array of text or structs with its values in the document. */
  inline(path: string, metadata: object, length: number, bytes: Uint8Array): this {
    this.refs[`${path}/zarr.json`] = array([length], [length], metadata);
    this.refs[`${path}/c/0`] = `base64:${Buffer.from(bytes).toString("base64")}`;
    return this;
  }

  text(path: string, items: string[], attributes: object = {}): this {
    const encoded = items.map((item) => Buffer.from(item));
    const length = (number: number) => Buffer.from(Uint32Array.of(number).buffer);
    const bytes = Buffer.concat([length(items.length), ...encoded.flatMap((item) => [length(item.length), item])]);
    const metadata = { data_type: "string", codecs: [{ name: "vlen-utf8" }], fill_value: "", attributes };
    return this.inline(path, metadata, items.length, bytes);
  }

  /** The file that chunks are in. */
  get file(): Uint8Array {
    return Buffer.concat(this.#parts);
  }

  open(url: string, options: StoreOptions = {}): ReferenceStore {
    const retries = { attempts: 1 };
    return ReferenceStore.fromDocument({ version: 1, refs: this.refs }, { url: `${url}/`, retries, ...options });
  }
}

function group(attributes: object): string {
  return JSON.stringify({ zarr_format: 3, node_type: "group", attributes });
}

function array(shape: number[], chunks: number[], more: object): string {
  return JSON.stringify({
    zarr_format: 3,
    node_type: "array",
    shape,
    chunk_grid: { name: "regular", configuration: { chunk_shape: chunks } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    ...more,
  });
}

/** All places of a grid in C order. */
function product(grid: readonly number[]): number[][] {
  return grid.reduce<number[][]>(
    (places, extent) => places.flatMap((place) => Array.from({ length: extent }, (_, i) => [...place, i])),
    [[]],
  );
}
