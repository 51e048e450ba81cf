// Where the bytes of a chunk are, for coordinates that the reader gives.

import type { ChunkPlace, ReferenceStore } from "../src/index.js";
import { problemText } from "../viewer/problems.js";
import { h, fill, link, type Child } from "./dom.js";
import { bytes, count } from "./format.js";

export class ChunkFinder {
  readonly element: HTMLElement;
  readonly #found = h("p", { role: "status", class: "place" });
  readonly #boxes: HTMLInputElement[];

  constructor(
    private readonly store: ReferenceStore,
    private readonly path: string,
    private readonly signal: AbortSignal,
  ) {
    const title = h("h3", {}, "Where the bytes are");
    let grid: number[];
    try {
      grid = store.chunkGrid(path);
    } catch (error) {
      this.#boxes = [];
      this.element = h("div", {}, title, h("p", {}, problemText(error)));
      return;
    }
    this.#boxes = grid.map((extent, axis) => {
      const bounds = { min: 0, max: Math.max(0, extent - 1), value: 0, step: 1 };
      return h("input", { type: "number", ...bounds, "aria-label": `Axis ${axis}`, input: () => void this.#find() });
    });
    const isOne = grid.every((extent) => extent === 1);
    const form = h("p", { class: "coordinates", hidden: isOne }, "Chunk ( ", this.#boxes, " )");
    this.element = h("div", {}, title, form, this.#found);
    if (grid.includes(0)) fill(this.#found, "The array has no elements, and so no chunks.");
    else void this.#find();
  }

  async #find(): Promise<void> {
    const coordinates = this.#boxes.map((box) => box.valueAsNumber);
    try {
      const place = await this.store.locate(this.path, coordinates, { signal: this.signal });
      if (!this.signal.aborted && this.#isStill(coordinates)) fill(this.#found, placeText(place));
    } catch (error) {
      if (this.signal.aborted || !this.#isStill(coordinates)) return;
      fill(this.#found, error instanceof RangeError ? error.message : problemText(error));
    }
  }

  /** Whether these are the coordinates that are asked for now. */
  #isStill(coordinates: readonly number[]): boolean {
    return this.#boxes.every((box, axis) => Object.is(box.valueAsNumber, coordinates[axis])); // also of an empty box
  }
}

function placeText(place: ChunkPlace | undefined): Child {
  if (place === undefined) return "This chunk was never written; it shows the fill value.";
  const { url, offset, nbytes } = place;
  if (url === undefined) return `${bytes(nbytes)} in the references themselves.`;
  const file = link(url, {}, url);
  if (offset === undefined) return ["The whole of ", file];
  return [`Bytes ${count(offset)} to ${count(offset + nbytes! - 1)} (${bytes(nbytes)}) of `, file];
}
