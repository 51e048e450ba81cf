// One node of a file: its view, attributes, and of an array how it is stored, where its bytes are, and values.

import { ShadowzarrError, type ReferenceStore } from "../src/index.js";
import { mountViewer, undrawnReason, type NodeView, type Traffic, type Viewer, type ViewKind } from "../viewer/index.js";
import { problemText } from "../viewer/problems.js";
import { resolvePath } from "../viewer/tree.js";
import { isCount } from "../src/document.js";
import { isObject } from "../src/json.js";
import { ChunkFinder } from "./chunkFinder.js";
import { h, fill, pageLink, type Child } from "./dom.js";
import { count, shape as shapeText } from "./format.js";
import { inParts } from "./parts.js";
import { ValuesBox } from "./valuesBox.js";
import { jsonText, longText } from "./valueText.js";

/** Attributes of the conventions of the references themselves, which other parts of the page show. */
const OWN = new Set(["_LINKS"]);

type Metadata = ReturnType<ReferenceStore["metadata"]>;
type Hash = (node: string, view?: string) => string;

export class NodePane {
  readonly element = h("section", { class: "node", "aria-labelledby": "node" });
  #viewer: Viewer | undefined;
  #controller = new AbortController();

  constructor(
    private readonly store: ReferenceStore,
    private readonly views: readonly NodeView[],
    private readonly traffic: Traffic,
    private readonly hash: Hash,
  ) {}

  /** Show a node; `view` is the kind of view that is drawn of it, or nothing. */
  show(path: string, view: string): void {
    this.destroy();
    this.#controller = new AbortController();
    if (!Object.hasOwn(this.store.document.refs, path === "" ? "zarr.json" : `${path}/zarr.json`)) {
      return fill(this.element, heading(path), h("p", { role: "alert" }, "The references have no such node."));
    }
    try {
      fill(this.element, heading(path), ...this.#parts(path, view));
    } catch (error) {
      if (!(error instanceof ShadowzarrError)) throw error;
      fill(this.element, heading(path), h("p", { role: "alert" }, problemText(error)));
    }
  }

  destroy(): void {
    this.#controller.abort();
    this.#viewer?.destroy();
    this.#viewer = undefined;
  }

  #parts(path: string, view: string): Child[] {
    const metadata = this.store.metadata(path);
    const attributes = attributesTable(this.store.attributes(path)); // first: it may be damaged, and nothing is read yet
    return [
      this.#viewLinks(path, view),
      this.#drawn(path, view),
      this.#about(path, metadata),
      attributes,
      metadata["node_type"] === "array" ? this.#array(path, metadata) : this.#links(path),
    ];
  }

  #viewLinks(path: string, shown: string): HTMLElement | null {
    const views = this.views.filter((view) => view.path === path);
    if (views.length === 0) {
      const reason = undrawnReason(this.store, path);
      return reason === undefined ? null : h("p", {}, `It cannot be drawn: ${reason}.`);
    }
    const links = views.map(({ kind, title }) =>
      pageLink(this.hash(path, kind), { class: "view", "aria-current": kind === shown ? "true" : undefined }, title),
    );
    return h("p", { class: "links" }, "Views: ", links);
  }

  #drawn(path: string, view: string): HTMLElement | null {
    const found = this.views.find((each) => each.path === path && each.kind === view);
    if (found === undefined) return null;
    const container = h("div", { class: "drawn" });
    this.#viewer = mountViewer(container, { store: this.store, path, kind: view as ViewKind, traffic: this.traffic });
    return container;
  }

  #about(path: string, metadata: Metadata): HTMLElement {
    const children = this.store.children(path).length;
    const rows: [string, Child][] =
      metadata["node_type"] === "array"
        ? arrayRows(this.store, path, metadata)
        : [["Group", count(children, "member")]];
    return h("dl", { class: "facts" }, rows.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
  }

  #array(path: string, metadata: Metadata): HTMLElement {
    const { signal } = this.#controller;
    const values = new ValuesBox(this.store, path, metadata["shape"] as number[], signal);
    const finder = new ChunkFinder(this.store, path, signal);
    return h("div", {}, values.element, finder.element);
  }

  /** Where the links of a group lead. */
  #links(path: string): HTMLElement | null {
    const links = this.store.attributes(path)["_LINKS"];
    if (!Array.isArray(links) || links.length === 0) return null;
    const item = (link: unknown) => {
      const { name, path: target } = isObject(link) ? link : ({} as { name?: unknown; path?: unknown });
      const found = typeof target === "string" ? resolvePath(this.store, target) : undefined;
      const shown = typeof target === "string" ? target : jsonText(target as never);
      const place = found === undefined ? shown : pageLink(this.hash(found), {}, shown);
      return h("li", {}, h("code", {}, typeof name === "string" ? name : jsonText(name)), " → ", place);
    };
    const list = h("ul");
    return h("div", {}, h("h3", {}, "Links"), list, inParts(links as unknown[], list, item));
  }
}

function heading(path: string): HTMLElement {
  return h("h2", { id: "node" }, h("code", {}, `/${path}`));
}

function arrayRows(store: ReferenceStore, path: string, metadata: Metadata): [string, Child][] {
  const { configuration } = metadata["chunk_grid"] as { configuration?: unknown };
  const edges = isObject(configuration) ? configuration["chunk_shape"] : undefined;
  const names = metadata["dimension_names"];
  const rows: [string, Child][] = [
    ["Shape", shapeText(metadata["shape"] as number[])],
    ["Data type", typeText(metadata["data_type"])],
    ["Chunk shape", Array.isArray(edges) && edges.every(isCount) ? shapeText(edges) : jsonText(edges)],
    ["Chunks", chunksText(store, path)],
    ["Codecs", (metadata["codecs"] as unknown[]).map(codecText).join(", ")],
    ["Fill value", jsonText(metadata["fill_value"])],
  ];
  if (Array.isArray(names)) rows.splice(1, 0, ["Dimensions", names.map((name) => (typeof name === "string" ? name : name === null ? "–" : jsonText(name))).join(", ")]);
  return rows;
}

function chunksText(store: ReferenceStore, path: string): string {
  try {
    const grid = store.chunkGrid(path);
    const all = grid.reduce((product, extent) => product * extent, 1);
    return grid.length > 1 ? `${count(all)} (${shapeText(grid)})` : count(all);
  } catch (error) {
    return (error as Error).message; // a grid or a type that is not read here
  }
}

function typeText(type: unknown): string {
  return typeof type === "string" ? type : jsonText(type as never);
}

function codecText(codec: unknown): string {
  if (typeof codec === "string") return codec;
  const { name, configuration } = codec as { name?: unknown; configuration?: object };
  const isBare = configuration === undefined || Object.keys(configuration).length === 0;
  return isBare ? String(name) : `${name} ${jsonText(configuration as never)}`;
}

function attributesTable(all: ReturnType<ReferenceStore["attributes"]>): HTMLElement | null {
  const entries = Object.entries(all).filter(([name]) => !OWN.has(name));
  if (entries.length === 0) return null;
  const row = ([name, value]: (typeof entries)[number]) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, longText(typeof value === "string" ? value : jsonText(value))));
  const body = h("tbody");
  const heads = h("tr", {}, h("th", { scope: "col" }, "Attribute"), h("th", { scope: "col" }, "Value"));
  return h(
    "div",
    {},
    h("h3", { id: "attributes" }, "Attributes"),
    h("table", { class: "attributes", "aria-labelledby": "attributes" }, h("thead", {}, heads), body),
    inParts(entries, body, row),
  );
}
