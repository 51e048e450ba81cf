import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import * as names from "../src/index.js";

test("the public names", () => {
  assert.deepEqual(Object.keys(names).sort(), [
    "AccessDeniedError",
    "DamagedSourceError",
    "InvalidReferencesError",
    "ReadError",
    "ReferenceStore",
    "ShadowzarrError",
    "ShortReadError",
    "SourceChangedError",
    "SourceNotFoundError",
    "TransientReadError",
    "UnsupportedError",
    "decodeAttributes",
    "openArray",
    "openGroup",
    "openNode",
    "readArray",
  ]);
});

test("errors are named by their class, and one tree", () => {
  for (const [name, Kind] of Object.entries(names).filter(([name]) => name.endsWith("Error"))) {
    const error = new (Kind as new (message: string) => Error)("why");
    assert.equal(error.name, name);
    assert.ok(error instanceof names.ShadowzarrError);
  }
});

test("the README tells of every public function and of every option", () => {
  const text = readFileSync("README.md", "utf8");
  const told = Object.keys(names).filter((name) => !name.endsWith("Error"));
  const options = ["validateSources", "mergeGap", "maxMergeSize", "mergeBelow", "inFlight", "retries", "fetch"];
  for (const name of [...told, ...options, "ShadowzarrError", "SourceChangedError", "UnsupportedError"]) {
    assert.ok(text.includes(name), name);
  }
});
