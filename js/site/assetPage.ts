// One asset: what is known of it, the tree of its file from the references, and a node of that.

import { ReferenceStore } from "../src/index.js";
import { Traffic, viewsOf } from "../viewer/index.js";
import { problemText } from "../viewer/problems.js";
import { assetLinks, comparedText, statePill, time } from "./assetTable.js";
import type { Asset, Catalog } from "./assets.js";
import { fileAddress, fill, h, pageLink, type Child } from "./dom.js";
import { bytes, count } from "./format.js";
import { NodePane } from "./nodePane.js";
import { assetHash, type AssetPlace, type Route } from "./route.js";
import { TreeView } from "./treeView.js";
import { ViewList } from "./viewList.js";

const MOST_LEFT_OUT = 100;

export class AssetPage {
  readonly element: HTMLElement;
  readonly title: string;
  readonly #place: AssetPlace;
  readonly #body = h("div", {}, h("p", { role: "status" }, "Loading …"));
  readonly #controller = new AbortController();
  readonly #traffic = new Traffic();
  #tree: TreeView | undefined;
  #pane: NodePane | undefined;
  #views: ViewList | undefined;
  #wanted: { node: string; view: string };

  /** @param back - Where the catalogue was left. */
  constructor(
    private readonly catalog: Catalog,
    route: Extract<Route, { page: "asset" }>,
    back: string,
  ) {
    const { dandiset, version, path } = route.place;
    this.#place = route.place;
    this.title = `${path}: references`;
    this.element = h(
      "article",
      {},
      h("p", {}, pageLink(back, {}, "← Back to the catalogue")),
      h("h1", { tabindex: -1 }, path),
      h("p", { class: "lead" }, `${dandiset}/${version}`),
      this.#body,
    );
    this.#wanted = { node: route.node, view: route.view };
    void this.#fill();
  }

  isOf({ dandiset, version, path }: AssetPlace): boolean {
    return dandiset === this.#place.dandiset && version === this.#place.version && path === this.#place.path;
  }

  /** Show a node, and a view of it; while the references are being loaded, once they are. */
  select(node: string, view = ""): void {
    this.#wanted = { node, view };
    this.#tree?.select(node);
    this.#views?.mark(node, view);
    this.#pane?.show(node, view);
    if (view !== "") this.#pane?.element.scrollIntoView({ block: "start" });
  }

  destroy(): void {
    this.#controller.abort();
    this.#pane?.destroy();
  }

  async #fill(): Promise<void> {
    const { signal } = this.#controller;
    try {
      const asset = await this.catalog.find(this.#place);
      if (signal.aborted) return;
      if (asset === undefined) return fill(this.#body, h("p", { role: "alert" }, "The catalogue has no such asset."));
      const file = h("div", {}, h("p", { role: "status" }, "Loading the references …"));
      fill(this.#body, facts(asset), file);
      if (asset.references === null) return fill(file, h("p", {}, "There are no references of it."));
      await this.#open(asset.references, file);
      if (!signal.aborted) this.select(this.#wanted.node, this.#wanted.view);
    } catch (error) {
      if (!signal.aborted) fill(this.#body, h("p", { role: "alert" }, problemText(error)));
    }
  }

  /** Load the references into an element. */
  async #open(references: string, element: HTMLElement): Promise<void> {
    const { signal } = this.#controller;
    let store: ReferenceStore;
    try {
      store = await ReferenceStore.fromUrl(fileAddress(references), { fetch: this.#traffic.fetch, signal });
    } catch (error) {
      if (!signal.aborted) fill(element, h("p", { role: "alert" }, problemText(error)));
      return;
    }
    const hash = (node: string, view = "") => assetHash(this.#place, node, view);
    const views = viewsOf(store);
    this.#pane = new NodePane(store, views, this.#traffic, hash);
    this.#tree = new TreeView(store, (node) => (location.hash = hash(node)));
    this.#views = new ViewList(views, hash);
    fill(
      element,
      this.#views.element,
      h(
        "div",
        { class: "file" },
        h("section", { class: "tree-side", "aria-labelledby": "tree" }, h("h2", { id: "tree" }, "File"), this.#tree.element),
        this.#pane.element,
      ),
      leftOut(store),
      this.#trafficLine(),
    );
  }

  #trafficLine(): HTMLElement {
    const line = h("p", { class: "status" });
    const show = () =>
      fill(line, `Since this asset was opened: ${count(this.#traffic.requests, "request")}, ${bytes(this.#traffic.nbytes)}.`);
    this.#traffic.onChange(show, this.#controller.signal);
    show();
    return line;
  }
}

function facts(asset: Asset): HTMLElement {
  const rows: [string, Child][] = [
    ["State", [statePill(asset.state), asset.problem === null ? null : ` ${asset.problem}`]],
    ["Size", `${bytes(asset.size)}; references ${bytes(asset.references_bytes)}`],
    ["Holds", asset.arrays === null ? null : `${count(asset.arrays, "array")}, ${count(asset.chunks, "chunk")}`],
    ["Compared with the original", comparedText(asset)],
    ["Indexed", time(asset.indexed_at)],
    ["Links", h("span", { class: "links" }, assetLinks(asset))],
    ["Species", asset.species],
    ["Subject", [asset.subject_id, asset.sex, asset.age, asset.genotype].filter(Boolean).join(", ")],
    ["Session", [asset.session_id, asset.session_start_time].filter(Boolean).join(", ")],
    ["Description", asset.session_description],
    ["Experimenters", (asset.experimenters ?? []).join("; ")],
    ["Laboratory", [asset.lab, asset.institution].filter(Boolean).join(", ")],
    ["Keywords", (asset.keywords ?? []).join(", ")],
    ["Identifier", asset.asset_id],
    ["ETag", asset.etag],
  ];
  const shown = rows.filter(([, value]) => value !== null && value !== "");
  return h("dl", { class: "facts" }, shown.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** What the references leave out, with the reasons. */
function leftOut(store: ReferenceStore): HTMLElement | null {
  const { skipped } = store.document as { skipped?: unknown };
  if (!Array.isArray(skipped) || skipped.length === 0) return null;
  const text = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value) ?? "");
  const lines = (skipped as { path?: unknown; reason?: unknown }[])
    .slice(0, MOST_LEFT_OUT)
    .map(({ path, reason }) => h("li", {}, h("code", {}, `/${text(path).replace(/^\//, "")}`), `: ${text(reason)}`));
  const more = skipped.length - lines.length;
  return h(
    "details",
    { class: "left-out" },
    h("summary", {}, `${count(skipped.length, "object")} left out of the references`),
    h("ul", {}, lines, more > 0 ? h("li", {}, `and ${count(more)} more`) : null),
  );
}
