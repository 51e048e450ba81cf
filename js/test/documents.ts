// What Python says that documents hold (tests/support/js_documents.py), and comparing with it.

import assert from "node:assert/strict";

import { openArray, readArray, type ReferenceStore } from "../src/index.js";

export interface ExpectedArray {
  shape: number[];
  file?: string;
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
  assert.deepEqual(allPaths(store).sort(), Object.keys(expected.attributes).sort());
  for (const [path, attributes] of Object.entries(expected.attributes)) {
    same(store.attributes(path), attributes, `attributes of /${path}`);
  }
  await Promise.all(Object.entries(expected.arrays).map(([path, array]) => compareArray(store, path, array)));
}

async function compareArray(store: ReferenceStore, path: string, expected: ExpectedArray): Promise<void> {
  const array = await openArray(store, path);
  assert.deepEqual(array.shape, expected.shape, `shape of /${path}`);
  if (expected.unsupported !== undefined) {
    await assert.rejects(readArray(array), (error: Error) => {
      assert.equal(error.name, "UnsupportedError", `/${path}: ${error.message}`);
      assert.match(error.message, new RegExp(`/${path}.*${expected.unsupported}`));
      return true;
    });
    return;
  }
  const { data, shape } = await readArray(array);
  assert.deepEqual(shape, expected.shape);
  if (expected.file === undefined) {
    assert.equal(data.length, expected.values!.length, `elements of /${path}`);
    expected.values!.forEach((value, i) => same(data[i], value, `/${path}, element ${i}`));
    return;
  }
  const wanted = new Uint8Array(await (await fetch(expected.file)).arrayBuffer());
  const found = bytesOf(data);
  assert.equal(found.length, wanted.length, `bytes of /${path}`);
  const first = found.findIndex((byte, i) => byte !== wanted[i]);
  assert.equal(first, -1, `/${path} differs at byte ${first}`);
}

/** Bytes of numbers; a not-a-number is one like another. */
function bytesOf(data: ArrayLike<unknown>): Uint8Array {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return Uint8Array.from(data as ArrayLike<boolean>, Number); // booleans
}

function same(found: unknown, expected: Expected, place: string): void {
  if (expected === null || typeof expected !== "object") {
    assert.equal(found, expected, place);
  } else if ("fields" in expected) {
    const names = expected.fields.map(([name]) => name);
    assert.deepEqual(Object.keys(found as object).sort(), names.sort(), place);
    for (const [name, value] of expected.fields) same((found as never)[name], value, `${place}.${name}`);
  } else if ("list" in expected) {
    assert.equal((found as unknown[]).length, expected.list.length, place);
    expected.list.forEach((value, i) => same((found as unknown[])[i], value, `${place}[${i}]`));
  } else if ("bytes" in expected) {
    assert.ok(found instanceof Uint8Array, `${place} is ${typeof found}, not bytes`);
    assert.equal(Buffer.from(found).toString("base64"), expected.bytes, place);
  } else if ("bigint" in expected) {
    assert.equal(found, BigInt(expected.bigint), place);
  } else if (expected.float === "nan") {
    assert.ok(Number.isNaN(found), place);
  } else {
    assert.ok(Object.is(found, Buffer.from(expected.float, "hex").readDoubleBE()), `${place} is ${found}`);
  }
}

function allPaths(store: ReferenceStore, path = ""): string[] {
  const below = store.children(path).map((name) => (path === "" ? name : `${path}/${name}`));
  return [path, ...below.flatMap((child) => allPaths(store, child))];
}
