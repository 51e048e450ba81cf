// The page of the catalogue: addresses, search, numbers and rows; what needs no browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { archivePage } from "../site/archives.js";
import { rowsOf, type Asset } from "../site/assets.js";
import { safeAddress } from "../site/dom.js";
import { age, bytes, count, shape } from "../site/format.js";
import { assetHash, catalogHash, NO_QUERY, parseRoute } from "../site/route.js";
import { search } from "../site/search.js";
import { cornerOf } from "../site/valuesBox.js";
import { jsonText } from "../site/valueText.js";
import { visible } from "../viewer/visible.js";

function asset(path: string, changes: Partial<Asset> = {}): Asset {
  const nothing = { problem: null, references: null, references_bytes: null, indexed_at: null, species: null };
  const lists = { types: null, experimenters: null, keywords: null, verification: null, url: null };
  const place = { dandiset: "000001", version: "draft", path, size: 1, state: "indexed" as const };
  return { ...nothing, ...lists, ...place, ...changes } as Asset;
}

test("addresses of assets keep any path, and come back", () => {
  for (const path of ["sub-01/a.nwb", "a b/%2F?#&=.nwb", "日本/ü.nwb", "__proto__", "<b>"]) {
    const place = { dandiset: "000001", version: "0.1.0", path };
    const hash = assetHash(place, "general/x y?&", "traces");
    assert.deepEqual(parseRoute(hash), { page: "asset", place, node: "general/x y?&", view: "traces" });
    assert.match(hash, /^#\/asset\/[^/]+\/[^/]+\/[^/]+\?/);
  }
});

test("addresses of searches leave off what is usual, and whatever is no address is the catalogue", () => {
  assert.equal(catalogHash(NO_QUERY), "#/");
  const query = { ...NO_QUERY, q: "a & b", page: 3, sort: "-size" };
  assert.deepEqual(parseRoute(catalogHash(query)), { page: "catalog", query });
  for (const hash of ["", "#", "#/asset/a", "#/asset/a/b/%E0", "#/?page=x&page=-1", "#javascript:alert(1)"]) {
    assert.deepEqual(parseRoute(hash), { page: "catalog", query: NO_QUERY }, hash);
  }
});

test("all words have to be there, in any of what is told", () => {
  const assets = [
    asset("sub-01/one.nwb", { species: "Mus musculus", types: ["ElectricalSeries"] }),
    asset("sub-02/two.nwb", { species: "Rattus", state: "failed", problem: "it is cut" }),
    asset("sub-03/three.nwb", { dandiset: "000002", experimenters: ["Example, Ada"], verification: "full" }),
  ];
  const paths = (query: object) => search(assets, { ...NO_QUERY, ...query }).map(({ path }) => path.slice(7, -4));
  assert.deepEqual(paths({}), ["one", "two", "three"]);
  assert.deepEqual(paths({ q: "MUS electrical" }), ["one"]);
  assert.deepEqual(paths({ q: "mus cut" }), []);
  assert.deepEqual(paths({ q: "cut" }), ["two"]);
  assert.deepEqual(paths({ q: "ada" }), ["three"]);
  assert.deepEqual(paths({ dandiset: "000001/draft" }), ["one", "two"]);
  assert.deepEqual(paths({ type: "ElectricalSeries" }), ["one"]);
  assert.deepEqual(paths({ state: "failed" }), ["two"]);
  assert.deepEqual(paths({ verification: "none" }), ["one", "two"]);
  assert.deepEqual(paths({ sort: "state" }), ["two", "one", "three"]);
  assert.deepEqual(paths({ sort: "-path" }), ["three", "two", "one"]);
  for (const sort of ["__proto__", "constructor", "nothing"]) assert.equal(paths({ sort }).length, 3);
});

test("assets of equal value stay in their order, up and down", () => {
  const assets = [1, 3, 3, 2].map((size, i) => asset(`${i}`, { size }));
  const paths = (sort: string) => search(assets, { ...NO_QUERY, sort }).map(({ path }) => path);
  assert.deepEqual(paths("size"), ["0", "3", "1", "2"]);
  assert.deepEqual(paths("-size"), ["1", "2", "3", "0"]);
});

test("columns become rows", () => {
  const columns = {
    path: ["a", "b", "c"],
    species: { values: ["Mus"], codes: [0, null, 0] },
    types: { values: ["A", "B"], codes: [[1, 0], null, []] },
  };
  assert.deepEqual(rowsOf(columns, 3), [
    { path: "a", species: "Mus", types: ["B", "A"] },
    { path: "b", species: null, types: null },
    { path: "c", species: "Mus", types: [] },
  ]);
});

test("only addresses of http(s) are followed", () => {
  const base = "https://host.test/out/";
  assert.equal(safeAddress("report.html", base), "https://host.test/out/report.html");
  assert.equal(safeAddress("http://127.0.0.1:1/a", base), "http://127.0.0.1:1/a");
  for (const text of [
    ...["javascript:alert(1)", " JaVa\tscript:alert(1)", "data:text/html,<script>", "vbscript:x", "file:///etc/passwd"],
    ...["blob:https://a/b", "https://user:secret@a.test/", "http://[", "ftp://a.test/"],
  ]) {
    assert.equal(safeAddress(text, base), undefined, text);
  }
});

test("archives that are known have a page of an asset's folder", () => {
  const known = asset("sub-01/a b.nwb", { url: "https://api.dandiarchive.org/api/assets/x/download/" });
  assert.equal(archivePage(known, known.path), "https://dandiarchive.org/dandiset/000001/draft/files?location=sub-01");
  assert.equal(archivePage(known), "https://dandiarchive.org/dandiset/000001/draft");
  for (const changes of [{ url: "https://dandiarchive.org.evil.test/" }, { url: null }, { dandiset: "../../x" }]) {
    assert.equal(archivePage(asset("a", { ...known, ...changes })), undefined);
  }
});

test("marks that cannot be seen are shown", () => {
  assert.equal(visible("a\u202eb\u0000c\ud800"), "a\\u{202e}b\\u{0}c\\u{d800}");
  assert.equal(visible("ä\n日本\t😀"), "ä\n日本\t😀");
});

test("numbers are as people read them", () => {
  assert.deepEqual([0, 512, 1_256_000, 999_600, 12_000].map(bytes), ["0 B", "512 B", "1.26 MB", "1.00 MB", "12 kB"]);
  assert.equal(bytes(null), "–");
  assert.equal(count(12_345, "asset"), "12,345 assets");
  assert.equal(count(1, "entry", "entries"), "1 entry");
  assert.equal(shape([72_000, 64]), "72,000 × 64");
  assert.equal(shape([]), "scalar");
  const now = Date.parse("2026-03-05T00:00:00Z");
  const ages = ["2026-03-05T00:00:00Z", "2026-03-04T22:00:00Z", "2026-03-02T00:00:00Z", "2024-03-02T00:00:00Z", "x"];
  assert.deepEqual(
    ages.map((time) => age(time, now)),
    ["just now", "2 hours ago", "3 days ago", "2 years ago", "–"],
  );
});

test("what JSON lacks is shown as it is", () => {
  assert.equal(jsonText({ a: [NaN, 2n ** 63n, "x"], b: new Uint8Array([1, 255]) }), '{"a": [NaN, 9223372036854775808, "x"], "b": 2 bytes: 01 ff}');
});

test("of an array no more is read than is shown", () => {
  assert.deepEqual(cornerOf([90_000, 32]), [10, 10]);
  assert.deepEqual(cornerOf([90_000]), [100]);
  assert.deepEqual(cornerOf([500, 64, 64]), [1, 10, 10]);
  assert.deepEqual(cornerOf([3, 2]), [3, 2]);
  assert.deepEqual(cornerOf([]), []);
  assert.deepEqual(cornerOf([0, 5]), [0, 5]);
});
