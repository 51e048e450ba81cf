// Finding nodes of an NWB file by path, also where links lead, and what their metadata says. Reads nothing.

import { InvalidReferencesError, type AttributeValue, type ReferenceStore } from "../src/index.js";
import { isObject } from "../src/json.js";
import { metadataKey } from "../src/nodes.js";

const MOST_LINKS = 32; // on one way; more are a circle

/** Whether a path is that of a node. */
export function isNode(store: ReferenceStore, path: string): boolean {
  return Object.hasOwn(store.document.refs, metadataKey(path));
}

const damaged = new WeakMap<ReferenceStore, Map<string, boolean>>();

/** Whether the metadata or attributes of a node cannot be read; its neighbours' may be. */
export function isDamaged(store: ReferenceStore, path: string): boolean {
  let known = damaged.get(store);
  if (known === undefined) damaged.set(store, (known = new Map()));
  let is = known.get(path);
  if (is === undefined) known.set(path, (is = !isRead(store, path)));
  return is;
}

function isRead(store: ReferenceStore, path: string): boolean {
  try {
    store.attributes(path);
    return true;
  } catch (error) {
    if (error instanceof InvalidReferencesError) return false;
    throw error;
  }
}

/**
 * The path of the node that a path leads to, through links of groups.
 *
 * @returns undefined when nothing is there, or what is there is damaged.
 */
export function resolvePath(store: ReferenceStore, path: string, links = 0): string | undefined {
  const wanted = bare(path);
  if (isNode(store, wanted)) return isDamaged(store, wanted) ? undefined : wanted;
  if (links > MOST_LINKS) return undefined;
  const parts = wanted.split("/");
  // The nearest group above that exists; the link is in it.
  for (let depth = parts.length - 1; depth >= 0; depth--) {
    const group = parts.slice(0, depth).join("/");
    if (!isNode(store, group)) continue;
    if (isDamaged(store, group)) return undefined;
    const target = linkTarget(store, group, parts[depth]!);
    if (target === undefined) return undefined;
    return resolvePath(store, [bare(target), ...parts.slice(depth + 1)].join("/"), links + 1);
  }
  return undefined;
}

/** The path of a group's child, also where a link leads. */
export function childOf(store: ReferenceStore, group: string, name: string): string | undefined {
  return resolvePath(store, group === "" ? name : `${group}/${name}`);
}

/** The shape of an array; undefined for a group. */
export function shapeOf(store: ReferenceStore, path: string): number[] | undefined {
  const { node_type: kind, shape } = store.metadata(path);
  return kind === "array" ? (shape as number[]) : undefined;
}

/** The name of an array's data type. */
export function dataTypeOf(store: ReferenceStore, path: string): string {
  const type = store.metadata(path)["data_type"];
  return typeof type === "string" ? type : isObject(type) && typeof type["name"] === "string" ? type["name"] : "";
}

/** Whether an array has real numbers, which can be drawn. */
export function isNumeric(store: ReferenceStore, path: string): boolean {
  return /^(bool|u?int(8|16|32|64)|float(16|32|64))$/.test(dataTypeOf(store, path));
}

/** An attribute that is text. */
export function textAttribute(attributes: Record<string, AttributeValue>, name: string): string | undefined {
  const value = attributes[name];
  return typeof value === "string" ? value : undefined;
}

/** An attribute that is a number, also one of an array with one element. */
export function numberAttribute(attributes: Record<string, AttributeValue>, name: string): number | undefined {
  const found = attributes[name];
  const value = Array.isArray(found) && found.length === 1 ? found[0] : found;
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : undefined;
}

/** The path that an attribute with an object reference names. */
export function referenceAttribute(attributes: Record<string, AttributeValue>, name: string): string | undefined {
  const value = attributes[name];
  const reference = isObject(value) ? value["_REFERENCE"] : undefined;
  return isObject(reference) && typeof reference["path"] === "string" ? reference["path"] : undefined;
}

/** The last part of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function linkTarget(store: ReferenceStore, group: string, name: string): string | undefined {
  const links = store.attributes(group)["_LINKS"];
  if (!Array.isArray(links)) return undefined;
  const found = links.find((link) => isObject(link) && link["name"] === name && link["source"] === ".");
  return isObject(found) && typeof found["path"] === "string" ? found["path"] : undefined;
}

function bare(path: string): string {
  return path.replace(/^\/+|\/+$/g, "");
}
