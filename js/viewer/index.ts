// The viewer of one node of an NWB file: traces, spike raster, image stack or table, read by a `ReferenceStore`.
//
// What a page does with it:
//
//     import { Traffic, mountViewer, viewsOf } from "./viewer/index.js";
//
//     const traffic = new Traffic();
//     const store = await ReferenceStore.fromUrl(url, { fetch: traffic.fetch });
//     for (const view of viewsOf(store)) …            // which nodes can be shown, and how; without a request
//     const viewer = mountViewer(container, { store, traffic, path, kind });
//     viewer.destroy();                               // gives up what is under way and empties the container
//
// This module is small; what draws is loaded when a view is mounted. The page has `viewer.css` in its style sheet, and
// says by `color-scheme` which colours are wanted. A
// content-security policy needs no more than `script-src 'self' 'wasm-unsafe-eval'; style-src 'self'` for it (decoders
// of Blosc, LZ4 and Zstandard are WebAssembly). Data comes into the page as text nodes and pixels alone.

import type { ReferenceStore } from "../src/index.js";
import { problemText } from "./problems.js";
import { Traffic } from "./traffic.js";
import { undrawnReason, viewsOf, type NodeView, type ViewKind } from "./views.js";
import { visible } from "./visible.js";

export { Traffic, undrawnReason, viewsOf, type NodeView, type ViewKind };

export interface ViewerOptions {
  store: ReferenceStore;
  /** Path of the node, as `viewsOf` gives it. */
  path: string;
  /** How to show it; the first of its views by default. */
  kind?: ViewKind;
  /** What counts the store's requests; without it the view does not say how many it took. */
  traffic?: Traffic;
  /** Decoded bytes that traces may read for one picture; of longer windows samples are drawn, and said to be. */
  budget?: number;
  /** Ends the viewer, as `destroy` does. */
  signal?: AbortSignal;
}

/** A view that is on the page. */
export interface Viewer {
  /** When the first picture is drawn, or a message says why there is none; it is never rejected. */
  readonly ready: Promise<void>;
  /** What is drawn now, for tests: the values of traces, spikes, pixels or cells. */
  drawn(): unknown;
  /** Give up what is under way and empty the container. */
  destroy(): void;
}

/** The element that a view was mounted in. */
export interface ViewerElement extends HTMLElement {
  viewer?: Viewer;
}

/** What a view's module exports: it fills the container, and resolves when the first picture is drawn. */
export type Mount = (container: HTMLElement, options: MountOptions) => Promise<() => unknown>;

/** The options of a view, none left out. */
export type MountOptions = Required<Omit<ViewerOptions, "kind">>;

const BUDGET = 16 * 2 ** 20;

/**
 * Show a node in an element of the page.
 *
 * Whatever goes wrong is shown in the element, in words.
 *
 * @param container - An empty element; it gets the class `shadowzarr-viewer`, and the viewer as a property.
 */
export function mountViewer(container: ViewerElement, options: ViewerOptions): Viewer {
  const controller = new AbortController();
  const { store, path, traffic = new Traffic(), budget = BUDGET } = options;
  let drawn: () => unknown = () => undefined;
  const destroy = () => {
    if (controller.signal.aborted) return;
    controller.abort(new DOMException("the viewer was closed", "AbortError"));
    container.replaceChildren();
    container.classList.remove("shadowzarr-viewer");
    delete container.viewer;
  };
  options.signal?.addEventListener("abort", destroy, { once: true, signal: controller.signal });
  container.classList.add("shadowzarr-viewer");

  const mount = async () => {
    try {
      const kind = options.kind ?? viewsOf(store).find((view) => view.path === path)?.kind;
      if (kind === undefined) throw new Error(`nothing of /${path} can be drawn`);
      const { mount } = await MODULES[kind]();
      const { signal } = controller;
      signal.throwIfAborted();
      drawn = await mount(container, { store, path, traffic, budget, signal });
    } catch (error) {
      if (!controller.signal.aborted) showProblem(container, error);
    }
  };
  const viewer: Viewer = { ready: mount(), drawn: () => drawn(), destroy };
  container.viewer = viewer;
  return viewer;
}

const MODULES: Record<ViewKind, () => Promise<{ mount: Mount }>> = {
  traces: () => import("./traces.js"),
  raster: () => import("./raster.js"),
  images: () => import("./images.js"),
  table: () => import("./table.js"),
};

function showProblem(container: HTMLElement, error: unknown): void {
  const message = document.createElement("p");
  message.setAttribute("role", "alert");
  message.className = "viewer-problem";
  message.textContent = visible(problemText(error));
  container.replaceChildren(message);
}
