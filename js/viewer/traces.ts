// The view of a TimeSeries: traces of its channels over time.

import type uPlot from "uplot";

import { placeText } from "./axisText.js";
import { channelsText, movedChannels, parseChannels } from "./channels.js";
import { ArrayReader } from "./chunkedArray.js";
import type { Colours } from "./colours.js";
import { button, labelled, make, menu, table } from "./dom.js";
import type { Mount, MountOptions } from "./index.js";
import { Loading } from "./loading.js";
import { UnsortedError } from "./search.js";
import { extentOf, overlaid, stacked } from "./stacking.js";
import { TimeChart, type Picture } from "./timeChart.js";
import { sampleAxis } from "./timeAxis.js";
import { leastBytes, openSeries, readTraces, spansOf, type Series, type Traces } from "./traceData.js";
import { bytesText, countText, displayUnit, shortNumber, type Display } from "./units.js";
import { visible } from "./visible.js";
import type { Span } from "./window.js";

const LARGE = 64 * 2 ** 20; // decoded bytes that are not read unless one asks for it
const FIRST_CHANNELS = 16;
const MOST_CHANNELS = 64;
const SETTLING = 120; // milliseconds in which further moves are waited for
const TABLE_ROWS = 200;

export const mount: Mount = async (container, options) => {
  const reader = new ArrayReader(options.store);
  const series = await openSeries(reader, options.path, options.signal);
  options.signal.throwIfAborted();
  const view = new TracesView(container, options, series);
  await view.refresh(0);
  return () => view.drawn;
};

class TracesView {
  drawn: Traces | undefined;
  readonly #loading: Loading;
  readonly #chart: TimeChart;
  readonly #about = make("p", { class: "viewer-about" });
  readonly #readout = make("output", { class: "viewer-readout" });
  readonly #values = make("div", { class: "viewer-values" });
  readonly #details = make(
    "details",
    { toggle: () => this.#showValues() },
    make("summary", {}, "Values as a table"),
    this.#values,
  );
  readonly #choice = make("input", {
    type: "text",
    autocomplete: "off",
    change: () => this.#choose(this.#choice.value),
  });
  readonly #refusal = make("span", { class: "viewer-refusal", role: "alert" });
  readonly #large = make("div", { hidden: true });
  #channels: number[];
  #isStacked: boolean;
  #mayBeLarge = false;
  #display: Display = { factor: 1, unit: "" };

  constructor(
    container: HTMLElement,
    private readonly options: MountOptions,
    private readonly series: Series,
  ) {
    const { axis, channels } = series;
    this.#channels = Array.from({ length: Math.min(FIRST_CHANNELS, channels) }, (_, i) => i);
    this.#isStacked = channels > 1;
    this.#loading = new Loading(options.traffic, options.signal, () => {
      this.drawn = undefined;
      this.#chart.clear();
      this.#readout.textContent = "";
      this.#values.replaceChildren();
    });
    this.#chart = new TimeChart({
      title: `Traces of ${options.path}`,
      unit: axis.unit,
      ...spansOf(series),
      signal: options.signal,
      onSpan: () => void this.refresh(SETTLING),
      onCursor: (index) => this.#read(index),
    });
    container.replaceChildren(
      this.#about,
      ...(channels > 1 ? [this.#channelTools()] : []),
      this.#large,
      this.#chart.element,
      this.#readout,
      this.#loading.element,
      this.#details,
    );
    this.#describe();
  }

  /** Read and draw what the window and the choice say. */
  async refresh(delay: number): Promise<void> {
    const least = leastBytes(this.series, this.#channels);
    if (least > LARGE && !this.#mayBeLarge) return this.#ask(least);
    this.#large.hidden = true;
    await this.#loading.run(async (signal) => {
      try {
        await this.#draw(signal);
      } catch (error) {
        if (!(error instanceof UnsortedError)) throw error;
        this.#numberSamples(error);
        await this.#draw(signal);
      }
    }, delay);
  }

  async #draw(signal: AbortSignal): Promise<void> {
    const { from, to } = this.#chart.span;
    const window = { from, to, channels: this.#channels, columns: this.#chart.columns, budget: this.options.budget };
    const traces = await readTraces(this.series, window, signal);
    signal.throwIfAborted();
    this.drawn = traces;
    this.#chart.show(this.#picture(traces));
    this.#loading.say(shownText(traces, this.#chart.span, this.series));
    this.#read(null);
    this.#showValues();
  }

  #picture(traces: Traces): Picture {
    const { unit } = this.series.scaling;
    const extents = traces.lines.map(extentOf).filter((extent) => extent !== undefined);
    const heights = extents.map(({ from, to }) =>
      this.#isStacked ? to - from : Math.max(Math.abs(from), Math.abs(to)),
    );
    this.#display = displayUnit(unit, Math.max(0, ...heights));
    const { factor, unit: shown } = this.#display;
    const series: Picture["series"] = (colours) =>
      traces.window.channels.map((channel, i) => ({
        label: `channel ${channel}`,
        stroke: colours.lines[i % colours.lines.length]!,
        width: 1,
      }));
    const draw: Picture["draw"] = (chart, colours) => shade(chart, colours, traces.unread);
    if (!this.#isStacked) {
      const { lines, y } = overlaid(traces.lines, factor);
      return { data: [traces.x, ...lines], series, y, yLabel: shown || "value", draw };
    }
    const { lines, offsets, spacing, y } = stacked(traces.lines, factor);
    const every = Math.ceil(traces.window.channels.length / 24); // so that names do not overlap
    return {
      data: [traces.x, ...lines],
      series,
      y,
      draw,
      yLabel: `Channel; from one to the next ${shortNumber(spacing)} ${shown}`,
      // uPlot wants ticks to ascend.
      ticks: {
        at: offsets.toReversed(),
        text: traces.window.channels.map((channel, i) => (i % every === 0 ? String(channel) : "")).toReversed(),
      },
    };
  }

  #channelTools(): HTMLElement {
    const { channels } = this.series;
    this.#showChoice();
    const move = (direction: 1 | -1) => this.#choose(channelsText(movedChannels(this.#channels, channels, direction)));
    const layout = menu({ stacked: "one above another", overlaid: "over each other, at their values" }, (value) => {
      this.#isStacked = value === "stacked";
      if (this.drawn !== undefined) this.#chart.show(this.#picture(this.drawn));
    });
    return make(
      "div",
      { class: "viewer-tools", role: "group", "aria-label": "Channels" },
      labelled(`Channels (of 0-${channels - 1})`, this.#choice),
      button("Previous", () => move(-1)),
      button("Next", () => move(1)),
      labelled("Layout", layout),
      this.#refusal,
    );
  }

  #choose(text: string): void {
    const chosen = parseChannels(text, this.series.channels, MOST_CHANNELS);
    this.#refusal.textContent = typeof chosen === "string" ? chosen : "";
    if (typeof chosen === "string") return;
    this.#channels = chosen;
    this.#showChoice();
    void this.refresh(0);
  }

  #showChoice(): void {
    this.#choice.value = channelsText(this.#channels);
  }

  #ask(least: number): void {
    const text = `The smallest part that can be read of these channels takes up to ${bytesText(least)}.`;
    const read = button("Read it", () => {
      this.#mayBeLarge = true;
      void this.refresh(0);
    });
    this.#loading.stop();
    this.#large.replaceChildren(make("p", {}, `${text} Fewer channels may take less.`), read);
    this.#large.hidden = false;
  }

  /** Go on without timestamps that are in no order. */
  #numberSamples(error: UnsortedError): void {
    this.series.axis = sampleAxis(this.series.data.shape[0]!, `their timestamps go back at row ${error.row}`);
    const { limits, span, narrowest } = spansOf(this.series);
    this.#chart.setLimits(limits, this.series.axis.unit, narrowest, span);
    this.#describe();
  }

  #describe(): void {
    const { data, axis, channels, scaling } = this.series;
    const rate = axis.rate === undefined ? "" : `, ${shortNumber(axis.rate)} Hz`;
    const size = `${countText(data.shape[0]!, "sample")}${channels > 1 ? ` of ${channels} channels` : ""}`;
    const unit = scaling.unit === "" ? "no unit" : `unit: ${scaling.unit}`;
    const text = `${size}${rate}; ${unit}${unit.endsWith(".") ? "" : "."}`;
    this.#about.textContent = visible([text, axis.note, scaling.note].filter(Boolean).join(" "));
  }

  #read(index: number | null): void {
    const traces = this.drawn;
    if (traces === undefined || index === null || traces.x[index] === undefined) {
      this.#readout.textContent = "";
      return;
    }
    const values = traces.window.channels.map(
      (channel, i) => `${this.#nameOf(channel)}: ${this.#valueText(traces.lines[i]![index]!)}`,
    );
    const text = `At ${this.#placeText(traces.x[index])} ${this.series.axis.unit}: ${values.join("; ")}`;
    this.#readout.textContent = visible(text);
  }

  #nameOf(channel: number): string {
    const name = this.series.names[channel];
    return name === undefined ? String(channel) : `${channel} (${name})`;
  }

  #placeText(x: number): string {
    const { from, to } = this.#chart.span;
    return placeText(x, to - from);
  }

  #valueText(value: number | null): string {
    return value === null ? "none" : `${shortNumber(value * this.#display.factor)} ${this.#display.unit}`.trim();
  }

  #showValues(): void {
    const traces = this.drawn;
    if (!this.#details.open || traces === undefined) return;
    const heads = [
      `Time (${this.series.axis.unit})`,
      ...traces.window.channels.map((channel) => `Channel ${this.#nameOf(channel)}`),
    ];
    const [before, after] = traces.beside;
    const count = traces.x.length - before - after;
    const rows = traces.x
      .slice(before, before + Math.min(TABLE_ROWS, count))
      .map((x, i) => [this.#placeText(x), ...traces.lines.map((line) => this.#valueText(line[before + i]!))]);
    const caption = `The first ${rows.length} of ${count} points that are drawn`;
    this.#values.replaceChildren(table(caption, heads, rows));
  }
}

/** Cover what was not read, so that nobody takes it for silence. */
function shade(chart: uPlot, colours: Colours, spans: readonly Span[]): void {
  const { ctx } = chart;
  const { left, width, top, height } = chart.bbox;
  ctx.save();
  ctx.fillStyle = colours.grid;
  ctx.globalAlpha = 0.5;
  for (const { from, to } of spans) {
    const [start, stop] = [from, to].map((x) => Math.min(left + width, Math.max(left, chart.valToPos(x, "x", true))));
    ctx.fillRect(start!, top, stop! - start!, height);
  }
  ctx.restore();
}

/** What is shown, in words: never all when it is a part. */
function shownText(traces: Traces, { from, to }: Span, { axis }: Series): string {
  const [first, last] = [from, to].map((place) => placeText(place, to - from));
  const span = `${first} to ${last} ${axis.unit}`;
  const [start, stop] = traces.rows;
  const [read, all] = traces.stretches;
  if (start === stop) return `${span}: no samples.`;
  if (read === all && traces.lines.every((line) => extentOf(line) === undefined)) {
    return `${span}: no value is a finite number, so there is nothing to draw.`;
  }
  if (traces.isRaw) return `${span}: every sample is drawn.`;
  if (read < all) {
    return (
      `${span}: SAMPLED. Only ${read} of ${all} stretches were read (${traces.rowsRead} of ${stop - start} samples); ` +
      "what is shaded was not read. Zoom in to see all."
    );
  }
  return `${span}: least and greatest value for each column of pixels, of all ${stop - start} samples.`;
}
