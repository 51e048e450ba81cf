// What the catalogue holds in all, and of each dandiset.

import { archivePage } from "./archives.js";
import { time } from "./assetTable.js";
import { STATES, type Dandiset, type Overview, type State } from "./assets.js";
import { h, fill, link, pageLink, type Child } from "./dom.js";
import { bytes, count, NO_VALUE } from "./format.js";
import { catalogHash } from "./route.js";
import { dandisetName } from "./search.js";

const FEW = 10;
const TITLES = ["Dandiset", "Assets", "State", "Size", "References", "Last indexed"];
const NUMBERS = new Set(["Assets", "Size", "References"]);

/** All of it in a sentence. */
export function totals({ assets, dandisets }: Overview): HTMLElement {
  const sum = (of: (dandiset: Dandiset) => number) => dandisets.reduce((all, dandiset) => all + of(dandiset), 0);
  const size = sum((dandiset) => dandiset.size);
  const references = sum((dandiset) => dandiset.references_bytes);
  const isAll = dandisets.every(({ dandiset }) => /^\d{6}$/.test(dandiset));
  const where = isAll
    ? count(dandisets.length, "version of dandisets", "versions of dandisets")
    : count(dandisets.length, "dandiset or collection", "dandisets and collections");
  return h(
    "p",
    { class: "lead" },
    `${count(assets, "asset")} in ${where}: `,
    `${bytes(size)} of files, read through ${bytes(references)} of references.`,
  );
}

/** The table; of many dandisets the first, until all are asked for. */
export function dandisetTable({ dandisets }: Overview): HTMLElement {
  if (dandisets.length === 0) return h("p", {}, "Nothing was indexed yet.");
  const body = h("tbody", { role: "rowgroup" }, dandisets.slice(0, FEW).map(row));
  const more = h(
    "button",
    { type: "button", class: "more", hidden: dandisets.length <= FEW },
    `Show all ${count(dandisets.length)}`,
  );
  more.addEventListener("click", () => {
    fill(body, dandisets.map(row));
    more.hidden = true;
    body.querySelectorAll("a")[0]?.focus();
  });
  const heads = TITLES.map((title) =>
    h("th", { scope: "col", role: "columnheader", class: NUMBERS.has(title) ? "n" : undefined }, title),
  );
  const table = h(
    "table",
    { role: "table", class: "dandisets", "aria-labelledby": "dandisets" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
    body,
  );
  return h("div", {}, h("div", { class: "scroll" }, table), more);
}

function row(dandiset: Dandiset): HTMLElement {
  const name = dandisetName(dandiset);
  const archive = archivePage(dandiset);
  const outside = archive === undefined ? null : link(archive, { "aria-label": `${name} in the archive` }, "archive");
  const head = h("th", { scope: "row", role: "rowheader" }, pageLink(catalogHash({ dandiset: name }), {}, name), " ", outside);
  const cells: Child[] = [
    count(dandiset.assets),
    states(dandiset),
    bytes(dandiset.size),
    bytes(dandiset.references_bytes),
    time(dandiset.last_indexed),
  ];
  return h(
    "tr",
    { role: "row" },
    head,
    cells.map((child, number) => {
      const title = TITLES[number + 1]!;
      return h("td", { role: "cell", class: NUMBERS.has(title) ? "n" : undefined, "data-label": title }, h("div", {}, child));
    }),
  );
}

function states({ states, passed_over: reasons }: Dandiset): Child {
  const parts = Object.entries(states).map(([state, number]) => {
    const why = state === "skipped" ? ` (${reasonsText(reasons)})` : "";
    return h("span", { class: `pill ${state}` }, `${count(number)} ${STATES[state as State]}${why}`);
  });
  return parts.length === 0 ? NO_VALUE : h("span", { class: "links" }, parts);
}

function reasonsText(reasons: Record<string, number>): string {
  const entries = Object.entries(reasons);
  if (entries.length === 1) return entries[0]![0];
  return entries.map(([reason, number]) => `${count(number)} ${reason}`).join(", ");
}
