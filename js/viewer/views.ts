// Which nodes of a file can be shown, and how: by their neurodata types, and by what they have, so that types of
// extensions count too. Reads nothing.

import type { ReferenceStore } from "../src/index.js";
import { childOf, isDamaged, isNumeric, nameOf, shapeOf, textAttribute } from "./tree.js";

export type ViewKind = "traces" | "raster" | "images" | "table";

/** One way to show a node. */
export interface NodeView {
  /** Path of the node in the references, without leading slash. */
  path: string;
  kind: ViewKind;
  /** What a list of views calls it. */
  title: string;
  /** As the file has it; extensions have their own. */
  neurodataType?: string;
}

const IMAGES = new Set(["Image", "GrayscaleImage", "RGBImage", "RGBAImage"]);
const IMAGE_SERIES = new Set(["ImageSeries", "ImageMaskSeries", "OnePhotonSeries", "OpticalSeries", "TwoPhotonSeries"]);
const WHAT: Record<ViewKind, string> = { traces: "traces", raster: "spike raster", images: "images", table: "table" };

/**
 * List what can be shown of a file, in the order of its nodes.
 *
 * A node can have several views (units: a raster and a table); one whose metadata are damaged has none.
 */
export function viewsOf(store: ReferenceStore): NodeView[] {
  const views: NodeView[] = [];
  const waiting = [""];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (!isDamaged(store, path)) views.push(...viewsOfNode(store, path));
    waiting.push(...pathsBelow(store, path).reverse());
  }
  return views;
}

function viewsOfNode(store: ReferenceStore, path: string): NodeView[] {
  const type = textAttribute(store.attributes(path), "neurodata_type");
  return kindsOf(store, path, type).map((kind) => {
    const title = `${nameOf(path) || "/"}: ${WHAT[kind]}`;
    return { path, kind, title, ...(type === undefined ? {} : { neurodataType: type }) };
  });
}

function pathsBelow(store: ReferenceStore, path: string): string[] {
  return store.children(path).map((name) => (path === "" ? name : `${path}/${name}`));
}

/** Why a series has no view; undefined for what has one, and for what is no series. */
export function undrawnReason(store: ReferenceStore, path: string): string | undefined {
  const attributes = store.attributes(path);
  const type = textAttribute(attributes, "neurodata_type");
  const isTable = Array.isArray(attributes["colnames"]);
  if (type === undefined || isTable || shapeOf(store, path) !== undefined) return undefined;
  const data = childOf(store, path, "data");
  const extents = data === undefined ? undefined : shapeOf(store, data);
  if (data === undefined || extents === undefined || kindsOf(store, path, type).length > 0) return undefined;
  if (extents.includes(0)) {
    const isElsewhere = childOf(store, path, "external_file") !== undefined;
    return isElsewhere ? "its frames are in the files that external_file names" : "it has no samples";
  }
  return isNumeric(store, data) ? undefined : "its data are no numbers";
}

function kindsOf(store: ReferenceStore, path: string, type: string | undefined): ViewKind[] {
  const shape = shapeOf(store, path);
  if (shape !== undefined) {
    const isImage = IMAGES.has(type ?? "") && (shape.length === 2 || shape.length === 3) && !shape.includes(0);
    return isImage && isNumeric(store, path) ? ["images"] : [];
  }
  if (Array.isArray(store.attributes(path)["colnames"])) {
    const isSorted = ["spike_times", "spike_times_index"].every((name) => childOf(store, path, name) !== undefined);
    return isSorted ? ["raster", "table"] : ["table"];
  }
  const data = childOf(store, path, "data");
  const extents = data === undefined ? undefined : shapeOf(store, data);
  if (data === undefined || extents === undefined || extents.length === 0 || extents.includes(0)) return [];
  const has = (name: string) => childOf(store, path, name) !== undefined;
  if (!isNumeric(store, data) || !(has("timestamps") || has("starting_time") || type !== undefined)) return [];
  const isImages = IMAGE_SERIES.has(type ?? "") || has("imaging_plane") || has("format") || has("dimension");
  return isImages && extents.length >= 3 ? ["images"] : ["traces"];
}
