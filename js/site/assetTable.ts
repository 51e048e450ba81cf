// The table of assets: as many rows as fit on a page, whatever is found.

import { archivePage } from "./archives.js";
import { STATES, type Asset, type State } from "./assets.js";
import { fileAddress, fill, h, link, pageLink, type Child } from "./dom.js";
import { age, bytes, count, NO_VALUE } from "./format.js";
import { assetHash } from "./route.js";
import type { Sort } from "./search.js";

/** Rows of a page. */
export const ROWS = 50;
const TYPES = 4;

const COLUMNS: { title: string; sort?: Sort; class?: string }[] = [
  { title: "Asset", sort: "path" },
  { title: "State", sort: "state" },
  { title: "Size", sort: "size", class: "n" },
  { title: "References", sort: "references", class: "n" },
  { title: "Compared" },
  { title: "Neurodata types" },
  { title: "Indexed", sort: "indexed" },
  { title: "Links" },
];

/** The table; on narrow screens its rows are cards, so that its roles stand there in words. */
export class AssetTable {
  readonly element: HTMLElement;
  readonly #body = h("tbody", { role: "rowgroup" });
  readonly #heads: HTMLElement[];
  #shown: readonly Asset[] = [];

  /** @param sortBy - Is told which order is wanted. */
  constructor(sortBy: (sort: string) => void) {
    this.#heads = COLUMNS.map(({ title, sort, class: kind }) => {
      const button = h("button", { type: "button" }, title);
      const head = h("th", { scope: "col", role: "columnheader", class: kind }, sort === undefined ? title : button);
      button.addEventListener("click", () => {
        const isDown = head.ariaSort === null ? kind === "n" || sort === "indexed" : head.ariaSort === "ascending";
        sortBy(`${isDown ? "-" : ""}${sort}`);
      });
      return head;
    });
    this.element = h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { role: "table", class: "assets", "aria-labelledby": "assets" },
        h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, this.#heads)),
        this.#body,
      ),
    );
  }

  /** Show some assets, and by what they are ordered. */
  show(assets: readonly Asset[], sort: string): void {
    for (const [number, head] of this.#heads.entries()) {
      const isIt = COLUMNS[number]!.sort === sort.replace(/^-/, "");
      head.ariaSort = isIt ? (sort.startsWith("-") ? "descending" : "ascending") : null;
    }
    // Parts of the catalogue come in while its first assets are shown already.
    const isSame = assets.length === this.#shown.length && assets.every((asset, i) => asset === this.#shown[i]);
    if (!isSame) fill(this.#body, assets.map(row));
    this.#shown = assets;
  }
}

/** A state as a word with a colour. */
export function statePill(state: State): HTMLElement {
  return h("span", { class: `pill ${state}` }, STATES[state]);
}

/** How the references were compared with the original. */
export function comparedText({ verification, references }: Asset): string {
  if (references === null) return NO_VALUE;
  if (verification === "same blob") return "equal (same blob)";
  return verification === null ? "no" : `equal (${verification})`;
}

/** Links to an asset's file, its page in the archive and its references. */
export function assetLinks(asset: Asset): HTMLElement[] {
  const { url, references, path } = asset;
  const links: HTMLElement[] = [];
  const archive = archivePage(asset, path);
  if (archive !== undefined) links.push(link(archive, { "aria-label": `${path} in the archive` }, "archive"));
  if (url?.startsWith("http")) links.push(link(url, { "aria-label": `the file ${path}` }, "file"));
  if (references !== null) {
    const document = references.endsWith(".json") ? references : `${references}/refs.json`;
    links.push(link(fileAddress(document), { "aria-label": `references of ${path}` }, "references"));
  }
  return links;
}

function row(asset: Asset): HTMLElement {
  const name = asset.references === null ? asset.path : pageLink(assetHash(asset), {}, asset.path);
  return h(
    "tr",
    { role: "row" },
    h("th", { scope: "row", role: "rowheader" }, name, h("small", {}, `${asset.dandiset}/${asset.version}`)),
    cell(1, statePill(asset.state), asset.problem === null ? null : h("small", {}, asset.problem)),
    cell(2, bytes(asset.size)),
    cell(3, bytes(asset.references_bytes)),
    cell(4, comparedText(asset)),
    cell(5, typesText(asset.types), asset.species === null ? null : h("small", {}, asset.species)),
    cell(6, time(asset.indexed_at)),
    cell(7, h("span", { class: "links" }, assetLinks(asset))),
  );
}

function cell(number: number, ...children: Child[]): HTMLElement {
  const { title, class: kind } = COLUMNS[number]!;
  return h("td", { role: "cell", class: kind, "data-label": title }, h("div", {}, children));
}

/** Types that most files have, whatever was recorded. */
const USUAL =
  /^(NWBFile|Subject|Device|Images|Vector(Data|Index)|DynamicTable(Region)?|ElementIdentifiers|ProcessingModule|\w+Group|\w+Table|ImagingPlane|OpticalChannel)$/;

/** The types of an asset, those first that tell what was recorded. */
function typesText(types: readonly string[] | null): string {
  if (types === null || types.length === 0) return NO_VALUE;
  const ordered = [...types.filter((type) => !USUAL.test(type)), ...types.filter((type) => USUAL.test(type))];
  const more = ordered.length - TYPES;
  return ordered.slice(0, TYPES).join(", ") + (more > 0 ? `, and ${count(more)} more` : "");
}

/** How long ago, with the time itself. */
export function time(when: string | null): Child {
  return when === null ? NO_VALUE : h("time", { datetime: when, title: when }, age(when));
}
