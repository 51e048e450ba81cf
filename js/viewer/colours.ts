// Colours for canvases, which style sheets do not reach: those of classes in `viewer.css`, by the page's scheme.

import { make } from "./dom.js";

/** What lines, text and grids are drawn in. */
export interface Colours {
  lines: string[];
  ink: string;
  grid: string;
}

const LINES = 6;

/** The colours of an element's scheme now. */
export function coloursOf(element: HTMLElement): Colours {
  const probe = make("span", { hidden: true });
  element.append(probe);
  const colour = (name: string) => {
    probe.className = `viewer-colour-${name}`;
    return getComputedStyle(probe).color;
  };
  const lines = Array.from({ length: LINES }, (_, i) => colour(String(i)));
  const colours = { lines, ink: colour("ink"), grid: colour("grid") };
  probe.remove();
  return colours;
}

/** Call a function when the page's scheme changes, until the signal ends. */
export function onScheme(change: () => void, signal: AbortSignal): void {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", change, { signal });
  const watch = new MutationObserver(change); // pages with a switch of their own mark their root
  watch.observe(document.documentElement, { attributes: true });
  signal.addEventListener("abort", () => watch.disconnect(), { once: true });
}
