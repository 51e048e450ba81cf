// Documents and bytes that are damaged, or made to do harm: refused by name, in little memory, at no cost of the rest.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { checkStart } from "../src/answers.js";
import { zstd } from "../src/codecs/zstd.js";
import { named } from "../src/errors.js";
import {
  DamagedSourceError,
  InvalidReferencesError,
  openArray,
  readArray,
  ReadError,
  ReferenceStore,
  UnsupportedError,
} from "../src/index.js";
import { resolvePlace } from "../src/places.js";
import { ArrayReader } from "../viewer/chunkedArray.js";
import { openTable } from "../viewer/tableData.js";
import { displayUnit } from "../viewer/units.js";
import { viewsOf } from "../viewer/views.js";
import { Nodes } from "./nodes.js";
import { FileServer } from "./rangeServer.js";

const server = new FileServer(new Uint8Array());
let url: string;

before(async () => {
  url = await server.start();
});
after(() => server.stop());

const FOUR = { data_type: "float64", codecs: [{ name: "bytes", configuration: { endian: "little" } }], fill_value: 0 };
const VALUES = new Uint8Array(Float64Array.of(0, 1, 2, 3).buffer);

/** A document of one array, whose metadata or inline chunk are others than they ought to be. */
function withArray(changes: object, chunk: Uint8Array | null = VALUES): ReferenceStore {
  const nodes = new Nodes().inline("a", { ...FOUR, ...changes }, 4, chunk ?? VALUES);
  if (chunk === null) delete nodes.refs["a/c/0"];
  return nodes.open("http://localhost");
}

async function values(store: ReferenceStore): Promise<unknown[]> {
  return Array.from((await readArray(await openArray(store, "a"))).data);
}

/** A frame of runs of zeros; `announced` is what its header says, if it says it. */
function frame(blocks: number, nbytes: number, announced?: number): Uint8Array {
  const head = [0x28, 0xb5, 0x2f, 0xfd, announced === undefined ? 0 : 0x80, 0x38];
  const size = announced === undefined ? [] : [...new Uint8Array(Uint32Array.of(announced).buffer)];
  const runs = Array.from({ length: blocks }, (_, i) => {
    const header = (nbytes << 3) | 2 | (i === blocks - 1 ? 1 : 0);
    return [header & 255, (header >> 8) & 255, header >> 16, 0];
  });
  return Uint8Array.from([...head, ...size, ...runs.flat()]);
}

test("frames of Zstandard are no larger than a chunk, and as large as they say", async () => {
  const undo = async (data: Uint8Array, nbytes: number) => await zstd(data, {}, { nbytes, most: 2 * nbytes, itemsize: 1 });
  assert.deepEqual(await undo(frame(1, 32), 32), new Uint8Array(32));
  assert.deepEqual(await undo(frame(2, 16, 32), 32), new Uint8Array(32));
  const wide = frame(1, 32);
  wide[5] = 0xa0; // a window of a gigabyte
  for (const [data, told] of [
    [frame(1000, 128 * 1024), /announces 131072000 bytes/],
    [frame(1000, 128 * 1024, 32), /more than 32 bytes/],
    [frame(1, 16, 32), /has 16 bytes, and announces 32/],
    [frame(1, 32, 2 ** 31), /announces 2147483648/],
    [wide, /more memory/],
    [frame(1, 32).subarray(0, 8), /truncated/],
  ] as const) {
    await assert.rejects(undo(data, 32), (error: Error) => error instanceof DamagedSourceError && told.test(error.message));
  }
});

test("metadata of other types are refused by name, where they are", () => {
  for (const [changes, told] of [
    [{ shape: "abc" }, /shape "abc"/],
    [{ shape: [1.5] }, /shape \[1\.5\]/],
    [{ codecs: [null] }, /codec null/],
    [{ codecs: 5 }, /codecs 5/],
    [{ chunk_grid: [] }, /chunk_grid \[\]/],
    [{ attributes: { zarr_conventions: [{ uuid: "e6a456e4-34b3-4f16-9120-92f66bff2d30" }], x: "base64:!" } }, /base64/],
    [{ attributes: { x: JSON.parse(`${"[".repeat(3000)}${"]".repeat(3000)}`) } }, /too deeply/],
  ] as const) {
    const store = withArray(changes);
    const isIt = (error: Error) => error instanceof InvalidReferencesError && told.test(error.message);
    assert.throws(() => store.attributes("a"), isIt, String(told));
  }
});

test("fill values of another type are refused, not shown as NaN or 0", async () => {
  for (const fill of [{ a: 1 }, [1], "abc", true]) {
    await assert.rejects(values(withArray({ fill_value: fill }, null)), /fill_value .* expected one of float64/);
  }
  for (const fill of [300, -1, 1.5, "1"]) {
    await assert.rejects(values(withArray({ data_type: "uint8", fill_value: fill }, null)), /expected one of uint8/);
  }
  assert.deepEqual(await values(withArray({ fill_value: "-Infinity" }, null)), Array(4).fill(-Infinity));
  const large = { data_type: "uint64", fill_value: 0 };
  assert.deepEqual(await values(withArray(large, null)), [0n, 0n, 0n, 0n]);
});

test("chunks that no page can hold are refused, written or not", async () => {
  const grid = { name: "regular", configuration: { chunk_shape: [1e10] } };
  for (const chunk of [VALUES, null]) {
    await assert.rejects(values(withArray({ chunk_grid: grid }, chunk)), (error: Error) => {
      return error instanceof UnsupportedError && /80000000000 bytes/.test(error.message);
    });
  }
});

test("a damaged node has no view, and the others theirs", () => {
  const nodes = new Nodes()
    .group("s", { neurodata_type: "TimeSeries" })
    .array("s/data", Float64Array.of(1, 2), [2], [2])
    .group("t", { neurodata_type: "TimeSeries" })
    .array("t/data", Float64Array.of(1, 2), [2], [2]);
  nodes.refs["t/data/zarr.json"] = '{"zarr_fo';
  nodes.refs["u/zarr.json"] = '{"zarr_format":3,"node_type":"other"}';
  assert.deepEqual(viewsOf(nodes.open(url)).map(({ path }) => path), ["s"]);
});

test("columns that are shorter than their table have no rows beyond their end", async () => {
  const nodes = new Nodes()
    .group("t", { colnames: ["x", "y"] })
    .array("t/id", Int32Array.of(0, 1, 2, 3), [4], [4])
    .array("t/x", Float64Array.of(1, 2), [2], [4]) // whose chunk goes on beyond it
    .array("t/y", Float64Array.of(5, 6, 7), [3], [3])
    .array("t/y_index", Uint8Array.of(1, 3), [2], [4]);
  server.data = nodes.file;
  const table = await openTable(new ArrayReader(nodes.open(url)), "t");
  const cells = await Promise.all(table.columns.map((column) => column.cells(0, 4)));
  assert.deepEqual(cells[1], ["1", "2", "none: there are 2 rows", "none: there are 2 rows"]);
  assert.deepEqual(cells[2], ["[5]", "[6, 7]", "none: there are 2 rows", "none: there are 2 rows"]);
  const array = await new ArrayReader(nodes.open(url)).open("t/x");
  await assert.rejects(array.range(1, 3), /no elements up to 3/);
});

test("units have the names of no properties", () => {
  assert.deepEqual(displayUnit("constructor", 1), { factor: 1, unit: "constructor" });
  assert.deepEqual(displayUnit("__proto__", 1), { factor: 1, unit: "__proto__" });
});

test("an answer that says it is another part is refused", () => {
  const answer = (range?: string) => new Response("", { headers: range === undefined ? {} : { "Content-Range": range } });
  const asked = { offset: 10, length: 5 };
  checkStart("https://a/b", asked, answer("bytes 10-14/100"));
  checkStart("https://a/b", asked, answer()); // which servers do not show to every page
  for (const range of ["bytes 0-4/100", "bytes */100", "nonsense"]) {
    assert.throws(() => checkStart("https://a/b?key=1", asked, answer(range)), (error: Error) => {
      return error instanceof ReadError && /bytes from 10 on, the answer says/.test(error.message) && !/key/.test(error.message);
    });
  }
});

test("addresses with a user, and buckets that are none, are refused without being shown", () => {
  const isIt = (error: Error) => error instanceof UnsupportedError && !/secret|sig/.test(error.message);
  assert.throws(() => resolvePlace("https://me:secret@a.org/b?sig=1", undefined), isIt);
  for (const place of ["s3://a@b/k", "s3://a#/k"]) {
    assert.throws(() => resolvePlace(place, undefined), /names no bucket/, place);
  }
});

test("what could not be read is said once", () => {
  const error = new ReadError("https://a/b: the server answered 400");
  assert.equal((named(error, "https://a/b") as Error).message, error.message);
  assert.equal((named(error, "chunk (0)") as Error).message, `chunk (0): ${error.message}`);
});
