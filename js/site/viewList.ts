// What of a file can be drawn, as links.

import type { NodeView } from "../viewer/index.js";
import { h, pageLink } from "./dom.js";
import { count } from "./format.js";

const FEW = 12;

/** The list; a long one shows its beginning until all of it is asked for. */
export class ViewList {
  readonly element: HTMLElement;
  readonly #links = new Map<string, HTMLAnchorElement>();

  /** @param hash - Gives the address of a view of a node. */
  constructor(views: readonly NodeView[], hash: (node: string, view: string) => string) {
    const items = views.map(({ path, kind, title }) => {
      const link = pageLink(hash(path, kind), {}, title);
      this.#links.set(`${kind} ${path}`, link);
      return h("li", {}, link, h("small", {}, ` /${path}`));
    });
    const rest = h("ul", { class: "views", hidden: true }, items.slice(FEW));
    const more = h("button", { type: "button", hidden: items.length <= FEW }, `Show all ${count(items.length)}`);
    more.addEventListener("click", () => {
      rest.hidden = false;
      more.hidden = true;
      rest.querySelector("a")?.focus();
    });
    this.element = h(
      "section",
      { "aria-labelledby": "views", hidden: items.length === 0 },
      h("h2", { id: "views" }, "Views"),
      h("ul", { class: "views" }, items.slice(0, FEW)),
      rest,
      more,
    );
  }

  /** Mark the view that is shown. */
  mark(node: string, view: string): void {
    for (const [name, link] of this.#links) {
      if (name === `${view} ${node}`) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }
}
