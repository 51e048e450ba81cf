// The catalogue: what is searched and filtered by, and the assets that are found, a page of rows at a time.

import { AssetTable, ROWS } from "./assetTable.js";
import { reloadText, STATES, type Asset, type Catalog } from "./assets.js";
import { dandisetTable, totals } from "./dandisetTable.js";
import { fill, h, type Child } from "./dom.js";
import { count } from "./format.js";
import { catalogHash, NO_QUERY, type Query } from "./route.js";
import { dandisetName, search } from "./search.js";

const VERIFICATIONS = { full: "every value", sample: "a sample", "same blob": "with the same blob", none: "no" };

export class CatalogPage {
  readonly element: HTMLElement;
  readonly title = "Catalogue of references";
  readonly #table: AssetTable;
  readonly #status = h("p", { role: "status", class: "status" });
  readonly #problem = h("p", { role: "alert", hidden: true });
  readonly #controls = new Map<keyof Query, HTMLInputElement | HTMLSelectElement>();
  #query: Query;
  #isGone = false;
  #isBroken = false;

  constructor(
    private readonly catalog: Catalog,
    query: Query,
  ) {
    const { overview } = catalog;
    this.#query = query;
    this.#table = new AssetTable((sort) => this.#change({ sort }));
    this.element = h(
      "div",
      {},
      h("h1", { tabindex: -1 }, "Catalogue of references"),
      totals(overview),
      h("section", { "aria-labelledby": "dandisets" }, h("h2", { id: "dandisets" }, "Dandisets"), dandisetTable(overview)),
      h(
        "section",
        { "aria-labelledby": "assets" },
        h("h2", { id: "assets" }, "Assets"),
        this.#form(),
        this.#problem,
        this.#status,
        this.#table.element,
        this.#pages(),
      ),
    );
    this.update(query);
    void this.#load();
  }

  /** Show what another query finds. */
  update(query: Query): void {
    this.#query = query;
    for (const [name, control] of this.#controls) {
      if (control.value !== String(query[name])) control.value = String(query[name]);
    }
    this.#show();
  }

  destroy(): void {
    this.#isGone = true;
  }

  /** Load all parts, the page staying usable. */
  async #load(): Promise<void> {
    try {
      for (let isWhole = this.catalog.isWhole; !isWhole && !this.#isGone; ) {
        isWhole = await this.catalog.more();
        this.#show();
        await new Promise((resolve) => setTimeout(resolve));
      }
    } catch (error) {
      this.#isBroken = true;
      this.#problem.hidden = false;
      fill(this.#problem, reloadText(error));
      this.#show();
    }
  }

  #form(): HTMLElement {
    const { dandisets, types, species } = this.catalog.overview;
    const names = dandisets.map(dandisetName).map((name): [string, string] => [name, name]);
    const counted = (values: [string, number][]) =>
      values.map(([value, number]): [string, string] => [value, `${value} (${count(number)})`]);
    const box = h("input", {
      ...{ type: "search", id: "search", autocomplete: "off", spellcheck: "false", "aria-describedby": "search-help" },
      input: () => this.#change({ q: box.value }),
    });
    this.#controls.set("q", box);
    return h(
      "form",
      { class: "filters", role: "search", submit: (event: Event) => event.preventDefault() },
      h(
        "div",
        { class: "wide" },
        h("label", { for: "search" }, "Search"),
        box,
        h("small", { id: "search-help" }, "path, neurodata type, species, subject, session, lab, …; all words have to be there"),
      ),
      this.#choice("dandiset", "Dandiset", names),
      this.#choice("state", "State", Object.entries(STATES)),
      this.#choice("type", "Neurodata type", counted(types)),
      this.#choice("species", "Species", counted(species)),
      this.#choice("verification", "Compared with the original", Object.entries(VERIFICATIONS)),
      h("button", { type: "button", click: () => this.#change({ ...NO_QUERY, sort: this.#query.sort }) }, "Clear"),
    );
  }

  #choice(name: keyof Query, label: string, values: [string, string][]): HTMLElement {
    const all = h("option", { value: "" }, "all");
    const options = values.map(([value, text]) => h("option", { value }, text));
    const select = h("select", { id: name, change: () => this.#change({ [name]: select.value }) }, all, options);
    this.#controls.set(name, select);
    return h("div", {}, h("label", { for: name }, label), select);
  }

  #pages(): HTMLElement {
    const step = (by: number) => {
      this.#change({ page: this.#query.page + by });
      this.#table.element.scrollIntoView({ block: "start" });
    };
    return h(
      "nav",
      { class: "pages", "aria-label": "Pages of assets" },
      h("button", { type: "button", id: "earlier", click: () => step(-1) }, "Previous"),
      h("button", { type: "button", id: "later", click: () => step(1) }, "Next"),
    );
  }

  #change(change: Partial<Query>): void {
    this.update({ ...this.#query, page: 1, ...change });
    history.replaceState(null, "", catalogHash(this.#query));
  }

  #show(): void {
    if (this.#isGone) return;
    const { assets, overview, isWhole } = this.catalog;
    const found = search(assets, this.#query);
    const last = Math.max(1, Math.ceil(found.length / ROWS));
    const page = Math.min(this.#query.page, last);
    // Until all rows are there, a page that is asked for may be yet to come.
    if (isWhole) this.#query.page = page;
    const start = (page - 1) * ROWS;
    this.#table.show(found.slice(start, start + ROWS), this.#query.sort);
    fill(this.#status, this.#told(found, start, assets.length < overview.assets));
    const button = (id: string) => this.element.querySelector<HTMLButtonElement>(`#${id}`)!;
    button("earlier").disabled = page <= 1;
    button("later").disabled = page >= last;
  }

  #told(found: Asset[], start: number, isLoading: boolean): Child {
    const { assets } = this.catalog.overview;
    const loaded = count(this.catalog.assets.length);
    const loading = isLoading ? `; ${loaded} are loaded${this.#isBroken ? "" : " so far"}` : "";
    if (found.length === 0 && isLoading && !this.#isBroken) return `Loading ${count(assets, "asset")} …`;
    if (found.length === 0) return isLoading ? `None of the ${loaded} that are loaded is like that.` : "No asset is like that.";
    const stop = Math.min(start + ROWS, found.length);
    const of = found.length === assets ? count(assets, "asset") : `${count(found.length)} of ${count(assets, "asset")}`;
    return `${count(start + 1)}–${count(stop)} of ${of}${loading}`;
  }
}
