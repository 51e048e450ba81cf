// What views are made of that needs no store: parts of arrays, searching, decimating, moving, writing numbers.

import assert from "node:assert/strict";
import { test } from "node:test";

import { axisLabel, notationOf, placeText, tickText } from "../viewer/axisText.js";
import { chunksOf, copyOverlap } from "../viewer/boxes.js";
import { list, oneOf, plain, reference, region, rowOf, shortened } from "../viewer/cells.js";
import { channelsText, movedChannels, parseChannels } from "../viewer/channels.js";
import { columnOf, Envelope } from "../viewer/envelope.js";
import { elementAt, pixelsOf, rangeOf, screenSize, stackAxes, type Frame } from "../viewer/imageData.js";
import { firstAtLeast, nextAfter, UnsortedError } from "../viewer/search.js";
import { overlaid, stacked } from "../viewer/stacking.js";
import { regularAxis } from "../viewer/timeAxis.js";
import { bytesText, countText, displayUnit, scaled, shortNumber, withFewestDigits } from "../viewer/units.js";
import { byKey, panned, startingAt, within, zoomed } from "../viewer/window.js";

test("chunks of a box are those that it touches", () => {
  assert.deepEqual(chunksOf({ start: [3, 0], stop: [10, 4] }, [5, 2]), [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  assert.deepEqual(chunksOf({ start: [5], stop: [5] }, [5]), []);
  assert.deepEqual(chunksOf({ start: [], stop: [] }, []), [[]]);
});

test("a box is copied out of its chunks, also of transposed ones", () => {
  const edges = [4, 2, 3];
  const value = (i: number, j: number, k: number) => 100 * i + 10 * j + k;
  for (const order of [
    [0, 1, 2],
    [2, 0, 1],
  ]) {
    const stride: number[] = [];
    for (let at = 2, step = 1; at >= 0; step *= edges[order[at]!]!, at--) stride[order[at]!] = step;
    const box = { start: [2, 1, 1], stop: [7, 4, 3] };
    const target = new Array<number>(5 * 3 * 2);
    for (const [i, j, k] of chunksOf(box, edges) as [number, number, number][]) {
      const data = new Int32Array(24).fill(-1);
      for (let a = 0; a < 4; a++)
        for (let b = 0; b < 2; b++)
          for (let c = 0; c < 3; c++) {
            data[a * stride[0]! + b * stride[1]! + c * stride[2]!] = value(4 * i + a, 2 * j + b, 3 * k + c);
          }
      copyOverlap({ data, shape: edges, stride }, [i, j, k], box, target);
    }
    const wanted: number[] = [];
    for (let i = 2; i < 7; i++) for (let j = 1; j < 4; j++) for (let k = 1; k < 3; k++) wanted.push(value(i, j, k));
    assert.deepEqual(target, wanted);
  }
});

/** Numbers in chunks, and which chunks were read. */
function inChunks(all: number[], chunkLength: number, start = 0, stop = all.length) {
  const reads: number[] = [];
  const read = (from: number, to: number) => {
    assert.equal(Math.floor(from / chunkLength), Math.floor((to - 1) / chunkLength));
    reads.push(Math.floor(from / chunkLength));
    return Promise.resolve(all.slice(from, to));
  };
  return { numbers: { start, stop, chunkLength, read }, reads };
}

test("searching finds what looking at all finds", async () => {
  const all = Array.from({ length: 103 }, (_, i) => Math.floor(i / 3) ** 2);
  for (const chunkLength of [1, 7, 200]) {
    for (const [start, stop] of [
      [0, 103],
      [10, 61],
      [5, 5],
    ] as const) {
      for (let wanted = -1; wanted < 1200; wanted += 7) {
        for (const expected of [-1, 0, 0.3, 1, Number.NaN]) {
          const { numbers } = inChunks(all, chunkLength, start, stop);
          const model = all.findIndex((value, i) => i >= start && i < stop && value >= wanted);
          const options = Number.isNaN(expected) ? {} : { expected };
          assert.equal(await firstAtLeast(numbers, wanted, options), model < 0 ? stop : model);
        }
      }
    }
  }
});

test("searching reads few chunks", async () => {
  const steady = Array.from({ length: 100_000 }, (_, i) => i / 10 + Math.sin(i));
  steady.sort((a, b) => a - b);
  const { numbers, reads } = inChunks(steady, 100);
  await firstAtLeast(numbers, 7000, { expected: 0.7 });
  assert.ok(reads.length <= 2, `${reads.length} chunks`);
  const uneven = Array.from({ length: 100_000 }, (_, i) => 1.0002 ** i);
  const other = inChunks(uneven, 100);
  await firstAtLeast(other.numbers, uneven[50_000]!, { expected: 0.01 });
  assert.ok(other.reads.length <= 12, `${other.reads.length} of 1000 chunks`);
});

test("numbers that go back are told", async () => {
  const { numbers } = inChunks([0, 1, 2, 1.5, 3, 4], 6);
  await assert.rejects(firstAtLeast(numbers, 2), (error) => error instanceof UnsortedError && error.row === 3);
  await assert.rejects(firstAtLeast(inChunks([0, Number.NaN, 2], 3).numbers, 2), UnsortedError);
});

test("the next number is greater, and nothing is between", () => {
  for (const value of [0, 1, -1, 1e300, -1e-300, 0.1]) {
    const next = nextAfter(value);
    assert.ok(next > value);
    assert.ok((value + next) / 2 === value || (value + next) / 2 === next);
  }
});

test("columns have the least and the greatest of their samples", () => {
  const count = 10_000;
  const times = Float64Array.from({ length: count }, (_, i) => 5 + i / 1000);
  const values = Float64Array.from(times, (_, i) => Math.sin(i) * (i % 97));
  values.fill(Number.NaN, 3000, 3300);
  values[4000] = Infinity;
  const columns = { from: 5, to: 15, count: 100 };
  const envelope = new Envelope(columns, 2);
  const placed = envelope.place(times, 0);
  const both = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) both.set([values[i]!, -values[i]!], 2 * i);
  for (const line of [0, 1]) envelope.add(line, placed, both, line, 2);
  const { x, lines } = envelope.points((line, value) => (line === 0 ? value : -value));
  assert.equal(x.length, 200);
  assert.deepEqual(lines[0], lines[1]);
  for (let column = 0; column < 100; column++) {
    const own = [...values].filter((value, i) => columnOf(times[i]!, columns) === column && Number.isFinite(value));
    const drawn = lines[0]!.slice(2 * column, 2 * column + 2);
    if (own.length === 0) assert.deepEqual(drawn, [null, null]);
    else {
      const [low, high] = [Math.min(...own), Math.max(...own)];
      assert.deepEqual(drawn, own.indexOf(low) <= own.indexOf(high) ? [low, high] : [high, low]);
    }
    for (const at of x.slice(2 * column, 2 * column + 2)) assert.equal(columnOf(at, columns), column);
  }
  assert.equal(lines[0]!.filter((value) => value === null).length, 6);
});

test("stretches are not joined, and columns without samples are passed over", () => {
  const envelope = new Envelope({ from: 0, to: 100, count: 100 }, 1);
  for (const [stretch, start] of [0, 50].entries()) {
    const placed = envelope.place([start, start + 1, start + 3], stretch);
    envelope.add(0, placed, [1, 2, 3], 0, 1);
  }
  assert.deepEqual(envelope.points().lines, [[1, 1, 2, 2, 3, 3, null, 1, 1, 2, 2, 3, 3]]);
  const { x } = envelope.points();
  assert.deepEqual(
    x,
    x.toSorted((a, b) => a - b),
  );
});

test("a regular axis has the rows that its times say", async () => {
  const axis = regularAxis(300, 0.1, 30, "s");
  const times = await axis.times(0, 300);
  assert.equal(axis.last, times[299]);
  for (const [from, to] of [
    [0.1, 1.1],
    [-5, 0.3],
    [2.5, 2.5],
    [9, 99],
    [0.11, 0.12],
  ] as const) {
    const [start, stop] = await axis.rows(from, to);
    const model = [...times].filter((time) => time >= from - 1e-9 && time < to - 1e-9);
    assert.equal(stop - start, model.length, `${from} to ${to}`);
    if (model.length > 0) assert.equal(times[start], model[0]);
  }
});

test("windows stay within limits", () => {
  const limits = { from: 10, to: 110 };
  assert.deepEqual(within({ from: 0, to: 5 }, limits), { from: 10, to: 15 });
  assert.deepEqual(within({ from: 108, to: 118 }, limits), { from: 100, to: 110 });
  assert.deepEqual(within({ from: 0, to: 500 }, limits), limits);
  assert.deepEqual(panned({ from: 20, to: 40 }, limits, 0.5), { from: 30, to: 50 });
  assert.deepEqual(zoomed({ from: 20, to: 40 }, limits, 0.5, 0), { from: 20, to: 30 });
  assert.deepEqual(zoomed({ from: 20, to: 40 }, limits, 0.5, 1), { from: 30, to: 40 });
  assert.deepEqual(zoomed({ from: 20, to: 40 }, limits, 1e-9, 0.5, 10), { from: 25, to: 35 });
  assert.deepEqual(zoomed({ from: 20, to: 40 }, limits, 100), limits);
  assert.deepEqual(byKey("End", { from: 20, to: 40 }, limits, 1), { from: 90, to: 110 });
  assert.deepEqual(byKey("ArrowLeft", { from: 30, to: 70 }, limits, 1), { from: 20, to: 60 });
  assert.deepEqual(startingAt(50, 10, limits, 1), { from: 50, to: 60 });
  assert.deepEqual(startingAt(105, 10, limits, 1), { from: 105, to: 110 });
  assert.deepEqual(startingAt(500, 0.1, limits, 1), { from: 109, to: 110 });
  assert.deepEqual(startingAt(-5, 0.1, limits, 1), { from: 10, to: 11 });
  assert.equal(byKey("x", { from: 30, to: 70 }, limits, 1), undefined);
});

test("channels are written as numbers and ranges", () => {
  assert.deepEqual(parseChannels("3, 0-2,3 , 9", 10, 64), [0, 1, 2, 3, 9]);
  assert.equal(channelsText([0, 1, 2, 3, 9]), "0-3, 9");
  for (const wrong of ["", "a", "5-3", "10", "0-99", "-1", "1.5"]) {
    assert.equal(typeof parseChannels(wrong, 10, 64), "string", wrong);
  }
  assert.match(parseChannels("0-70", 100, 64) as string, /at most 64 channels/);
  assert.match(parseChannels("0-70", 100, 64, "unit") as string, /at most 64 units/);
  assert.deepEqual(movedChannels([0, 1, 2], 8, 1), [3, 4, 5]);
  assert.deepEqual(movedChannels([3, 4, 5], 8, 1), [5, 6, 7]);
  assert.deepEqual(movedChannels([0, 1, 2], 8, -1), [0, 1, 2]);
});

test("lines are stacked without touching, or at their values", () => {
  const lines = [
    [10, 12, null, 14],
    [-1, 1, 0, 0],
    [null, null, null, null],
  ];
  const { lines: drawn, offsets, spacing } = stacked(lines, 1);
  assert.equal(spacing, 5);
  assert.deepEqual(offsets, [10, 5, 0]);
  assert.deepEqual(drawn[0], [8, 10, null, 12]);
  assert.deepEqual(drawn[2], [null, null, null, null]);
  const { y: room } = stacked([...lines, [0, 0, 0, -50, 0]], 1);
  assert.ok(room.from <= -50, `${room.from}`);
  assert.deepEqual(overlaid(lines, 10).lines[1], [-10, 10, 0, 0]);
  const { y } = overlaid([[1, 3]], 1);
  assert.ok(y.from < 1 && y.to > 3);
  assert.deepEqual(overlaid([[null]], 1).y, { from: 0, to: 1 });
});

test("numbers and units are written for reading", () => {
  assert.deepEqual(displayUnit("volts", 2e-4), { factor: 1e6, unit: "µV" });
  assert.deepEqual(displayUnit("volts", 0), { factor: 1, unit: "V" });
  assert.deepEqual(displayUnit("a.u.", 1e-4), { factor: 1, unit: "a.u." });
  assert.equal(shortNumber(0.1 + 0.2), "0.3");
  assert.equal(shortNumber(123456789), "123456789");
  assert.equal(shortNumber(-0.00000813718359), "-8.13718e-6");
  assert.equal(shortNumber(Number.NaN), "NaN");
  assert.equal(shortNumber(1770000437.25), "1770000437.25");
  assert.equal(shortNumber(-12345.678912), "-12345.679");
  assert.equal(shortNumber(2 ** 63), "9.22337e+18");
  assert.equal(countText(1, "sample"), "1 sample");
  assert.equal(countText(0, "sample"), "0 samples");
  assert.equal(bytesText(999), "999 bytes");
  assert.equal(bytesText(1_250), "1.3 kB");
  assert.equal(bytesText(1_250_000), "1.3 MB");
  const scaling = { conversion: 2, offset: 1, channels: Float64Array.of(1, 10), unit: "" };
  assert.equal(scaled(3, 1, scaling), 61);
  assert.equal(scaled(3, 1, { ...scaling, channels: undefined }), 7);
});

test("ticks are told from each other, in few digits", () => {
  const ticks = (from: number, to: number, increment: number, round = Math.floor) => {
    const notation = notationOf({ from, to }, increment, round);
    const first = Math.ceil(from / increment - 1e-9);
    const count = Math.floor((to - from) / increment + 1e-9);
    const values = Array.from({ length: count }, (_, i) => (first + i) * increment);
    const texts = values.map((value) => tickText(value, notation));
    assert.equal(new Set(texts).size, texts.length, texts.join(" "));
    for (const [i, text] of texts.entries()) {
      assert.ok(text.length <= 9, text);
      const told = notation.base + Number(text) * 10 ** notation.power;
      assert.ok(Math.abs(told - values[i]!) <= 1e-3 * increment + 4e-16 * Math.abs(told), `${text}: ${values[i]}`);
    }
    return [axisLabel("Time (s)", notation), ...texts.slice(0, 3)];
  };
  assert.deepEqual(ticks(0.498, 0.502, 0.0005), ["Time (s)", "0.4980", "0.4985", "0.4990"]);
  assert.deepEqual(ticks(0, 1, 0.25), ["Time (s)", "0.00", "0.25", "0.50"]);
  assert.deepEqual(ticks(-1000, 1000, 500), ["Time (s)", "-1000", "-500", "0"]);
  assert.deepEqual(ticks(1.77e9, 1.77e9 + 1, 0.2), ["Time (s) + 1770000000", "0.0", "0.2", "0.4"]);
  assert.deepEqual(ticks(-1.77e9, 2 - 1.77e9, 0.5), ["Time (s) − 1770000000", "0.0", "0.5", "1.0"]);
  assert.deepEqual(ticks(0, 9.1e18, 2e18), ["Time (s) (× 1e18)", "0", "2", "4"]);
  assert.deepEqual(ticks(1 - 1.1e-12, 1 + 1.1e-12, 5e-13, Math.round), ["Time (s) (× 1e-12) + 1", "-1.0", "-0.5", "0.0"]);
  for (const from of [0, 0.1, 12.5, -3, 7199.99, 86_400.123, 1e6, 1.77e9, -1e12]) {
    for (const increment of [1, 2, 2.5, 5].flatMap((digit) => [-4, -3, -1, 0, 2, 5].map((n) => digit * 10 ** n))) {
      if (increment < 1e-15 * Math.abs(from)) continue; // no double is between two ticks
      for (const round of [Math.floor, Math.round]) ticks(from, from + 8 * increment, increment, round);
    }
  }
  assert.deepEqual(notationOf({ from: 0, to: 1 }, 0), { base: 0, power: 0, decimals: 0 });
});

test("a place is written as finely as its window", () => {
  assert.equal(placeText(0.00375048571, 24), "0.00375");
  assert.equal(placeText(1770000437.25, 1), "1770000437.25");
  assert.equal(placeText(12345.0000333333, 0.01), "12345.00003333");
  assert.equal(placeText(0.1 + 0.2, 1), "0.3");
  assert.equal(placeText(3, 0), "3");
});

test("numbers of 32 bits have the digits that give them back, and no more", () => {
  const values = Float32Array.of(536.6005859375, 1e20, 0.1, -1 / 3, 16777217, 1e-45, 3.4028235e38, NaN, -Infinity, 0);
  const shown = withFewestDigits(values);
  assert.deepEqual(Array.from(shown, String).slice(0, 4), ["536.6006", "100000000000000000000", "0.1", "-0.33333334"]);
  assert.deepEqual(Float32Array.from(shown as Float64Array), values);
  for (const bits of Array.from({ length: 2000 }, (_, i) => (i * 2147483 + 12345) >>> 0)) {
    const [value] = new Float32Array(Uint32Array.of(bits).buffer);
    const [number] = Array.from(withFewestDigits(Float32Array.of(value!))) as [number];
    assert.ok(Object.is(Math.fround(number), value!) && String(number).length <= String(value).length, String(value));
  }
  const others = [Float64Array.of(536.6005859375), ["a"], BigInt64Array.of(1n)];
  for (const other of others) assert.equal(withFewestDigits(other as ArrayLike<unknown>), other);
});

test("cells are text", () => {
  assert.equal(plain(12345678901234567890n), "12345678901234567890");
  assert.equal(plain({ idx_start: 0, count: 4, timeseries: "/a" }), "(idx_start: 0, count: 4, timeseries: /a)");
  assert.equal(plain(Uint8Array.of(1, 255)), "0x01ff");
  assert.equal(plain({ real: 1, imag: Number.NaN }), "(real: 1, imag: NaN)");
  assert.equal(rowOf("/general/electrodes")(3), "electrodes[3]");
  assert.equal(oneOf(["good", "bad"])(1), "bad");
  assert.equal(oneOf(["good"])(7n), "7 (no such element)");
  assert.equal(reference(""), "none");
  const part = { _REFERENCE: { source: ".", path: "/d", region: { select_type: 3, selection: [[0, 2]] } } };
  assert.equal(region(JSON.stringify(part)), "/d [[0,2]]");
  assert.equal(region("no JSON"), "no JSON");
  assert.equal(list(["1", "2"], 5), "[1, 2, … (5 in all)]");
  assert.equal(shortened("a".repeat(500)).length, 120);
});

test("axes of images", () => {
  const axes = (shape: number[], hasFrames: boolean, mayHaveColours: boolean) => {
    const { sides, planes, colours, frames } = stackAxes(shape, hasFrames, mayHaveColours);
    return [frames, ...sides, planes, colours];
  };
  assert.deepEqual(axes([9, 4, 5], true, true), [9, 4, 5, 1, 1]);
  assert.deepEqual(axes([9, 4, 5, 3], true, true), [9, 4, 5, 1, 3]);
  assert.deepEqual(axes([9, 4, 5, 3], true, false), [9, 4, 5, 3, 1]);
  assert.deepEqual(axes([4, 5], false, true), [1, 4, 5, 1, 1]);
  assert.deepEqual(axes([4, 5, 4], false, true), [1, 4, 5, 1, 4]);
  assert.deepEqual(axes([9, 4, 5, 6, 3], true, true), [9, 4, 5, 6, 3]);
  assert.deepEqual(axes([9, 4, 3], true, true), [9, 4, 3, 1, 1]);
  for (const shape of [[9, 4], [9, 4, 5, 6, 7], [9]]) assert.throws(() => stackAxes(shape, true, true), /no stack/);
});

test("pixels of a frame, either side across", () => {
  const grey: Frame = { values: Int16Array.of(0, 1, 2, 3, 4, 5), sides: [2, 3], colours: 1 };
  assert.deepEqual(rangeOf(grey), [0, 5]);
  assert.deepEqual(screenSize(grey, "across"), [2, 3]);
  const reds = (frame: Frame, first: "across" | "down", low: number, high: number) =>
    [...pixelsOf(frame, first, low, high)].filter((_, i) => i % 4 === 0);
  assert.deepEqual(reds(grey, "down", 0, 5), [0, 51, 102, 153, 204, 255]);
  assert.deepEqual(reds(grey, "across", 0, 5), [0, 153, 51, 204, 102, 255]);
  assert.deepEqual(reds(grey, "down", 2, 4), [0, 0, 0, 128, 255, 255]);
  assert.deepEqual(reds(grey, "down", 3, 3), [0, 0, 0, 255, 255, 255]);
  assert.equal(grey.values[elementAt(grey, 1, 2, "across")], 5);
  assert.equal(grey.values[elementAt(grey, 2, 1, "down")], 5);
  const colour: Frame = { values: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), sides: [1, 2], colours: 4 };
  assert.deepEqual([...pixelsOf(colour, "down", 0, 255)], [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(rangeOf(colour), [1, 7]);
  const gaps: Frame = { values: Float32Array.of(Number.NaN, 1, Infinity, 0), sides: [2, 2], colours: 1 };
  assert.deepEqual(rangeOf(gaps), [0, 1]);
  assert.deepEqual(
    [...pixelsOf(gaps, "down", 0, 1)].filter((_, i) => i % 4 === 3),
    [0, 255, 0, 255],
  );
  assert.equal(rangeOf({ values: [Number.NaN], sides: [1, 1], colours: 1 }), undefined);
  const bigs: Frame = { values: BigInt64Array.of(0n, 10n), sides: [1, 2], colours: 1 };
  assert.deepEqual(reds(bigs, "down", 0, 10), [0, 255]);
});
