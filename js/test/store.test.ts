import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { get, open, root as rootOf, slice } from "zarrita";

import {
  DamagedSourceError,
  InvalidReferencesError,
  openArray,
  openGroup,
  openNode,
  readArray,
  ReferenceStore,
  ShortReadError,
  UnsupportedError,
  type StoreOptions,
} from "../src/index.js";
import { FileServer } from "./rangeServer.js";

const DATA = Uint8Array.from({ length: 4000 }, (_, i) => (i * 7) % 253);
const server = new FileServer(DATA);
let root: string;

before(async () => {
  root = await server.start();
});
after(() => server.stop());
beforeEach(() => {
  server.requests.length = 0;
});

function array(shape: number[], chunk: number[], more: object = {}): string {
  return JSON.stringify({
    zarr_format: 3,
    node_type: "array",
    shape,
    data_type: "uint8",
    chunk_grid: { name: "regular", configuration: { chunk_shape: chunk } },
    chunk_key_encoding: { name: "default", configuration: { separator: "/" } },
    codecs: [{ name: "bytes" }],
    fill_value: 9,
    attributes: {},
    ...more,
  });
}

const GROUP = '{"zarr_format":3,"node_type":"group"}';

function store(refs: object, more: object = {}, options: StoreOptions = {}): ReferenceStore {
  const document = { version: 2, refs: { "zarr.json": GROUP, ...refs }, ...more };
  return ReferenceStore.fromDocument(document, { url: `${root}/`, retries: { attempts: 1 }, ...options });
}

async function values(of: ReferenceStore, path: string): Promise<unknown[]> {
  return Array.from((await readArray(await openArray(of, path))).data as ArrayLike<unknown>);
}

test("explicit references win over rules, and the first rule over the next", async () => {
  const rule = (offset: number, stop: number) => ({
    key: "a/c/{{i}}",
    url: "f",
    offset: String(offset),
    length: "2",
    dimensions: { i: { stop } },
  });
  const refs = { "a/zarr.json": array([8], [2]), "a/c/0": "base64:AQI=", "a/c/1": ["f", 0, 2] };
  const made = store(refs, { gen: [rule(10, 3), rule(20, 2)] });
  assert.deepEqual(await values(made, "a"), [1, 2, ...DATA.slice(0, 2), ...DATA.slice(10, 12), 9, 9]);
});

test("near chunks share a request", async () => {
  const refs: Record<string, unknown> = { "a/zarr.json": array([100], [1]) };
  for (let i = 0; i < 100; i++) refs[`a/c/${i}`] = ["f", 3 * i, 1];
  assert.deepEqual(
    await values(store(refs), "a"),
    Array.from({ length: 100 }, (_, i) => DATA[3 * i]),
  );
  assert.equal(server.requests.length, 1);
  await values(store(refs, {}, { maxMergeSize: 0 }), "a");
  assert.equal(server.requests.length, 101);
});

test("only what is not listed is filled; what cannot be read is an error", async () => {
  const refs = { "a/zarr.json": array([4], [2]), "a/c/0": ["f", 3999, 2], "a/c/1": ["f", 0, 2] };
  const part = await readArray(await openArray(store(refs), "a"), [slice(2, 4)]);
  assert.deepEqual([...(part.data as Uint8Array)], [...DATA.slice(0, 2)]);
  await assert.rejects(values(store(refs), "a"), (error: Error) => {
    assert.ok(error instanceof ShortReadError);
    assert.match(error.message, /chunk \(\d\) of array "\/a": http.*only 4000 bytes/);
    return true;
  });
  const empty = store({ "a/zarr.json": array([4], [2]) });
  assert.deepEqual(await values(empty, "a"), [9, 9, 9, 9]);
  await assert.rejects(async () => await empty.get("/b/c/0"), InvalidReferencesError);
  await assert.rejects(async () => await empty.get("/a/0"), InvalidReferencesError);
  assert.equal(await empty.get("/b/zarr.json"), undefined);
  assert.equal(await empty.get("/a/.zattrs"), undefined);
});

test("a short last chunk is padded where that is beyond the array", async () => {
  const last = (length: number) => ({
    "a/zarr.json": array([5], [4]),
    "a/c/0": ["f", 0, 4],
    "a/c/1": ["f", 3998, length],
  });
  assert.deepEqual((await values(store(last(1)), "a")).at(-1), DATA[3998]);
  assert.deepEqual((await values(store(last(4)), "a")).at(-1), DATA[3998]); // the file ends two bytes later
  await assert.rejects(values(store(last(0)), "a"), ShortReadError);
  await assert.rejects(values(store(last(5)), "a"), InvalidReferencesError);
  const inline = store({ "a/zarr.json": array([3], [4]), "a/c/0": "base64:AQID" });
  assert.deepEqual(await values(inline, "a"), [1, 2, 3]);
  const short = store({ "a/zarr.json": array([3], [4]), "a/c/0": "base64:AQI=" });
  await assert.rejects(values(short, "a"), ShortReadError);
});

test("selections take columns in their order", async () => {
  const refs = { "a/zarr.json": array([5, 3], [4, 3]), "a/c/0/0": ["f", 10, 28], "a/c/1/0": ["f", 38, 28] };
  const made = store(refs, {
    selections: {
      a: {
        record_size: 7,
        keep: [
          [4, 6],
          [1, 2],
        ],
      },
    },
  });
  const row = (n: number) => [4, 5, 1].map((column) => DATA[10 + 7 * n + column]);
  assert.deepEqual(await values(made, "a"), [0, 1, 2, 3, 4].flatMap(row));
});

test("a codec that is not known is named, and only asked for when a chunk is read", async () => {
  const codecs = [{ name: "bytes" }, { name: "imagecodecs_zfp", configuration: {} }];
  const made = store({ "a/zarr.json": array([1], [1], { codecs }), "a/c/0": "base64:AQ==" });
  assert.deepEqual((await openArray(made, "a")).shape, [1]);
  await assert.rejects(values(made, "a"), (error: Error) => {
    assert.ok(error instanceof UnsupportedError);
    assert.match(error.message, /chunk \(0\) of array "\/a": it needs the codec imagecodecs_zfp/);
    return true;
  });
  const filters = [{ id: 4, name: "szip", cd_values: [1] }];
  const own = [{ name: "bytes" }, { name: "shadowzarr.hdf5_filters", configuration: { filters } }];
  const szip = store({ "a/zarr.json": array([1], [1], { codecs: own }), "a/c/0": "base64:AQ==" });
  await assert.rejects(values(szip, "a"), /HDF5 filter szip/);
  const jpeg = store({ "a/zarr.json": array([1], [1], { codecs: [{ name: "imagecodecs_jpeg" }] }) });
  await assert.rejects(openArray(jpeg, "a"), /imagecodecs_jpeg/);
  for (const codecs of [[{ name: "imagecodecs_jpeg" }], [{ name: "imagecodecs_floatpred" }, { name: "numcodecs.zlib" }]]) {
    const placed = store({ "a/zarr.json": array([5], [2], { codecs }), "a/c/2": ["f", 7, 9] });
    assert.deepEqual(placed.chunkGrid("a"), [3]);
    assert.deepEqual(await placed.locate("a", [2]), { url: `${root}/f`, offset: 7, nbytes: 9 });
    await assert.rejects(openArray(placed, "a"), UnsupportedError);
  }
  const delta = [{ name: "imagecodecs_other", configuration: {} }, { name: "bytes" }];
  const filtered = store({ "a/zarr.json": array([1], [1], { codecs: delta }), "a/c/0": "base64:AQ==" });
  await assert.rejects(values(filtered, "a"), /imagecodecs_other/);
});

test("data types that are not known are named", async () => {
  for (const data_type of ["float8_e4m3", { name: "other" }, { name: "struct", configuration: { fields: [] } }]) {
    await assert.rejects(openArray(store({ "a/zarr.json": array([1], [1], { data_type }) }), "a"), UnsupportedError);
  }
});

test("a chunk that decodes to another size is damaged", async () => {
  const codecs = [{ name: "bytes" }, { name: "numcodecs.zlib", configuration: {} }];
  const deflated = async (bytes: number[]) => {
    const stream = new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(new CompressionStream("deflate"));
    return Buffer.from(await new Response(stream).arrayBuffer());
  };
  for (const bytes of [[1], [1, 2, 3]]) {
    const chunk = `base64:${(await deflated(bytes)).toString("base64")}`;
    const made = store({ "a/zarr.json": array([2], [2], { codecs }), "a/c/0": chunk });
    await assert.rejects(values(made, "a"), DamagedSourceError);
  }
});

test("items of variable length, also behind a codec that does not say how many bytes there are", async () => {
  const items = ["a", "", "é".repeat(70_000)].map((text) => new TextEncoder().encode(text));
  const uint32 = (number: number) => new Uint8Array(Uint32Array.of(number).buffer);
  const framed = new Blob([uint32(3), ...items.flatMap((item) => [uint32(item.length), item])] as BlobPart[]);
  const zipped = await new Response(framed.stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
  const codecs = [{ name: "vlen-utf8" }, { name: "gzip", configuration: { level: 5 } }];
  const chunk = `base64:${Buffer.from(zipped).toString("base64")}`;
  const text = { data_type: "string", fill_value: "" };
  const made = store({ "a/zarr.json": array([3], [3], { ...text, codecs }), "a/c/0": chunk });
  assert.deepEqual(await values(made, "a"), ["a", "", "é".repeat(70_000)]);
  const plain = `base64:${Buffer.from(await framed.arrayBuffer()).toString("base64")}`;
  for (const [shape, codec] of [
    [4, "vlen-utf8"],
    [3, "vlen-bytes"],
  ] as const) {
    const meta = { ...text, codecs: [codec], data_type: codec === "vlen-bytes" ? "variable_length_bytes" : "string" };
    const wrong = store({ "a/zarr.json": array([shape], [shape], meta), "a/c/0": plain });
    if (shape === 3) assert.deepEqual(await values(wrong, "a"), items);
    else await assert.rejects(values(wrong, "a"), /chunk of array "\/a": a chunk has 3 items, not 4/);
  }
});

test("fill values keep their bits", async () => {
  const fills: [string, unknown, unknown][] = [
    ["float32", "0x7fc00001", NaN],
    ["float64", "-Infinity", -Infinity],
    ["float16", "0x3c00", 1],
    ["bool", true, true],
    ["complex64", ["NaN", 1], { real: NaN, imag: 1 }],
    ["string", "none", "none"],
    ["variable_length_bytes", "AAE=", Uint8Array.of(0, 1)],
  ];
  for (const [data_type, fill_value, wanted] of fills) {
    const codecs = data_type.startsWith("var") ? ["vlen-bytes"] : data_type === "string" ? ["vlen-utf8"] : ["bytes"];
    const made = store({ "a/zarr.json": array([2], [2], { data_type, fill_value, codecs }) });
    assert.deepEqual(await values(made, "a"), [wanted, wanted], data_type);
  }
  for (const [data_type, fill] of [
    ["uint64", "18446744073709551615"],
    ["int64", "-9223372036854775808"],
  ] as const) {
    const text = array([1], [1], { data_type }).replace('"fill_value":9', `"fill_value":${fill}`);
    assert.deepEqual(await values(store({ "a/zarr.json": text }), "a"), [BigInt(fill)]);
  }
  const bits = await readArray(
    await openArray(store({ "a/zarr.json": array([1], [1], { data_type: "float32", fill_value: "0x7fc00001" }) }), "a"),
  );
  assert.equal(new Uint32Array((bits.data as Float32Array).buffer.slice(0))[0], 0x7fc00001);
});

test("names that URLs change, and the array beside them", async () => {
  const names = ["50% #1?", "a\\b", "a%41", "tab\t", "漢字 é", "~25", "c/zarr.json", "q:", "..."];
  const refs: Record<string, unknown> = { "aA/zarr.json": array([1], [1]), "aA/c/0": "base64:Kg==" };
  names.forEach((name, i) => {
    refs[`g/${name}/zarr.json`] = array([2], [1]);
    refs[`g/${name}/c/0`] = `base64:${Buffer.from([i + 1]).toString("base64")}`;
  });
  refs["g/zarr.json"] = GROUP;
  const made = store(refs);
  for (const [i, name] of names.entries()) assert.deepEqual(await values(made, `g/${name}`), [i + 1, 9], name);
  assert.deepEqual(
    made.children("g"),
    names.filter((name) => !name.includes("/")),
  );
  assert.deepEqual(await values(made, "aA"), [42]);
});

test("arrays without elements, and empty selections", async () => {
  const refs = { "a/zarr.json": array([0, 2], [1, 2], { data_type: "float32" }), "b/zarr.json": array([4], [2]) };
  const empty = await readArray(await openArray(store(refs), "a"));
  assert.deepEqual([empty.shape, empty.data, empty.stride], [[0, 2], new Float32Array(0), [2, 1]]);
  const none = await readArray(await openArray(store(refs), "b"), [slice(3, 3)]);
  assert.deepEqual(none.shape, [0]);
  const from = await readArray(await openArray(store(refs), "b"), [slice(-3, null, 2)]);
  assert.deepEqual(from.shape, [2]);
});

test("axes in another order come in C order", async () => {
  const order = (numbers: number[]) => ({ name: "transpose", configuration: { order: numbers } });
  const codecs = [order([2, 0, 1]), order([1, 0, 2]), { name: "bytes" }];
  const made = store({ "a/zarr.json": array([2, 3, 4], [2, 3, 4], { codecs }), "a/c/0/0/0": ["f", 0, 24] });
  // Stored axes are those of the second transposition of the first: 0, 2, 1.
  const wanted: number[] = [];
  for (let i = 0; i < 2; i++)
    for (let j = 0; j < 3; j++) for (let k = 0; k < 4; k++) wanted.push(DATA[12 * i + 3 * k + j]!);
  assert.deepEqual(await values(made, "a"), wanted);
  const row = await readArray(await openArray(made, "a"), [1, null, 2]);
  assert.deepEqual([row.shape, [...(row.data as Uint8Array)]], [[3], wanted.filter((_, i) => i >= 12 && i % 4 === 2)]);
});

test("zarrita's own functions work on it", async () => {
  const made = store({
    "g/zarr.json": GROUP,
    "g/a/zarr.json": array([4], [2], { attributes: { x: 1 } }),
    "g/a/c/1": ["f", 0, 2],
  });
  const opened = await open(rootOf(made).resolve("g/a"), { kind: "array" });
  assert.deepEqual(opened.attrs, { x: 1 });
  assert.deepEqual([...((await get(opened, null)).data as Uint8Array)], [9, 9, ...DATA.slice(0, 2)]);
  assert.equal((await openGroup(made, "g")).kind, "group");
  assert.equal((await openNode(made, "g/a")).kind, "array");
  await assert.rejects(openGroup(made, "g/a"));
});

test("documents that are none, or of a newer format, are refused with the place", () => {
  const refs = { "zarr.json": GROUP, "a/zarr.json": array([1], [1]) };
  const wrong: [unknown, RegExp][] = [
    [null, /expected an object/],
    [[], /expected an object/],
    [{ refs }, /version/],
    [{ version: 3, refs }, /version 3/],
    [{ version: true, refs }, /version true/],
    [{ version: 2, refs, format: 2 }, /format 2.*Update/],
    [{ version: 2, refs, requires: ["indexes", "shards"] }, /requires "shards".*Update/],
    [{ version: 1 }, /refs/],
    [{ version: 1, refs: { "/a": "x" } }, /begins with a slash/],
    [{ version: 1, refs: { a: ["u", 1] } }, /\[url, offset, size\]/],
    [{ version: 1, refs: { a: ["u", -1, 5] } }, /expected text/],
    [{ version: 1, refs: { a: ["u", 2 ** 53, 1] } }, /below 2\^53/],
    [{ version: 1, refs: { ".zgroup": "{}" } }, /Zarr v2/],
    [{ version: 1, refs, templates: { u: 1 } }, /templates/],
    [{ version: 2, refs, gen: [{ key: "a/c/{{i}}", url: "u", dimensions: { i: {} } }] }, /dimensions\["i"\]/],
    [{ version: 2, refs, gen: [{ key: "b/c/{{i}}", url: "u", dimensions: { i: { stop: 1 } } }] }, /refs does not hold/],
    [{ version: 2, refs, gen: [{ key: "a/c", url: "u", offset: "1", dimensions: {} }] }, /both or neither/],
    [
      { version: 2, refs, gen: [{ key: "a/c", url: "u", offset: "1", length: "f()", dimensions: {} }] },
      /only integers/,
    ],
    [{ version: 2, refs, selections: { a: { record_size: 4, keep: [[2, 5]] } } }, /selections/],
    [{ version: 2, refs, indexes: { b: { url: "u", index: "i" } } }, /refs does not hold/],
    [{ version: 2, refs, sources: { u: { size: "1" } } }, /sources/],
    [{ version: 2, refs, skipped: {} }, /expected a list/],
  ];
  for (const [document, message] of wrong) {
    assert.throws(
      () => ReferenceStore.fromDocument(document),
      (error: Error) => {
        assert.ok(error instanceof InvalidReferencesError, String(error));
        assert.match(error.message, message);
        return true;
      },
    );
  }
  const nulls = { version: 1, refs, templates: null, gen: null, requires: null, format: null, unknown: 1 };
  assert.deepEqual(ReferenceStore.fromDocument(nulls).children(), ["a"]);
});

test("references spelled otherwise than the array's chunks are refused", async () => {
  const odd = store({ "a/zarr.json": array([2], [1]), "a/c/0": "base64:AQ==", "a/c.1": "base64:AQ==" });
  await assert.rejects(values(odd, "a"), /refs\["a\/c.1"\] is no chunk/);
  const gen = [{ key: "a/c/{{i}}/0", url: "f", offset: "0", length: "1", dimensions: { i: { stop: 2 } } }];
  await assert.rejects(values(store({ "a/zarr.json": array([2], [1]) }, { gen }), "a"), /for 2 axes/);
});

test("a place that a page cannot read is an error of the chunk, not of the document", async () => {
  const made = store({ "a/zarr.json": array([1], [1]), "a/c/0": ["/data/a.h5", 0, 1] });
  assert.deepEqual(made.children(), ["a"]);
  await assert.rejects(values(made, "a"), /local file "\/data\/a.h5"/);
});

test("a signal ends what waits", async () => {
  const controller = new AbortController();
  const made = store({ "a/zarr.json": array([1], [1]), "a/c/0": ["f", 0, 1] });
  const opened = await openArray(made, "a");
  server.next.push(() => controller.abort(new Error("enough")));
  await assert.rejects(readArray(opened, null, { signal: controller.signal }), /enough/);
  assert.deepEqual(await values(made, "a"), [DATA[0]]);
});

test("what is given in place of references is named", async () => {
  server.next.push((_, response) => response.end(Buffer.from("\x89HDF\r\n\x1a\n", "latin1")));
  await assert.rejects(ReferenceStore.fromUrl(`${root}/a.json`), /an HDF5 file, not references/);
  server.next.push((_, response) => response.end("<html>"));
  await assert.rejects(ReferenceStore.fromUrl(`${root}/a.json`), /is not JSON/);
  server.next.push((_, response) => response.writeHead(404).end());
  await assert.rejects(ReferenceStore.fromUrl(`${root}/a`), /no references at .*\/a\/refs.json/);
});
