// The view of sorted units: a raster of their spike times.

import type uPlot from "uplot";

import { channelsText, movedChannels, parseChannels } from "./channels.js";
import { placeText } from "./axisText.js";
import { ArrayReader } from "./chunkedArray.js";
import type { Colours } from "./colours.js";
import { button, labelled, make, table } from "./dom.js";
import type { Mount, MountOptions } from "./index.js";
import { Loading } from "./loading.js";
import { bytesOf, openUnits, readSpikes, spikeExtent, united, type Spikes, type Units } from "./spikes.js";
import { TimeChart } from "./timeChart.js";
import { bytesText, countText } from "./units.js";
import type { Span } from "./window.js";

const FIRST_UNITS = 24;
const MOST_UNITS = 200;
const FIRST_SECONDS = 10;
const LARGE = 64 * 2 ** 20; // decoded bytes that are not read unless one asks for it
const NARROWEST = 1e-4; // seconds
const SETTLING = 120; // milliseconds in which further moves are waited for
const LISTED = 12; // times of a unit in the table

export const mount: Mount = async (container, options) => {
  const units = await openUnits(new ArrayReader(options.store), options.path, options.signal);
  options.signal.throwIfAborted();
  if (units.ends.length === 0) throw new Error(`/${options.path} has no units`);
  const view = new RasterView(container, options, units);
  await view.choose(view.firstChoice);
  return () => view.drawn;
};

class RasterView {
  drawn: Spikes | undefined;
  readonly firstChoice: string;
  readonly #loading: Loading;
  readonly #chart: TimeChart;
  readonly #about = make("p", { class: "viewer-about" });
  readonly #values = make("div", { class: "viewer-values" });
  readonly #details = make(
    "details",
    { toggle: () => this.#showValues() },
    make("summary", {}, "Spikes as a table"),
    this.#values,
  );
  readonly #choice = make("input", {
    type: "text",
    autocomplete: "off",
    change: () => void this.choose(this.#choice.value),
  });
  readonly #refusal = make("span", { class: "viewer-refusal", role: "alert" });
  readonly #large = make("div", { hidden: true });
  #chosen: number[] = [];
  #limits: Span | undefined;
  #isPlaced = false;
  #mayBeLarge = false;

  constructor(
    container: HTMLElement,
    options: MountOptions,
    private readonly units: Units,
  ) {
    const count = units.ends.length;
    this.firstChoice = channelsText(Array.from({ length: Math.min(FIRST_UNITS, count) }, (_, i) => i));
    this.#about.textContent = `${countText(count, "unit")}, ${countText(units.ends.at(-1)!, "spike")}.`;
    this.#loading = new Loading(options.traffic, options.signal, () => {
      this.drawn = undefined;
      this.#chart.clear();
      this.#values.replaceChildren();
    });
    this.#chart = new TimeChart({
      title: `Spike times of ${options.path}`,
      unit: "s",
      limits: { from: 0, to: 1 },
      span: { from: 0, to: 1 },
      narrowest: NARROWEST,
      signal: options.signal,
      onSpan: () => void this.refresh(SETTLING),
      onCursor: () => undefined,
    });
    container.replaceChildren(
      this.#about,
      this.#unitTools(),
      this.#large,
      this.#chart.element,
      this.#loading.element,
      this.#details,
    );
  }

  /** Draw other units, given as their rows in the table. */
  async choose(text: string): Promise<void> {
    const chosen = parseChannels(text, this.units.ends.length, MOST_UNITS, "unit");
    this.#refusal.textContent = typeof chosen === "string" ? chosen : "";
    if (typeof chosen === "string") return;
    this.#chosen = chosen;
    this.#choice.value = channelsText(chosen);
    this.#isPlaced = false;
    await this.refresh(0);
  }

  async refresh(delay: number): Promise<void> {
    const most = bytesOf(this.units, this.#chosen);
    if (most > LARGE && !this.#mayBeLarge) return this.#ask(most);
    this.#large.hidden = true;
    await this.#loading.run(async (signal) => {
      if (!this.#isPlaced) {
        const extent = await spikeExtent(this.units, this.#chosen, signal);
        signal.throwIfAborted();
        this.#span(extent);
        this.#isPlaced = true;
      }
      const spikes = await readSpikes(this.units, this.#chosen, this.#chart.span, signal);
      signal.throwIfAborted();
      if (spikes.unsortedExtent !== undefined) this.#span(spikes.unsortedExtent);
      this.drawn = spikes;
      this.#draw(spikes);
    }, delay);
  }

  /** Let the axis span what these units do, and what others did before; the window stays when there is one. */
  #span(extent: Span | undefined): void {
    const isFirst = this.#limits === undefined;
    const { from, to } = (this.#limits = united([this.#limits, extent])) ?? { from: 0, to: 1 };
    const limits = to > from ? { from, to } : { from: from - 0.5, to: from + 0.5 };
    const first = { from: limits.from, to: Math.min(limits.to, limits.from + FIRST_SECONDS) };
    this.#chart.setLimits(limits, "s", NARROWEST, isFirst ? first : this.#chart.span);
  }

  #draw(spikes: Spikes): void {
    const { from, to } = this.#chart.span;
    const rows = spikes.units.length;
    const every = Math.ceil(rows / 24); // so that names do not overlap
    this.#chart.show({
      data: [
        [from, to],
        [null, null],
      ],
      series: () => [{}],
      y: { from: -0.75, to: rows - 0.25 },
      yLabel: "Unit",
      ticks: {
        at: Array.from({ length: rows }, (_, i) => i),
        text: spikes.units.map((unit, i) => (i % every === 0 ? this.units.ids[unit]! : "")).toReversed(),
      },
      draw: (chart, colours) => drawTicks(chart, colours, spikes),
    });
    this.#loading.say(shownText(spikes, { from, to }, this.units));
    this.#showValues();
  }

  #unitTools(): HTMLElement {
    const count = this.units.ends.length;
    const move = (direction: 1 | -1) => void this.choose(channelsText(movedChannels(this.#chosen, count, direction)));
    return make(
      "div",
      { class: "viewer-tools", role: "group", "aria-label": "Units" },
      labelled(`Rows of units (of 0-${count - 1})`, this.#choice),
      button("Previous", () => move(-1)),
      button("Next", () => move(1)),
      this.#refusal,
    );
  }

  #ask(most: number): void {
    const read = button("Read them", () => {
      this.#mayBeLarge = true;
      void this.refresh(0);
    });
    const text = `The spikes of these units take up to ${bytesText(most)}. Fewer units take less.`;
    this.#loading.stop();
    this.#large.replaceChildren(make("p", {}, text), read);
    this.#large.hidden = false;
  }

  #showValues(): void {
    const spikes = this.drawn;
    if (!this.#details.open || spikes === undefined) return;
    const { from, to } = this.#chart.span;
    const rows = spikes.units.map((unit, i) => {
      const times = spikes.times[i]!;
      const listed = Array.from(times.subarray(0, LISTED), (time) => placeText(time, to - from)).join(", ");
      return [this.units.ids[unit]!, String(times.length), times.length > LISTED ? `${listed}, …` : listed];
    });
    this.#values.replaceChildren(table("Spikes that are drawn", ["Unit", "Spikes", "Times (s)"], rows));
  }
}

/** One tick for each spike, as far as they do not fall on the same pixels. */
function drawTicks(chart: uPlot, colours: Colours, spikes: Spikes): void {
  const { ctx } = chart;
  const { left, width, top, height } = chart.bbox;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.lineWidth = Math.max(1, devicePixelRatio);
  for (const [i, times] of spikes.times.entries()) {
    const row = spikes.units.length - 1 - i;
    const [low, high] = [row - 0.4, row + 0.4].map((y) => chart.valToPos(y, "y", true)) as [number, number];
    ctx.strokeStyle = colours.lines[i % colours.lines.length]!;
    ctx.beginPath();
    let before = Number.NaN;
    for (const time of times) {
      const x = Math.round(chart.valToPos(time, "x", true)) + 0.5;
      if (x === before) continue;
      ctx.moveTo(x, low);
      ctx.lineTo(x, high);
      before = x;
    }
    ctx.stroke();
  }
  ctx.restore();
}

function shownText(spikes: Spikes, { from, to }: Span, { ids }: Units): string {
  const count = spikes.times.reduce((sum, times) => sum + times.length, 0);
  const unsorted = spikes.unsorted.map((unit) => ids[unit]).join(", ");
  const note = unsorted === "" ? "" : ` Spike times of ${unsorted} are in no order in the file; they were sorted.`;
  const [start, end] = [from, to].map((place) => placeText(place, to - from));
  return `${start} to ${end} s: ${countText(count, "spike")} of ${countText(spikes.units.length, "unit")}.${note}`;
}
