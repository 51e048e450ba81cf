// The page: what is at the top of it, and which of its parts is shown by the address.

import { Catalog, reloadText } from "./assets.js";
import { CatalogPage } from "./catalogPage.js";
import { fill, fileAddress, h, link, pageLink } from "./dom.js";
import { catalogHash, NO_QUERY, parseRoute, type Query } from "./route.js";
import { themeButton } from "./theme.js";
import "./site.css";

const page = document.getElementById("page")!;
const main = h("main", { id: "main", tabindex: -1 });

interface Part {
  readonly element: HTMLElement;
  readonly title: string;
  destroy(): void;
}

async function start(): Promise<void> {
  const folder = document.querySelector<HTMLMetaElement>('meta[name="shadowzarr-catalog"]')!.content;
  const catalog = await Catalog.open(folder);
  fill(page, header(catalog.overview.report), main);
  const site = new Site(catalog);
  addEventListener("hashchange", () => void site.show().catch((error: unknown) => site.tell(error)));
  await site.show();
}

/** What is shown, one part at a time. */
class Site {
  #part: (Part & { update?(query: Query): void }) | undefined;
  #query = NO_QUERY;
  #turn = 0;

  constructor(private readonly catalog: Catalog) {}

  async show(): Promise<void> {
    const route = parseRoute(location.hash);
    const turn = ++this.#turn;
    if (route.page === "catalog") {
      this.#query = route.query;
      if (this.#part instanceof CatalogPage) this.#part.update(route.query);
      else this.#change(new CatalogPage(this.catalog, route.query));
      return;
    }
    const { AssetPage } = await import("./assetPage.js");
    if (turn !== this.#turn) return; // the reader has gone on
    const back = catalogHash(this.#query);
    if (this.#part instanceof AssetPage && this.#part.isOf(route.place)) this.#part.select(route.node, route.view);
    else this.#change(new AssetPage(this.catalog, route, back));
  }

  /** Show what went wrong in place of the part that was wanted. */
  tell(error: unknown): void {
    const title = "This page cannot be shown";
    this.#change({ title, element: problemPage(title, error), destroy: () => undefined });
  }

  #change(part: Part): void {
    const isFirst = this.#part === undefined;
    this.#part?.destroy();
    this.#part = part;
    fill(main, part.element);
    document.title = part.title;
    if (isFirst) return;
    scrollTo(0, 0);
    main.querySelector("h1")?.focus();
  }
}

function header(report: string | null): HTMLElement {
  return h(
    "header",
    { class: "top" },
    skipLink(),
    pageLink("#/", { class: "home" }, "Catalogue"),
    h(
      "nav",
      { "aria-label": "Site" },
      report === null ? null : link(fileAddress(report), {}, "Report of the latest run"),
      themeButton(),
    ),
  );
}

/** Past the header, for keyboards; the address stays, which says what is shown. */
function skipLink(): HTMLElement {
  return h("button", { type: "button", class: "skip", click: () => main.focus() }, "To the content");
}

function problemPage(title: string, error: unknown): HTMLElement {
  return h("div", {}, h("h1", { tabindex: -1 }, title), h("p", { role: "alert" }, reloadText(error)));
}

void start().catch((error: unknown) => {
  fill(page, h("main", {}, problemPage("The catalogue cannot be shown", error)));
});
