// A chart over time that one moves in: by mouse, fingers, keys, buttons and numbers. What it draws comes from a view.

import uPlot from "uplot";

import { axisLabel, notationOf, placeText, tickText, type Notation } from "./axisText.js";
import { coloursOf, onScheme, type Colours } from "./colours.js";
import { button, labelled, make } from "./dom.js";
import { byKey, panned, startingAt, within, zoomed, type Span } from "./window.js";

export interface ChartOptions {
  /** What the chart shows, for those who do not see it. */
  title: string;
  unit: string;
  limits: Span;
  /** What is shown at first. */
  span: Span;
  /** Least width of the window. */
  narrowest: number;
  signal: AbortSignal;
  /** Called when the window has changed. */
  onSpan(span: Span): void;
  /** Called with the index of the point below the cursor; null when there is none. */
  onCursor(index: number | null): void;
}

/** What is drawn: data as uPlot wants them, and how. */
export interface Picture {
  data: uPlot.AlignedData;
  series: (colours: Colours) => uPlot.Series[];
  y: Span;
  yLabel: string;
  /** Ticks of the y axis; round numbers by default. */
  ticks?: { at: number[]; text: string[] };
  /** Draws what no series does. */
  draw?: (chart: uPlot, colours: Colours) => void;
}

const HEIGHT = 420;
const AXIS_WIDTH = 80;
const TICK_SPACE = 68; // pixels from one tick of the x axis to the next, for what they say to have room

export class TimeChart {
  readonly element: HTMLElement;
  readonly #plot: HTMLElement;
  readonly #from = make("input", { type: "number", step: "any" });
  readonly #width = make("input", { type: "number", step: "any", min: 0 });
  readonly #place = make("input", { type: "range", min: 0, max: 1000, step: 1 });
  readonly #pointers = new Map<number, number>();
  #span: Span;
  #chart: uPlot | undefined;
  #picture: Picture | undefined;

  constructor(private readonly options: ChartOptions) {
    this.#span = options.span;
    const keys =
      "Arrow keys move, plus and minus zoom, Home and End go to the ends, comma and full stop move the cursor";
    this.#plot = make("div", {
      class: "viewer-plot",
      role: "group",
      tabindex: 0,
      "aria-label": `${options.title}. ${keys}.`,
      keydown: (event: KeyboardEvent) => this.#onKey(event),
    });
    this.element = make("div", { class: "viewer-chart" }, this.#toolbar(), this.#plot);
    this.#showSpan();
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(this.#plot);
    onScheme(() => this.#picture && this.#draw(), options.signal);
    this.#listen();
    options.signal.addEventListener(
      "abort",
      () => {
        resized.disconnect();
        this.#chart?.destroy();
      },
      { once: true },
    );
  }

  get span(): Span {
    return this.#span;
  }

  /** Device pixels beside each other that data are drawn on. */
  get columns(): number {
    const width = this.#chart?.bbox.width ?? (this.#plot.clientWidth - AXIS_WIDTH) * devicePixelRatio;
    return Math.max(50, Math.round(width));
  }

  /** Draw, in place of what was there. */
  show(picture: Picture): void {
    const isAlike =
      this.#chart?.data.length === picture.data.length &&
      (this.#picture?.ticks === undefined) === (picture.ticks === undefined);
    this.#picture = picture;
    if (isAlike) this.#chart!.setData(picture.data);
    else this.#draw();
  }

  /** Take away what is drawn. */
  clear(): void {
    this.#chart?.destroy();
    this.#chart = this.#picture = undefined;
  }

  #draw(): void {
    const picture = this.#picture!;
    this.#chart?.destroy();
    const colours = coloursOf(this.element);
    const ink = { stroke: colours.ink, grid: { stroke: colours.grid, width: 1 }, ticks: { stroke: colours.grid } };
    this.#chart = new uPlot(
      {
        width: Math.max(200, this.#plot.clientWidth),
        height: HEIGHT,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, y: false },
        scales: {
          x: { time: false, range: () => [this.#span.from, this.#span.to] },
          y: { range: () => [this.#picture!.y.from, this.#picture!.y.to] },
        },
        axes: [
          { ...ink, ...this.#places(), space: TICK_SPACE },
          { ...ink, ...this.#values(), size: AXIS_WIDTH },
        ],
        series: [{}, ...picture.series(colours)],
        hooks: {
          draw: [(chart) => this.#picture!.draw?.(chart, colours)],
          setCursor: [(chart) => this.options.onCursor(chart.cursor.idx ?? null)],
        },
      },
      picture.data,
      this.#plot,
    );
  }

  #places(): uPlot.Axis {
    const name = () => (this.options.unit === "s" ? "Time (s)" : "Number of the sample");
    return written(name, (increment) => notationOf(this.#span, increment));
  }

  /** Ticks at places of the picture's own, when it has some. */
  #values(): uPlot.Axis {
    const name = () => this.#picture!.yLabel;
    if (this.#picture!.ticks === undefined) {
      return written(name, (increment) => notationOf(this.#picture!.y, increment, Math.round));
    }
    return { label: name, splits: () => this.#picture!.ticks!.at, values: () => this.#picture!.ticks!.text };
  }

  /** Change the limits and the unit of time, and show what is within them. */
  setLimits(limits: Span, unit: string, narrowest: number, span: Span): void {
    Object.assign(this.options, { limits, unit, narrowest });
    this.#span = within(span, limits);
    this.#showSpan(document.activeElement);
  }

  /** Show another part. */
  go(span: Span): void {
    this.#span = span;
    this.#showSpan();
    if (this.#chart !== undefined && this.#picture !== undefined) {
      this.#chart.setScale("x", { min: span.from, max: span.to });
    }
    this.options.onSpan(span);
  }

  #toolbar(): HTMLElement {
    const pan = (part: number) => this.go(panned(this.#span, this.options.limits, part));
    const set = () => {
      const [from, width] = [this.#from.valueAsNumber, this.#width.valueAsNumber];
      const { limits, narrowest } = this.options;
      if (Number.isFinite(from) && width > 0) this.go(startingAt(from, width, limits, narrowest));
      else this.#showSpan();
    };
    for (const field of [this.#from, this.#width]) field.addEventListener("change", set);
    this.#place.addEventListener("input", () => {
      const { from, to } = this.options.limits;
      const width = this.#span.to - this.#span.from;
      const start = from + (this.#place.valueAsNumber / 1000) * (to - from - width);
      this.go(within({ from: start, to: start + width }, this.options.limits));
    });
    return make(
      "div",
      { class: "viewer-tools", role: "group", "aria-label": "Part of the recording" },
      button("Earlier", () => pan(-0.5)),
      button("Later", () => pan(0.5)),
      button("Zoom in", () => this.#zoom(0.5)),
      button("Zoom out", () => this.#zoom(2)),
      button("All", () => this.go(this.options.limits)),
      labelled("From", this.#from),
      labelled("Width", this.#width),
      labelled("Position", this.#place),
    );
  }

  /** Let the fields say what is shown; but for one that somebody may be typing in. */
  #showSpan(typedIn: Element | null = null): void {
    const { limits, unit } = this.options;
    const { from, to } = this.#span;
    const text = (place: number) => placeText(place, to - from);
    if (typedIn !== this.#from) this.#from.value = text(from);
    if (typedIn !== this.#width) this.#width.value = text(to - from);
    const room = limits.to - limits.from - (to - from);
    this.#place.valueAsNumber = room > 0 ? Math.round(((from - limits.from) / room) * 1000) : 0;
    this.#place.setAttribute("aria-valuetext", `from ${text(from)} to ${text(to)} ${unit}`);
  }

  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ",": -1, ".": 1 }[event.key];
    const span = byKey(event.key, this.#span, this.options.limits, this.options.narrowest);
    if (step === undefined && span === undefined) return;
    event.preventDefault();
    if (span !== undefined) this.go(span);
    else this.#moveCursor(step!);
  }

  #moveCursor(step: number): void {
    const chart = this.#chart;
    if (chart === undefined || chart.data[0].length === 0) return;
    const next = Math.min(chart.data[0].length - 1, Math.max(0, (chart.cursor.idx ?? 0) + step));
    chart.setCursor({ left: chart.valToPos(chart.data[0][next]!, "x"), top: 10 });
  }

  /** Where a pointer is on the plot, from 0 for its start to 1 for its end. */
  #at(x: number): number {
    const { left, width } = this.#chart!.over.getBoundingClientRect();
    return Math.min(1, Math.max(0, (x - left) / width));
  }

  #zoom(factor: number, at = 0.5): void {
    this.go(zoomed(this.#span, this.options.limits, factor, at, this.options.narrowest));
  }

  #listen(): void {
    const plot = this.#plot;
    plot.addEventListener("wheel", (event) => {
      // A page that scrolls must not be caught by a plot below the pointer.
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== plot) return;
      event.preventDefault();
      this.#zoom(2 ** (Math.sign(event.deltaY) * 0.5), this.#at(event.clientX));
    });
    plot.addEventListener("pointerdown", (event) => {
      this.#pointers.set(event.pointerId, event.clientX);
      plot.setPointerCapture(event.pointerId);
    });
    plot.addEventListener("pointermove", (event) => {
      const before = this.#pointers.get(event.pointerId);
      if (before === undefined || this.#chart === undefined) return;
      const [other] = [...this.#pointers].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
      this.#pointers.set(event.pointerId, event.clientX);
      if (other === undefined) {
        const width = this.#chart.over.clientWidth;
        this.go(panned(this.#span, this.options.limits, (before - event.clientX) / width));
        return;
      }
      const [old, now] = [Math.abs(before - other), Math.abs(event.clientX - other)];
      if (old > 0 && now > 0) this.#zoom(old / now, this.#at((event.clientX + other) / 2));
    });
    for (const end of ["pointerup", "pointercancel"] as const) {
      plot.addEventListener(end, (event) => this.#pointers.delete(event.pointerId));
    }
  }

  #resize(): void {
    const width = this.#plot.clientWidth;
    if (this.#chart === undefined || width === 0 || width === this.#chart.width) return;
    this.#chart.setSize({ width, height: HEIGHT });
    this.options.onSpan(this.#span);
  }
}

/** What an axis is called, and its ticks, which uPlot finds with their increment. */
function written(name: () => string, notation: (increment: number) => Notation): uPlot.Axis {
  return {
    label: (_chart: uPlot, _axis: number, increment: number) => axisLabel(name(), notation(increment)),
    values: (_chart, splits, _axis, _space, increment) => splits.map((split) => tickText(split, notation(increment))),
  };
}
