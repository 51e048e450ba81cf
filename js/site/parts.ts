// Long lists, of which a part is made at a time: a hundred thousand rows at once keep a page from answering.

import { h } from "./dom.js";
import { count } from "./format.js";

const AT_ONCE = 500;

/** Fill an element with the first of some items; the button, hidden when these are all, adds the next. */
export function inParts<T>(items: readonly T[], into: Element, made: (item: T) => Element): HTMLButtonElement {
  const button = h("button", { type: "button" });
  let filled = 0;
  const more = () => {
    const part = items.slice(filled, filled + AT_ONCE).map(made);
    into.append(...part);
    filled += part.length;
    button.hidden = filled >= items.length;
    button.textContent = `Show more of ${count(items.length - filled)} further`;
  };
  button.addEventListener("click", more);
  more();
  return button;
}
