// What Python says that documents hold (tests/support/js_documents.py), and comparing with it; in Node and in pages.

import { fromBase64 } from "../src/base64.js";
import { openArray, readArray, type ReferenceStore } from "../src/index.js";

export interface ExpectedArray {
  shape: number[];
  /** Bytes of all values in base64, little-endian. */
  raw?: string;
  values?: Expected[];
  unsupported?: string;
}

export interface ExpectedDocument {
  name: string;
  url: string;
  arrays: Record<string, ExpectedArray>;
  attributes: Record<string, Expected>;
}

type Expected =
  | null
  | boolean
  | number
  | string
  | { fields: [string, Expected][] }
  | { list: Expected[] }
  | { bytes: string }
  | { float: string }
  | { bigint: string };

/** Compare all nodes of a store with what they should be. */
export async function compareAll(store: ReferenceStore, expected: ExpectedDocument): Promise<void> {
  sameText(allPaths(store).sort(), Object.keys(expected.attributes).sort(), "nodes");
  for (const [path, attributes] of Object.entries(expected.attributes)) {
    same(store.attributes(path), attributes, `attributes of /${path}`);
  }
  await Promise.all(Object.entries(expected.arrays).map(([path, array]) => compareArray(store, path, array)));
}

async function compareArray(store: ReferenceStore, path: string, expected: ExpectedArray): Promise<void> {
  const array = await openArray(store, path);
  sameText(array.shape, expected.shape, `shape of /${path}`);
  if (expected.unsupported !== undefined) return await refuses(readArray(array), path, expected.unsupported);
  const { data, shape } = await readArray(array);
  sameText(shape, expected.shape, `shape of the values of /${path}`);
  if (expected.raw === undefined) {
    sameText(data.length, expected.values!.length, `elements of /${path}`);
    expected.values!.forEach((value, i) => same(data[i], value, `/${path}, element ${i}`));
    return;
  }
  const wanted = fromBase64(expected.raw);
  const found = bytesOf(data);
  sameText(found.length, wanted.length, `bytes of /${path}`);
  const first = found.findIndex((byte, i) => byte !== wanted[i]);
  sameText(first, -1, `first byte in which /${path} differs`);
}

async function refuses(reading: Promise<unknown>, path: string, filter: string): Promise<void> {
  const error = await reading.then(
    () => undefined,
    (reason: Error) => reason,
  );
  const isRight = error?.name === "UnsupportedError" && error.message.includes(`/${path}`);
  check(isRight && error.message.includes(filter), `/${path}: ${error}; expected to be told of ${filter}`);
}

function bytesOf(data: ArrayLike<unknown>): Uint8Array {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Uint8Array.from(data as ArrayLike<boolean>, Number); // booleans
}

function same(found: unknown, expected: Expected, place: string): void {
  if (expected === null || typeof expected !== "object") {
    check(found === expected, `${place} is ${String(found)}, expected ${expected}`);
  } else if ("fields" in expected) {
    sameText(Object.keys(found as object).sort(), expected.fields.map(([name]) => name).sort(), `names of ${place}`);
    for (const [name, value] of expected.fields) same((found as never)[name], value, `${place}.${name}`);
  } else if ("list" in expected) {
    sameText((found as unknown[]).length, expected.list.length, `length of ${place}`);
    expected.list.forEach((value, i) => same((found as unknown[])[i], value, `${place}[${i}]`));
  } else if ("bytes" in expected) {
    check(found instanceof Uint8Array, `${place} is ${typeof found}, not bytes`);
    sameText([...(found as Uint8Array)], [...fromBase64(expected.bytes)], place);
  } else if ("bigint" in expected) {
    check(found === BigInt(expected.bigint), `${place} is ${String(found)}, expected ${expected.bigint}`);
  } else {
    check(Object.is(found, numberOf(expected.float)), `${place} is ${String(found)}, expected ${expected.float}`);
  }
}

/** A number by its bits in hexadecimal. */
function numberOf(bits: string): number {
  if (bits === "nan") return Number.NaN;
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

function sameText(found: unknown, expected: unknown, place: string): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  check(one === other, `${place}: ${one}, expected ${other}`);
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new Error(message);
}

function allPaths(store: ReferenceStore, path = ""): string[] {
  const below = store.children(path).map((name) => (path === "" ? name : `${path}/${name}`));
  return [path, ...below.flatMap((child) => allPaths(store, child))];
}
