import assert from "node:assert/strict";
import { test } from "node:test";

import { InvalidReferencesError, UnsupportedError } from "../src/index.js";
import { documentUrl, expandTemplates, folderOf, inside, resolvePlace, withoutQuery } from "../src/places.js";

const FOLDER = new URL("https://example.org/refs/a/?key=1");

test("documents and their folders", () => {
  assert.equal(documentUrl("https://example.org/a.json?x=1").href, "https://example.org/a.json?x=1");
  assert.equal(documentUrl("https://example.org/a/").href, "https://example.org/a/refs.json");
  assert.equal(
    documentUrl("https://example.org/a.shadowzarr?x=1").href,
    "https://example.org/a.shadowzarr/refs.json?x=1",
  );
  assert.equal(folderOf(new URL("https://example.org/a/refs.json?x=1")).href, "https://example.org/a/");
  assert.equal(inside(FOLDER, "index/100% #1").href, "https://example.org/refs/a/index/100%25%20%231?key=1");
  for (const url of ["file:///etc/passwd", "/data/a.json", "ftp://a/b.json", "javascript:alert(1)"]) {
    assert.throws(() => documentUrl(url), /expected (one of|an) http/, url);
  }
});

test("a document leads to http(s) only", () => {
  assert.equal(resolvePlace("../raw.bin", FOLDER), "https://example.org/refs/raw.bin?key=1");
  assert.equal(resolvePlace("http://other.org/a b", FOLDER), "http://other.org/a%20b");
  assert.equal(resolvePlace("s3://bucket/a/b c", FOLDER), "https://bucket.s3.amazonaws.com/a/b%20c");
  assert.equal(resolvePlace("s3://dotted.bucket/a", FOLDER), "https://s3.amazonaws.com/dotted.bucket/a");
  const refused = [
    "file:///etc/passwd",
    "/etc/passwd",
    "C:\\a.h5",
    "data:text/plain,a",
    "blob:x",
    "ftp://a/b",
    "\\\\host\\a",
  ];
  for (const place of refused) assert.throws(() => resolvePlace(place, FOLDER), UnsupportedError, place);
  assert.throws(() => resolvePlace("raw.bin", undefined), UnsupportedError);
  assert.throws(() => resolvePlace("http://", FOLDER), InvalidReferencesError);
});

test("templates are plain text", () => {
  assert.equal(expandTemplates("{{ u }}/b", { u: "https://a" }), "https://a/b");
  assert.equal(expandTemplates("{{u}}/{{u}}", { u: "$&" }), "$&/$&");
  assert.equal(expandTemplates("{{u}}", {}), "{{u}}");
  assert.throws(() => expandTemplates("{{constructor}}", { u: "a" }), InvalidReferencesError);
});

test("what is shown has no secrets", () => {
  assert.equal(withoutQuery("https://me:pass@a.org/b?Signature=x#y"), "https://a.org/b");
});
