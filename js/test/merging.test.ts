import assert from "node:assert/strict";
import { test } from "node:test";

import type { FileRange } from "../src/answers.js";
import type { FileReader } from "../src/fileReader.js";
import { DEFAULT_MERGING, planRequests, RangeMerger } from "../src/merging.js";

const range = (offset: number, length: number): FileRange => ({ offset, length });
const OPTIONS = { mergeGap: 10, maxMergeSize: 100, mergeBelow: 50 };

test("near and small ranges share a request", () => {
  const plans = planRequests([range(40, 5), range(0, 20), range(25, 5), range(300, 80), range(25, 5)], OPTIONS);
  assert.deepEqual(plans, [
    { request: range(0, 45), members: [1, 2, 4, 0] },
    { request: range(300, 80), members: [3] },
  ]);
});

test("neither large ranges, nor far ones, nor more than a request may have", () => {
  assert.equal(planRequests([range(0, 51), range(51, 51)], OPTIONS).length, 2);
  assert.equal(planRequests([range(0, 20), range(31, 20)], OPTIONS).length, 2);
  assert.equal(
    planRequests(
      [0, 40, 80].map((offset) => range(offset, 40)),
      OPTIONS,
    ).length,
    2,
  );
  assert.equal(planRequests([range(0, 60), range(0, 60)], OPTIONS).length, 1);
  assert.equal(planRequests([range(0, 5), range(5, 5)], { ...OPTIONS, maxMergeSize: 0 }).length, 2);
});

test("every range lies in one request", () => {
  let seed = 7;
  const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  for (let round = 0; round < 200; round++) {
    const ranges = Array.from({ length: next(30) }, () => range(next(500), 1 + next(70)));
    const plans = planRequests(ranges, OPTIONS);
    assert.deepEqual(
      plans.flatMap(({ members }) => members).sort((a, b) => a - b),
      [...ranges.keys()],
    );
    for (const { request, members } of plans) {
      for (const { offset, length } of members.map((i) => ranges[i]!)) {
        assert.ok(request.offset <= offset && offset + length <= request.offset + request.length);
      }
      const isOne = new Set(members.map((i) => `${ranges[i]!.offset} ${ranges[i]!.length}`)).size === 1;
      assert.ok(isOne || request.length <= OPTIONS.maxMergeSize);
    }
  }
});

/** A reader that gives each byte's offset, and whose reads end when they are told to. */
class Reader {
  readonly asked: FileRange[] = [];
  readonly signals: (AbortSignal | undefined)[] = [];
  go: () => void = () => undefined;
  readonly #gone = new Promise<void>((resolve) => (this.go = resolve));

  async read(_: string, wanted: FileRange, { signal }: { signal?: AbortSignal }): Promise<Uint8Array> {
    this.asked.push(wanted);
    this.signals.push(signal);
    await this.#gone;
    signal?.throwIfAborted();
    return Uint8Array.from({ length: wanted.length }, (_, i) => wanted.offset + i);
  }
}

function merger(): [Reader, RangeMerger] {
  const reader = new Reader();
  return [reader, new RangeMerger(reader as unknown as FileReader, DEFAULT_MERGING)];
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

test("reads of one turn are merged", async () => {
  const [reader, merged] = merger();
  const reads = [merged.read("a", range(10, 2)), merged.read("a", range(3, 1)), merged.read("b", range(0, 1))];
  reader.go();
  assert.deepEqual(
    (await Promise.all(reads)).map((data) => [...data]),
    [[10, 11], [3], [0]],
  );
  assert.deepEqual(reader.asked, [range(3, 9), range(0, 1)]);
});

test("who gives up does no harm to others", async () => {
  const [reader, merged] = merger();
  const [one, other] = [new AbortController(), new AbortController()];
  const reads = [one, other].map(({ signal }, i) => merged.read("a", range(i, 1), undefined, signal));
  await turn();
  one.abort(new Error("no longer"));
  await assert.rejects(reads[0]!, /no longer/);
  assert.equal(reader.signals[0]!.aborted, false);
  reader.go();
  assert.deepEqual([...(await reads[1]!)], [1]);
});

test("a request that nobody waits for is given up", async () => {
  const [reader, merged] = merger();
  const [one, other] = [new AbortController(), new AbortController()];
  const reads = [one, other].map(({ signal }, i) => merged.read("a", range(i, 1), undefined, signal));
  await turn();
  for (const { abort } of [one, other].map((each) => ({ abort: () => each.abort(new Error("all")) }))) abort();
  for (const read of reads) await assert.rejects(read, /all/);
  assert.equal(reader.signals[0]!.aborted, true);
  reader.go();
});
