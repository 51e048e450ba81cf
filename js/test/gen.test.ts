import assert from "node:assert/strict";
import { test } from "node:test";

import { InvalidReferencesError } from "../src/index.js";
import { evaluate, GenRule } from "../src/gen.js";

const RULE = { key: "a/b/c/{{ i }}/0", url: "{{u}}", offset: "{{2048 + i * 64}}", length: "64" };
const DIMENSIONS = { i: { start: 2, stop: 10, step: 3 } };

test("expressions are integers, as in Python", () => {
  const values = { i: 7n, offset_2: -3n };
  const cases: [string, bigint][] = [
    ["1 + 2 * 3", 7n],
    ["(1 + 2) * 3", 9n],
    ["i // 2 - 1", 2n],
    ["offset_2 // 2", -2n],
    ["offset_2 % 2", 1n],
    ["i % -4", -1n],
    ["- - i", 7n],
    ["2 - 3 - 4", -5n],
    ["9007199254740993 * 3 // 3", 9007199254740993n],
    ["-i * -1", 7n],
  ];
  for (const [text, value] of cases) assert.equal(evaluate(text, values), value, text);
});

test("nothing but arithmetic is evaluated", () => {
  const wrong = [
    "i ** 2",
    "f(i)",
    "i.x",
    "i[0]",
    "'a'",
    "1.5",
    "i j",
    "",
    "1 +",
    "(1",
    "j",
    "1 / 2",
    "__proto__",
    "i;i",
  ];
  for (const text of wrong) assert.throws(() => evaluate(text, { i: 1n }), InvalidReferencesError, text);
  assert.throws(() => evaluate("1 // (i - 1)", { i: 1n }), /divides by zero/);
  assert.throws(() => evaluate("1+".repeat(300) + "1", {}), /too long/);
  assert.equal(evaluate(`${"(".repeat(240)}1${")".repeat(240)}`, {}), 1n);
});

test("a rule gives places of the chunks it reaches", () => {
  const rule = new GenRule({ ...RULE, dimensions: DIMENSIONS });
  assert.equal(rule.path, "a/b");
  assert.equal(rule.ndim, 2);
  assert.deepEqual(rule.at([5, 0]), [2048 + 5 * 64, 64]);
  for (const missed of [[1, 0], [3, 0], [11, 0], [5, 1], [5]]) assert.equal(rule.at(missed), undefined);
  const diagonal = new GenRule({ key: "c/{{i}}/{{i}}", url: "u", dimensions: { i: { stop: 3 } } });
  assert.deepEqual(diagonal.at([1, 1]), []);
  assert.equal(diagonal.at([1, 2]), undefined);
});

test("a rule that cannot be understood is refused", () => {
  const wrong = [
    { ...RULE, dimensions: {} },
    { ...RULE, dimensions: { ...DIMENSIONS, j: { stop: 2 } } },
    { ...RULE, key: "a/{{i}}", dimensions: DIMENSIONS },
    { ...RULE, key: "a/c/{{i + 1}}", dimensions: DIMENSIONS },
    { ...RULE, offset: "alert(1)", dimensions: DIMENSIONS },
  ];
  for (const entry of wrong) assert.throws(() => new GenRule(entry), InvalidReferencesError, JSON.stringify(entry));
  const far = new GenRule({ ...RULE, offset: "9007199254740990", dimensions: DIMENSIONS });
  assert.throws(() => far.at([2, 0]), /offset 9007199254740990, length 64/);
  const before = new GenRule({ ...RULE, offset: "-1", dimensions: DIMENSIONS });
  assert.throws(() => before.at([2, 0]), InvalidReferencesError);
});
