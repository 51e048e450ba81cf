import assert from "node:assert/strict";
import { test } from "node:test";

import { decodeAttributes } from "../src/index.js";
import { encodeNonFinite } from "../src/attributes.js";

const NON_FINITE = { uuid: "2adc9aac-d676-4e93-8feb-903b6ae9e08a", name: "non-finite-attributes" };
const BYTES = { uuid: "e6a456e4-34b3-4f16-9120-92f66bff2d30" };

test("registered nodes are decoded", () => {
  const stored = {
    zarr_conventions: [NON_FINITE, BYTES, { uuid: "another" }],
    numbers: ["NaN", { deep: ["Infinity", "-Infinity"] }],
    text: ["_str_NaN", "_str__str_NaN", "NaNs", "_str_base64:", "_str_plain"],
    bytes: "base64:/wBB",
    plain: [1, null, true],
  };
  const before = structuredClone(stored);
  assert.deepEqual(decodeAttributes(stored), {
    zarr_conventions: [{ uuid: "another" }],
    numbers: [NaN, { deep: [Infinity, -Infinity] }],
    text: ["NaN", "_str_NaN", "NaNs", "base64:", "_str_plain"],
    bytes: Uint8Array.of(0xff, 0, 0x41),
    plain: [1, null, true],
  });
  assert.deepEqual(stored, before);
});

test("others are not", () => {
  const stored = { a: "NaN", b: "base64:AA==", zarr_conventions: "no list" };
  assert.deepEqual(decodeAttributes(stored), stored);
  const one = { a: "NaN", b: "base64:AA==", zarr_conventions: [BYTES] };
  assert.deepEqual(decodeAttributes(one), { a: "NaN", b: Uint8Array.of(0) });
  assert.throws(() => decodeAttributes({ a: "base64:!", zarr_conventions: [BYTES] }), /base64/);
});

test("bare numbers of older writers are stored as they should be", () => {
  const stored = encodeNonFinite({ a: [NaN, -Infinity], b: "NaN", zarr_conventions: [{ uuid: "x" }] });
  assert.deepEqual(stored["a"], ["NaN", "-Infinity"]);
  assert.equal(stored["b"], "_str_NaN");
  const decoded = decodeAttributes(stored);
  assert.deepEqual(decoded, { a: [NaN, -Infinity], b: "NaN", zarr_conventions: [{ uuid: "x" }] });
  const plain = { a: "NaN" };
  assert.equal(encodeNonFinite(plain), plain);
});
