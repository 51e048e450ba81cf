// What views read: values, and which chunks they ask a server for.

import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import { NoAnswerError } from "../src/errors.js";
import { UnsupportedError } from "../src/index.js";
import { ArrayReader } from "../viewer/chunkedArray.js";
import { openStack, readFrame, timeOf } from "../viewer/imageData.js";
import { problemText } from "../viewer/problems.js";
import { UnsortedError } from "../viewer/search.js";
import { openUnits, readSpikes, spikeExtent } from "../viewer/spikes.js";
import { openTable } from "../viewer/tableData.js";
import { openSeries, readTraces, spansOf, type TraceWindow } from "../viewer/traceData.js";
import { Traffic } from "../viewer/traffic.js";
import { resolvePath } from "../viewer/tree.js";
import { undrawnReason, viewsOf } from "../viewer/views.js";
import { Nodes } from "./nodes.js";
import { FileServer } from "./rangeServer.js";

const server = new FileServer(new Uint8Array());
let url: string;

before(async () => {
  url = await server.start();
});
after(() => server.stop());
beforeEach(() => {
  server.requests.length = 0;
});

/** Reads what was put together; small chunks are not merged, so that each is a request. */
function read(nodes: Nodes): ArrayReader {
  server.data = nodes.file;
  return new ArrayReader(nodes.open(url, { maxMergeSize: 0 }));
}

const ALL: Omit<TraceWindow, "from" | "to" | "channels"> = { columns: 1000, budget: 2 ** 30 };
const DATA = Int16Array.from({ length: 4000 }, (_, i) => ((i * 37) % 1000) - 500); // 1000 samples of 4 channels

function recording(attributes: object = {}): Nodes {
  return new Nodes()
    .group("s", { neurodata_type: "ElectricalSeries" })
    .array("s/data", DATA, [1000, 4], [100, 2], { unit: "volts", conversion: 0.5, offset: 1, ...attributes })
    .array("s/starting_time", Float64Array.of(2), [], [], { rate: 100, unit: "seconds" });
}

test("a window of a series is read from its chunks alone, and again from none", async () => {
  const reader = read(recording());
  const series = await openSeries(reader, "s");
  assert.deepEqual([series.axis.first, series.axis.last, series.axis.rate], [2, 11.99, 100]);
  assert.equal(server.requests.length, 1); // the starting time
  const window = { ...ALL, from: 4.5, to: 5.5, channels: [0, 1] };
  const traces = await readTraces(series, window);
  assert.equal(server.requests.length, 3);
  assert.deepEqual([traces.isRaw, traces.rows, traces.beside], [true, [249, 351], [1, 1]]);
  assert.ok(traces.x[0]! < window.from && traces.x.at(-1)! >= window.to);
  assert.deepEqual(
    traces.lines[1],
    Array.from({ length: 102 }, (_, i) => DATA[4 * (249 + i) + 1]! * 0.5 + 1),
  );
  assert.ok(traces.x.every((x, i) => Math.abs(x - (2 + (249 + i) / 100)) < 1e-12));
  await readTraces(series, { ...window, from: 5, to: 5.9 });
  assert.equal(server.requests.length, 3);
  await readTraces(series, { ...window, channels: [0, 3] });
  assert.equal(server.requests.length, 5);
});

test("channels have factors of their own", async () => {
  const nodes = recording().array("s/channel_conversion", Float32Array.of(1, 2, 4, 8), [4], [4], { axis: 1 });
  const traces = await readTraces(await openSeries(read(nodes), "s"), { ...ALL, from: 2, to: 3, channels: [2] });
  assert.equal(traces.lines[0]![0], DATA[2]! * 4 * 0.5 + 1);
  const wrong = recording().array("s/channel_conversion", Float32Array.of(1, 2), [2], [2], { axis: 1 });
  await assert.rejects(openSeries(read(wrong), "s"), /channel_conversion of \/s has the shape \[2\]/);
});

test("what is larger than the budget is sampled, and said to be", async () => {
  const series = await openSeries(read(recording()), "s");
  server.requests.length = 0;
  const window = { from: 2, to: 12, channels: [0, 1], columns: 50, budget: 3 * 400 };
  const traces = await readTraces(series, window);
  assert.equal(server.requests.length, 3);
  assert.deepEqual(traces.stretches, [3, 10]);
  assert.deepEqual(
    traces.unread.map(({ from, to }) => [from, to].map((time) => Math.round(100 * time))),
    [
      [299, 600],
      [699, 1000],
      [1099, 1200],
    ],
  );
  assert.deepEqual([traces.rows, traces.rowsRead], [[0, 1000], 300]);
  assert.ok(traces.x.length <= 2 * 50 + 2);
  const stretch = (first: number) => Array.from({ length: 100 }, (_, i) => DATA[4 * (first + i)]! * 0.5 + 1);
  const drawn = traces.lines[0]!.filter((value) => value !== null);
  const all = [0, 400, 800].flatMap(stretch);
  assert.equal(Math.min(...drawn), Math.min(...all));
  assert.equal(Math.max(...drawn), Math.max(...all));
  assert.equal(traces.lines[0]!.filter((value) => value === null).length, 2);
  server.requests.length = 0;
  const moved = await readTraces(series, { ...window, from: 2.5, to: 11.5 });
  assert.deepEqual([moved.stretches, server.requests.length], [[3, 10], 0]);
  const few = await readTraces(series, { ...window, from: 3.5, to: 5.5, budget: 1 });
  assert.deepEqual(
    [few.stretches, few.rows],
    [
      [1, 3],
      [149, 351],
    ],
  );
  const whole = await readTraces(series, { ...window, budget: 10 * 400 });
  assert.deepEqual(whole.beside, [0, 0]);
  assert.deepEqual([whole.stretches, whole.isRaw, whole.x.length, whole.unread], [[10, 10], false, 100, []]);
});

test("axes after the second are channels too, and numbers that are not finite are gaps", async () => {
  const values = Float32Array.from({ length: 60 }, (_, i) => (i % 7 === 0 ? Number.NaN : i));
  values[59] = Infinity;
  const nodes = new Nodes().group("s").array("s/data", values, [5, 3, 4], [2, 2, 3]);
  const series = await openSeries(read(nodes), "s");
  assert.match(series.axis.note!, /Samples are numbered/);
  const traces = await readTraces(series, { ...ALL, from: 0, to: 5, channels: [7, 11] });
  const wanted = [7, 11].map((channel) =>
    Array.from({ length: 5 }, (_, row) => values[12 * row + channel]!).map((v) => (Number.isFinite(v) ? v : null)),
  );
  assert.deepEqual(traces.lines, wanted);
});

test("the part that is shown at first has the first samples, however few there are", async () => {
  const first = async (samples: number, timed: (nodes: Nodes) => Nodes) => {
    const nodes = new Nodes().group("s").array("s/data", new Float64Array(samples), [samples], [samples]);
    const series = await openSeries(read(timed(nodes)), "s");
    const { limits, span } = spansOf(series);
    assert.ok(limits.from <= span.from && span.from < span.to && span.to <= limits.to);
    return (await readTraces(series, { ...ALL, ...span, channels: [0] })).x;
  };
  const stamped = (times: Float64Array) => (nodes: Nodes) =>
    nodes.array("s/timestamps", times, [times.length], [times.length]);
  const regular = (nodes: Nodes) => nodes.array("s/starting_time", Float64Array.of(7), [], [], { rate: 10 });
  assert.deepEqual(await first(1, stamped(Float64Array.of(7))), [7]);
  assert.deepEqual(await first(3, stamped(Float64Array.of(7, 7, 7))), [7, 7, 7]);
  assert.deepEqual(await first(2, stamped(Float64Array.of(7, 8))), [7, 8]);
  assert.deepEqual(await first(1, regular), [7]);
  assert.deepEqual(await first(2, regular), [7, 7.1]);
});

test("timestamps are searched, not read whole", async () => {
  const times = Float64Array.from({ length: 10_000 }, (_, i) => i / 50 + (i > 6000 ? 100 : 0));
  const nodes = new Nodes()
    .group("s", { _LINKS: [{ name: "timestamps", source: ".", path: "/t/times" }] })
    .group("t")
    .array("t/times", times, [10_000], [100])
    .array(
      "s/data",
      Float64Array.from(times, (_, i) => i),
      [10_000],
      [100],
    );
  const series = await openSeries(read(nodes), "s");
  assert.deepEqual([series.axis.first, series.axis.last], [0, times[9999]]);
  assert.equal(server.requests.length, 2);
  const traces = await readTraces(series, { ...ALL, from: 230, to: 231, channels: [0] });
  const rows = [...times.keys()].filter((i) => times[i]! >= 230 && times[i]! < 231);
  assert.deepEqual(traces.rows, [rows[0]! - 1, rows.at(-1)! + 2]);
  assert.deepEqual(traces.x, [...times.slice(...traces.rows)]);
  assert.deepEqual(
    traces.lines[0],
    traces.x.map((_, i) => traces.rows[0] + i),
  );
  assert.ok(server.requests.length <= 14, `${server.requests.length} requests`);
});

test("timestamps that go back are an error that says where; those that are none number the samples", async () => {
  const nodes = (times: Float64Array) =>
    new Nodes()
      .group("s")
      .array("s/timestamps", times, [times.length], [4])
      .array(
        "s/data",
        Float64Array.from(times, (_, i) => i),
        [times.length],
        [4],
      );
  const back = await openSeries(read(nodes(Float64Array.of(0, 1, 2, 3, 2.5, 5, 6, 7))), "s");
  const window = { ...ALL, from: 0, to: 8, channels: [0] };
  await assert.rejects(readTraces(back, window), (error) => error instanceof UnsortedError && error.row === 4);
  for (const times of [Float64Array.of(Number.NaN, 1), Float64Array.of(3, 1)]) {
    const { axis } = await openSeries(read(nodes(times)), "s");
    assert.equal(axis.unit, "samples");
    assert.match(axis.note!, /their timestamps go from/);
  }
});

test("spikes of a window are read from the chunks around it", async () => {
  const counts = [400, 0, 1000, 600];
  const times = Float64Array.from(
    counts.flatMap((count) => Array.from({ length: count }, (_, i) => (i * 100) / count)),
  );
  const ends = Int32Array.from(counts, (_, i) => counts.slice(0, i + 1).reduce((a, b) => a + b, 0));
  const nodes = new Nodes()
    .group("units", { colnames: ["spike_times"], neurodata_type: "Units" })
    .array("units/id", BigInt64Array.of(7n, 8n, 9n, 10n), [4], [4])
    .array("units/spike_times", times, [2000], [100])
    .array("units/spike_times_index", ends, [4], [4]);
  const units = await openUnits(read(nodes), "units");
  assert.deepEqual(units.ids, ["7", "8", "9", "10"]);
  assert.deepEqual(await spikeExtent(units, [0, 1]), { from: 0, to: 99.75 });
  assert.equal(await spikeExtent(units, [1]), undefined);
  server.requests.length = 0;
  const spikes = await readSpikes(units, [1, 2], { from: 50, to: 51 });
  assert.deepEqual(
    spikes.times.map((own) => [...own]),
    [[], Array.from({ length: 11 }, (_, i) => ((500 + i) * 100) / 1000)],
  );
  assert.ok(server.requests.length <= 4, `${server.requests.length} requests`);
});

test("spikes in no order are found all the same", async () => {
  const nodes = new Nodes()
    .group("units", { colnames: ["spike_times"] })
    .array("units/spike_times", Float64Array.of(5, 1, 3, 2, 4), [5], [2])
    .array("units/spike_times_index", Uint8Array.of(3, 5), [2], [2]);
  const units = await openUnits(read(nodes), "units");
  const spikes = await readSpikes(units, [0, 1], { from: 2, to: 4 });
  assert.deepEqual(
    spikes.times.map((own) => [...own]),
    [[3], [2, 4]],
  );
  assert.deepEqual(spikes.unsorted, [0]);
  const wrong = new Nodes()
    .group("units")
    .array("units/spike_times", Float64Array.of(5, 1), [2], [2])
    .array("units/spike_times_index", Uint8Array.of(3), [1], [1]);
  await assert.rejects(openUnits(read(wrong), "units"), /a row ends at 3; expected 0 to 2/);
});

test("a frame is read from its chunks alone", async () => {
  const values = Uint16Array.from({ length: 6 * 20 }, (_, i) => i);
  const nodes = new Nodes()
    .group("v", { neurodata_type: "TwoPhotonSeries" })
    .array("v/data", values, [6, 4, 5], [2, 4, 3])
    .array("v/starting_time", Float64Array.of(0), [], [], { rate: 10 });
  const stack = await openStack(read(nodes), "v");
  server.requests.length = 0;
  const frame = await readFrame(stack, 3, 0);
  assert.deepEqual([...(frame.values as Uint16Array)], [...values.slice(60, 80)]);
  assert.equal(server.requests.length, 2);
  await readFrame(stack, 2, 0);
  assert.equal(server.requests.length, 2);
  const outside = new Nodes()
    .group("v", { neurodata_type: "ImageSeries" })
    .array("v/data", new Uint8Array(), [0, 0, 0], [1, 1, 1])
    .text("v/external_file", ["a.avi"]);
  await assert.rejects(openStack(read(outside), "v"), /other files/);
});

test("frames are shown whatever their times are", async () => {
  const timed = (times: number[]) =>
    new Nodes()
      .group("v", { neurodata_type: "ImageSeries" })
      .array("v/data", new Uint8Array(12), [3, 2, 2], [1, 2, 2])
      .array("v/timestamps", Float64Array.from(times), [times.length], [1]);
  for (const [times, wanted] of [
    [
      [1, 2, 4],
      [1, 2, 4],
    ],
    [
      [1, Number.NaN, 4],
      [1, undefined, 4],
    ],
    [[1, 2], undefined],
    [[3, 2, 1], undefined],
  ] as const) {
    const stack = await openStack(read(timed([...times])), "v");
    const found = await Promise.all([0, 1, 2].map((frame) => timeOf(stack, frame)));
    assert.deepEqual(found, wanted ?? [undefined, undefined, undefined]);
    assert.equal((await readFrame(stack, 2, 0)).values.length, 4);
  }
});

test("a read that is no longer wanted is given up", async () => {
  const nodes = new Nodes().group("v").array("v/data", new Uint16Array(120), [6, 4, 5], [1, 4, 5]);
  const stack = await openStack(read(nodes), "v");
  const closed = new Promise<void>((resolve) => {
    server.next.push((_, response) => response.on("close", resolve)); // which answers nothing
  });
  const controller = new AbortController();
  const reading = readFrame(stack, 0, 0, controller.signal);
  setTimeout(() => controller.abort(new Error("moved on")), 20);
  await assert.rejects(reading, /moved on/);
  await closed;
});

test("rows of a table, with whatever columns it has", async () => {
  const fields = [
    { name: "idx_start", data_type: "int32" },
    { name: "count", data_type: "int32" },
  ];
  const struct = {
    data_type: { name: "struct", configuration: { fields } },
    codecs: [{ name: "bytes", configuration: { endian: "little" } }],
    fill_value: null,
  };
  const nodes = new Nodes()
    .group("t", { colnames: ["n", "kind", "group", "deep", "region", "parts", "mean", "gone"] })
    .array("t/id", BigInt64Array.of(0n, 1n, 2n), [3], [3])
    .array("t/n", Float64Array.of(0.5, Number.NaN, 2), [3], [2], { description: "a number" })
    .array("t/kind", Uint8Array.of(1, 0, 1), [3], [3], { elements: { _REFERENCE: { source: ".", path: "/t/names" } } })
    .text("t/names", ["good", "<b>bad</b>"])
    .text("t/group", ["/a", "", "/b"], { _DTYPE: "object_reference" })
    .array(
      "t/deep",
      Int32Array.from({ length: 20 }, (_, i) => i),
      [20],
      [4],
    )
    .array("t/deep_index", Uint8Array.of(2, 12, 12, 20), [4], [4])
    .array("t/deep_index_index", Uint8Array.of(1, 3, 4), [3], [3])
    .array("t/region", Int32Array.of(5, 6, 7), [3], [3], {
      table: { _REFERENCE: { source: ".", path: "/general/electrodes" } },
    })
    .array("t/region_index", Uint8Array.of(0, 2, 3), [3], [3])
    .inline("t/parts", struct, 3, new Uint8Array(Int32Array.of(1, 2, 3, 4, 5, 6).buffer))
    .array(
      "t/mean",
      Float32Array.from({ length: 24 }, (_, i) => i),
      [3, 4, 2],
      [1, 4, 2],
    );
  const table = await openTable(read(nodes), "t");
  assert.equal(table.rows, 3);
  server.requests.length = 0;
  const columns = await Promise.all(table.columns.map(async (column) => [column.name, await column.cells(1, 3)]));
  assert.deepEqual(Object.fromEntries(columns), {
    id: ["1", "2"],
    n: ["NaN", "2"],
    kind: ["good", "<b>bad</b>"],
    group: ["none", "/b"],
    deep: ["[[2, 3, 4, 5, 6, 7, … (10 in all)], []]", "[[12, 13, 14, 15, 16, 17, … (8 in all)]]"],
    region: ["[electrodes[5], electrodes[6]]", "[electrodes[7]]"],
    parts: ["(idx_start: 3, count: 4)", "(idx_start: 5, count: 6)"],
    mean: ["4 × 2: [8, 9, … (8 in all)]", "4 × 2: [16, 17, … (8 in all)]"],
    gone: ["not in the references", "not in the references"],
  });
  const ranges = server.requests.map(({ headers }) => headers.range);
  assert.equal(new Set(ranges).size, ranges.length);
  assert.equal(table.columns[1]!.description, "a number");
});

test("what can be shown is told by types and by structure", () => {
  const nodes = recording()
    .group("units", { colnames: ["spike_times"], neurodata_type: "Units" })
    .array("units/spike_times", Float64Array.of(1), [1], [1])
    .array("units/spike_times_index", Uint8Array.of(1), [1], [1])
    .group("video", { neurodata_type: "MyImaging" })
    .array("video/data", new Uint8Array(8), [2, 2, 2], [1, 2, 2])
    .array("video/dimension", Int32Array.of(2, 2), [2], [2])
    .group("outside", { neurodata_type: "ImageSeries" })
    .array("outside/data", new Uint8Array(), [0, 0, 0], [1, 1, 1])
    .text("outside/external_file", ["a.avi"])
    .group("nothing", { neurodata_type: "TimeSeries" })
    .array("nothing/data", new Uint8Array(), [0], [1])
    .group("notes", { neurodata_type: "AnnotationSeries" })
    .text("notes/data", ["a"])
    .array("picture", new Uint8Array(12), [2, 2, 3], [2, 2, 3], { neurodata_type: "RGBImage" })
    .array("values", new Uint8Array(4), [2, 2], [2, 2]);
  const store = nodes.open(url);
  const found = viewsOf(store).map(({ path, kind, neurodataType }) => [path, kind, neurodataType]);
  assert.deepEqual(found, [
    ["s", "traces", "ElectricalSeries"],
    ["units", "raster", "Units"],
    ["units", "table", "Units"],
    ["video", "images", "MyImaging"],
    ["picture", "images", "RGBImage"],
  ]);
  const reasons = ["outside", "nothing", "notes", "s", "units", "picture", "values"].map((path) =>
    undrawnReason(store, path),
  );
  assert.deepEqual(reasons.slice(0, 3), [
    "its frames are in the files that external_file names",
    "it has no samples",
    "its data are no numbers",
  ]);
  assert.ok(reasons.slice(3).every((reason) => reason === undefined));
});

test("links lead to nodes, and circles nowhere", () => {
  const link = (name: string, path: string) => ({ name, source: ".", path });
  const nodes = new Nodes()
    .group("a", { _LINKS: [link("b", "/c"), link("x", "/a/y"), link("y", "/a/x"), link("gone", "/nothing")] })
    .group("c", { _LINKS: [link("d", "/e")] })
    .group("e")
    .array("e/f", Uint8Array.of(1), [1], [1]);
  const store = nodes.open(url);
  assert.equal(resolvePath(store, "/a/b/d/f"), "e/f");
  assert.equal(resolvePath(store, "a/b"), "c");
  for (const path of ["a/x", "a/gone", "a/none", "none/b"]) assert.equal(resolvePath(store, path), undefined, path);
});

test("requests and bytes are counted as they come", async () => {
  const nodes = recording();
  server.data = nodes.file;
  const traffic = new Traffic();
  const reader = new ArrayReader(nodes.open(url, { fetch: traffic.fetch, maxMergeSize: 0 }));
  const array = await reader.open("s/data");
  await array.chunk([0, 0]);
  await array.chunk([0, 0]);
  assert.deepEqual(traffic.now(), { requests: 1, nbytes: 400 });
});

test("problems are told with what to do", async () => {
  const codecs = [
    { name: "bytes", configuration: { endian: "little" } },
    { name: "other_codec", configuration: {} },
  ];
  const nodes = new Nodes().inline("a", { data_type: "uint8", codecs, fill_value: 0 }, 1, Uint8Array.of(1));
  const array = await read(nodes).open("a");
  const error: unknown = await array.chunk([0]).catch((error: unknown) => error);
  assert.ok(error instanceof UnsupportedError);
  assert.match(problemText(error), /UnsupportedError: .*other_codec.*no decoder.* Read it in Python/);
  const away = new ArrayReader(recording().open("http://127.0.0.1:9"));
  const unreachable: unknown = await (await away.open("s/data")).chunk([0, 0]).catch((error: unknown) => error);
  assert.match(problemText(unreachable), /cannot be reached: .* Try again in a while\.$/);
  const both = "http://a/f: the server cannot be reached, or does not let this page read it";
  assert.match(problemText(new NoAnswerError(both)), /^Cannot be shown\. ReadError: http:.* If there .*CORS/);
  assert.match(problemText(new Error("it broke")), /^Cannot be shown. it broke.$/);
});
