// Values of an array: of a small one all of them, of a large one those at its beginning when they are asked for.

import { openArray, readArray, ShadowzarrError, type ReferenceStore, type Values } from "../src/index.js";
import { problemText } from "../viewer/problems.js";
import { withFewestDigits } from "../viewer/units.js";
import { h, fill } from "./dom.js";
import { bytes, count } from "./format.js";
import { elementText } from "./valueText.js";

/** Elements that are shown at most. */
const MOST = 100;
/** Decoded bytes of a chunk that is not read unless one asks for it. */
const LARGE = 64 * 2 ** 20;

export class ValuesBox {
  readonly element: HTMLElement;
  readonly #shown = h("div", { role: "status" });
  readonly #button: HTMLButtonElement;

  constructor(
    private readonly store: ReferenceStore,
    private readonly path: string,
    private readonly shape: readonly number[],
    private readonly signal: AbortSignal,
  ) {
    const all = shape.reduce((product, extent) => product * extent, 1);
    const nbytes = this.#chunkNbytes();
    const isSmall = all <= MOST && nbytes <= LARGE;
    const what = nbytes > LARGE ? `Show the first values, whose chunk takes ${bytes(nbytes)}` : "Show the first values";
    this.#button = h("button", { type: "button", click: () => void this.#show() }, what);
    this.element = h("div", {}, h("h3", {}, "Values"), isSmall ? null : this.#button, this.#shown);
    if (isSmall) void this.#show();
  }

  /** Bytes of a chunk when it is decoded; of one whose elements have no fixed size, or that is not read here, 0. */
  #chunkNbytes(): number {
    try {
      return this.store.chunkNbytes(this.path) ?? 0;
    } catch (error) {
      if (error instanceof ShadowzarrError) return 0; // which is told where it is read
      throw error;
    }
  }

  async #show(): Promise<void> {
    fill(this.#shown, "Loading …");
    try {
      const array = await openArray(this.store, this.path, { signal: this.signal });
      const corner = cornerOf(this.shape);
      const values = await readArray(
        array,
        corner.map((extent) => ({ start: 0, stop: extent, step: 1 })),
        { signal: this.signal },
      );
      if (this.signal.aborted) return;
      const isPart = corner.some((extent, axis) => extent < this.shape[axis]!);
      fill(this.#shown, isPart ? h("p", {}, partText(corner)) : null, table(values));
      this.#button.hidden = true;
    } catch (error) {
      if (!this.signal.aborted) fill(this.#shown, h("p", {}, problemText(error)));
    }
  }
}

/** Extents of the part at the beginning that is shown: the last two axes as a table, of those before one step. */
export function cornerOf(shape: readonly number[]): number[] {
  const corner = shape.map((extent) => Math.min(extent, 1));
  let room = MOST;
  for (let axis = shape.length - 1; axis >= Math.max(0, shape.length - 2) && room > 1; axis--) {
    const isTable = axis === shape.length - 1 && shape.length > 1;
    corner[axis] = Math.min(shape[axis]!, isTable ? 10 : room);
    room = Math.max(1, Math.floor(room / Math.max(1, corner[axis]!)));
  }
  return corner;
}

function partText(corner: readonly number[]): string {
  return `[${corner.map((extent) => (extent === 1 ? "0" : `0:${count(extent)}`)).join(", ")}]`;
}

/** Rows along the axis before the last, or one value a line. */
function table({ data, shape }: Values): HTMLElement {
  const shown = withFewestDigits(data);
  const at = (i: number) => {
    const source = shown as unknown as { get?: (i: number) => unknown; [i: number]: unknown };
    return typeof source.get === "function" ? source.get(i) : source[i]; // zarrita's lists of truth values
  };
  const all = shape.reduce((product, extent) => product * extent, 1);
  if (all === 0) return h("p", {}, "no elements");
  const width = shape.length > 1 ? shape[shape.length - 1]! : 1;
  const rows = Array.from({ length: Math.ceil(all / width) }, (_, row) =>
    h(
      "tr",
      {},
      Array.from({ length: width }, (_, column) => h("td", {}, elementText(at(row * width + column)))),
    ),
  );
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Values" }, h("table", { class: "values" }, h("tbody", {}, rows)));
}
