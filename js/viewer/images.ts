// The view of images: one frame at a time, chosen by a slider.

import { chunksOf } from "./boxes.js";
import { ArrayReader } from "./chunkedArray.js";
import { button, labelled, make, menu } from "./dom.js";
import {
  boxOf,
  elementAt,
  openStack,
  pixelsOf,
  rangeOf,
  readFrame,
  screenSize,
  timeOf,
  type FirstSide,
  type Frame,
  type Stack,
} from "./imageData.js";
import type { Mount, MountOptions } from "./index.js";
import { Loading } from "./loading.js";
import { bytesText, shortNumber } from "./units.js";

const LARGE = 64 * 2 ** 20; // decoded bytes that are not read unless one asks for it
const SETTLING = 60; // milliseconds in which further moves of the slider are waited for

export const mount: Mount = async (container, options) => {
  const stack = await openStack(new ArrayReader(options.store), options.path, options.signal);
  options.signal.throwIfAborted();
  const view = new ImagesView(container, options, stack);
  await view.refresh(0);
  return () => view.drawn;
};

/** What is on the screen. */
interface Drawn {
  frame: number;
  plane: number;
  low: number;
  high: number;
  width: number;
  height: number;
  pixels: Uint8ClampedArray;
}

class ImagesView {
  drawn: Drawn | undefined;
  readonly #loading: Loading;
  readonly #about = make("p", { class: "viewer-about" });
  readonly #readout = make("output", { class: "viewer-readout" });
  readonly #canvas = make("canvas", { tabindex: 0, role: "img" });
  readonly #marker = make("div", { class: "viewer-marker", hidden: true });
  readonly #slider = make("input", { type: "range", min: 0, step: 1, value: 0 });
  readonly #number = make("input", { type: "number", min: 0, step: 1, value: 0 });
  readonly #plane = make("input", { type: "range", min: 0, step: 1, value: 0 });
  readonly #low = make("input", { type: "number", step: "any", disabled: true });
  readonly #high = make("input", { type: "number", step: "any", disabled: true });
  readonly #large = make("div", { hidden: true });
  #first: FirstSide = "across";
  #isFixed = false;
  #mayBeLarge = false;
  #frame: Frame | undefined;
  #pixel: [number, number] = [0, 0];

  constructor(
    container: HTMLElement,
    private readonly options: MountOptions,
    private readonly stack: Stack,
  ) {
    this.#loading = new Loading(options.traffic, options.signal, () => {
      this.drawn = this.#frame = undefined;
      this.#canvas.getContext("2d")!.clearRect(0, 0, this.#canvas.width, this.#canvas.height);
      this.#readout.textContent = "";
    });
    this.#listen();
    container.replaceChildren(
      this.#about,
      this.#tools(),
      this.#large,
      make("div", { class: "viewer-image" }, this.#canvas, this.#marker),
      this.#readout,
      this.#loading.element,
    );
    this.#describe();
  }

  /** Read and draw the frame that is chosen. */
  async refresh(delay: number): Promise<void> {
    const [frame, plane] = [this.#slider.valueAsNumber, this.#plane.valueAsNumber];
    const { data } = this.stack;
    const nbytes = chunksOf(boxOf(this.stack, frame, plane), data.chunkShape).length * data.chunkNbytes;
    if (nbytes > LARGE && !this.#mayBeLarge) return this.#ask(nbytes);
    this.#large.hidden = true;
    await this.#loading.run(async (signal) => {
      const found = await readFrame(this.stack, frame, plane, signal);
      const time = await timeOf(this.stack, frame, signal);
      signal.throwIfAborted();
      this.#frame = found;
      this.#draw(found, frame, plane, time);
    }, delay);
  }

  #draw(frame: Frame, number: number, plane: number, time: number | undefined): void {
    const range = rangeOf(frame);
    if (!this.#isFixed) {
      const [low, high] = this.#scale(frame, range);
      this.#low.value = String(low);
      this.#high.value = String(high);
    }
    this.#paint(frame, number, plane);
    const { axes, axis } = this.stack;
    const at = time === undefined ? "" : `, ${shortNumber(time, 9)} ${axis!.unit}`;
    const place = axes.hasFrames ? `Frame ${number} (of 0-${axes.frames - 1})${at}` : "Image";
    const depth = axes.hasPlanes ? `, plane ${plane} (of 0-${axes.planes - 1})` : "";
    const stored =
      range === undefined ? "no numbers" : `stored values ${shortNumber(range[0])} to ${shortNumber(range[1])}`;
    const text = `${place}${depth}: ${stored}.`;
    this.#loading.say(text);
    this.#canvas.setAttribute("aria-label", `${this.options.path}. ${text} Arrow keys move over its pixels.`);
    this.#read();
  }

  /** What is black and what is white of a frame by itself: colours of bytes are as they are. */
  #scale(frame: Frame, range: [number, number] | undefined): [number, number] {
    const isBytes = frame.values instanceof Uint8Array && frame.colours > 1;
    return isBytes ? [0, 255] : (range ?? [0, 1]);
  }

  #paint(frame: Frame, number: number, plane: number): void {
    const [width, height] = screenSize(frame, this.#first);
    const [low, high] = [this.#low.valueAsNumber, this.#high.valueAsNumber];
    const pixels = pixelsOf(frame, this.#first, low, high);
    Object.assign(this.#canvas, { width, height });
    this.#canvas.getContext("2d")!.putImageData(new ImageData(pixels, width, height), 0, 0);
    this.drawn = { frame: number, plane, low, high, width, height, pixels };
  }

  #repaint(): void {
    if (this.#frame === undefined || this.drawn === undefined) return;
    if (!this.#isFixed) {
      const [low, high] = this.#scale(this.#frame, rangeOf(this.#frame));
      Object.assign(this.#low, { value: String(low) });
      Object.assign(this.#high, { value: String(high) });
    }
    this.#paint(this.#frame, this.drawn.frame, this.drawn.plane);
    this.#read();
  }

  #tools(): HTMLElement {
    const { axes } = this.stack;
    this.#slider.max = this.#number.max = String(axes.frames - 1);
    this.#plane.max = String(axes.planes - 1);
    const contrast = menu({ frame: "of each frame", fixed: "fixed" }, (value) => {
      this.#isFixed = value === "fixed";
      this.#low.disabled = this.#high.disabled = !this.#isFixed;
      this.#repaint();
    });
    const layout = menu({ across: "across (width, height)", down: "down (rows, columns)" }, (value) => {
      this.#first = value as FirstSide;
      this.#marker.hidden = true;
      this.#repaint();
    });
    const frames = [
      button("Previous", () => this.#go(this.#slider.valueAsNumber - 1)),
      button("Next", () => this.#go(this.#slider.valueAsNumber + 1)),
      labelled("Frame", this.#slider),
      labelled("Number", this.#number),
    ];
    return make(
      "div",
      { class: "viewer-tools", role: "group", "aria-label": "Frame and contrast" },
      ...(axes.hasFrames ? frames : []),
      ...(axes.hasPlanes ? [labelled("Plane", this.#plane)] : []),
      labelled("Contrast", contrast),
      labelled("Black", this.#low),
      labelled("White", this.#high),
      labelled("First axis", layout),
    );
  }

  #go(frame: number): void {
    if (!Number.isInteger(frame)) return;
    this.#slider.valueAsNumber = frame; // which stays within its ends
    this.#number.value = this.#slider.value;
    void this.refresh(SETTLING);
  }

  #listen(): void {
    this.#slider.addEventListener("input", () => this.#go(this.#slider.valueAsNumber));
    this.#number.addEventListener("change", () => this.#go(this.#number.valueAsNumber));
    this.#plane.addEventListener("input", () => void this.refresh(SETTLING));
    for (const end of [this.#low, this.#high]) end.addEventListener("change", () => this.#repaint());
    this.#canvas.addEventListener("pointermove", (event) => {
      const { width, height } = this.#canvas;
      const { clientWidth, clientHeight } = this.#canvas;
      this.#point(
        Math.floor((event.offsetX / clientWidth) * width),
        Math.floor((event.offsetY / clientHeight) * height),
      );
    });
    this.#canvas.addEventListener("keydown", (event) => {
      const steps: Record<string, [number, number]> = {
        ArrowLeft: [-1, 0],
        ArrowRight: [1, 0],
        ArrowUp: [0, -1],
        ArrowDown: [0, 1],
      };
      const step = steps[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.#point(this.#pixel[0] + step[0], this.#pixel[1] + step[1]);
    });
  }

  #point(x: number, y: number): void {
    const { width, height } = this.#canvas;
    this.#pixel = [Math.min(width - 1, Math.max(0, x)), Math.min(height - 1, Math.max(0, y))];
    const { style } = this.#marker;
    style.left = `${((this.#pixel[0] + 0.5) / width) * 100}%`;
    style.top = `${((this.#pixel[1] + 0.5) / height) * 100}%`;
    this.#marker.hidden = false;
    this.#read();
  }

  #read(): void {
    if (this.#frame === undefined || this.#marker.hidden) return;
    const [x, y] = this.#pixel;
    const at = elementAt(this.#frame, x, y, this.#first);
    const values = Array.from({ length: this.#frame.colours }, (_, i) =>
      shortNumber(Number(this.#frame!.values[at + i])),
    );
    this.#readout.textContent = `Pixel ${x} across, ${y} down: ${values.join(", ")}`;
  }

  #ask(nbytes: number): void {
    const read = button("Read it", () => {
      this.#mayBeLarge = true;
      void this.refresh(0);
    });
    const text = `The chunks that a frame lies in take up to ${bytesText(nbytes)}.`;
    this.#loading.stop();
    this.#large.replaceChildren(make("p", {}, text), read);
    this.#large.hidden = false;
  }

  #describe(): void {
    const { axes, axis } = this.stack;
    const count = axes.hasFrames ? `${axes.frames} frames of ` : "";
    const rate = axis?.rate === undefined ? "" : `, ${shortNumber(axis.rate)} Hz`;
    const depth = axes.hasPlanes ? ` × ${axes.planes} planes` : "";
    const size = `${axes.sides[0]} × ${axes.sides[1]}${depth}${axes.colours > 1 ? ` × ${axes.colours} colours` : ""}`;
    this.#about.textContent = [`${count}${size}${rate}.`, axis?.note].filter(Boolean).join(" ");
  }
}
