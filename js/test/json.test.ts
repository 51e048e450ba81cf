import assert from "node:assert/strict";
import { test } from "node:test";

import { parseJson, writeJson } from "../src/json.js";

test("large whole numbers keep their digits, and NaN may be a bare word", () => {
  const text = ' {"a": [18446744073709551615, -9223372036854775808, 1.5e3, NaN, -Infinity], "b\\"\\u00e9": null}\n';
  const value = parseJson(text);
  assert.deepEqual(value, { a: [18446744073709551615n, -9223372036854775808n, 1500, NaN, -Infinity], 'b"é': null });
  assert.equal(writeJson({ a: [2n ** 64n, "x", true, null] }), '{"a":[18446744073709551616,"x",true,null]}');
  assert.throws(() => writeJson(NaN), RangeError);
});

test("both parsers read the same", () => {
  const texts = ['{"":[],"x":{}}', "[1,[2,[]],-0.5e-3]", '"\\\\\\n"', "true", "0", "[ ]", '{"__proto__":1}'];
  for (const text of texts) {
    const long = `[${text}, 1234567890123456789]`; // which is read by the parser of ours
    assert.deepEqual((parseJson(long) as unknown[])[0], JSON.parse(text), text);
  }
  assert.ok(Object.hasOwn((parseJson('[{"__proto__":1},1234567890123456789]') as object[])[0]!, "__proto__"));
});

test("what is no JSON is refused", () => {
  const tail = "1234567890123456789";
  for (const text of ["[1,]", "{1:2}", "[1 2]", '"a', "nan", "[NaN", "01", "+1", "{'a':1}", '{"a":1,}', "", "-"]) {
    assert.throws(() => parseJson(text), SyntaxError, text);
    assert.throws(() => parseJson(`[${tail}, ${text}]`), SyntaxError, text);
  }
  assert.throws(() => parseJson(`${"[".repeat(100_000)}NaN`), /too deeply/);
});
