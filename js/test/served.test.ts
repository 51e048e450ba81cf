// What the store does with documents that Python wrote, beyond their values: how many requests it takes, and what
// becomes of chunks that are damaged. Served by the Python suite (tests/js).

import assert from "node:assert/strict";
import { test } from "node:test";

import { slice } from "zarrita";

import { decodeChunk } from "../src/decodeChunk.js";
import { chunkNbytes } from "../src/arrayLayout.js";
import { Nodes } from "../src/nodes.js";
import { openArray, readArray, ReferenceStore, ShadowzarrError, SourceChangedError } from "../src/index.js";
import type { ExpectedDocument } from "./documents.js";

const place = process.env["SHADOWZARR_DOCUMENTS"];
const skip = place === undefined && "run by tests/js, which serves documents";
const documents = place === undefined ? [] : ((await (await fetch(place)).json()) as ExpectedDocument[]);
const urlOf = (name: string) => documents.find((document) => document.name === name)!.url;

function counting(): [typeof fetch, string[]] {
  const asked: string[] = [];
  return [
    async (input, init) => {
      asked.push(String(input));
      return await fetch(input, init);
    },
    asked,
  ];
}

test("one chunk of an indexed array takes three requests, all of them one index chunk", { skip }, async () => {
  const [fetch, asked] = counting();
  const store = await ReferenceStore.fromUrl(urlOf("layouts"), { fetch });
  const array = await openArray(store, "indexed");
  await readArray(array, [slice(0, 1), slice(0, 1)]);
  assert.equal(asked.length, 3);
  assert.match(asked[1]!, /\/index\/indexed-[0-9a-f]{16}\/c\/0\/0\/0$/);
  await Promise.all([readArray(array), readArray(array)]);
  assert.equal(asked.filter((url) => url.includes("/index/")).length, 1);
});

test("an index chunk that is not there is an error, never fill values", { skip }, async () => {
  const fetched: typeof fetch = async (input, init) =>
    String(input).includes("/index/") ? new Response("", { status: 404 }) : await fetch(input, init);
  const store = await ReferenceStore.fromUrl(urlOf("layouts"), { fetch: fetched });
  await assert.rejects(readArray(await openArray(store, "indexed")), /chunk index of array "\/indexed" cannot be read/);
});

test("an index chunk that was asked for by one who gave up is read for the others", { skip }, async () => {
  const store = await ReferenceStore.fromUrl(urlOf("layouts"));
  const array = await openArray(store, "indexed");
  const controller = new AbortController();
  const given = readArray(array, [0, 0], { signal: controller.signal });
  const other = readArray(array, [1, 1]);
  controller.abort(new Error("enough"));
  await assert.rejects(given, /enough/);
  assert.equal((await other).data.length, 1);
});

test("a file that was replaced is noticed", { skip }, async () => {
  const document = await (await fetch(`${urlOf("filters.json")}`)).json();
  for (const entry of Object.values(document.sources) as { size: number; etag: string }[]) entry.etag = '"other"';
  const store = ReferenceStore.fromDocument(document, { url: urlOf("filters.json") });
  await assert.rejects(readArray(await openArray(store, "zstd")), SourceChangedError);
  const unchecked = ReferenceStore.fromDocument(document, { url: urlOf("filters.json"), validateSources: false });
  await readArray(await openArray(unchecked, "zstd"));
});

test("damaged chunks give an error, or values of their own size", { skip }, async () => {
  const document = await (await fetch(urlOf("filters.json"))).json();
  const nodes = new Nodes(document);
  let [chunks, errors] = [0, 0];
  let seed = 5;
  const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (const path of nodes.children("")) {
    const keys = Object.keys(document.refs).filter((key) => key.startsWith(`${path}/c/`));
    const first = keys.map((key) => document.refs[key]).find(Array.isArray);
    if (first === undefined) continue; // held in the document
    const [url, offset, length] = first;
    chunks++;
    const file = url.replace("{{u0}}", document.templates.u0);
    const range = { Range: `bytes=${offset}-${offset + length - 1}` };
    const stored = new Uint8Array(await (await fetch(file, { headers: range })).arrayBuffer());
    const layout = nodes.layout(path);
    for (let round = 0; round < 40; round++) {
      const damaged = stored.slice(0, round % 2 ? stored.length : next(stored.length));
      if (round % 2) for (let i = 0; i <= round % 5; i++) damaged[next(damaged.length)] = next(256);
      try {
        const values = await decodeChunk(damaged, layout);
        assert.equal(values.length, chunkNbytes(layout));
      } catch (error) {
        assert.ok(error instanceof ShadowzarrError, `${path}: ${error}`);
        errors++;
      }
    }
  }
  assert.ok(chunks > 30 && errors > 20 * chunks, `${errors} of ${40 * chunks}`);
});
