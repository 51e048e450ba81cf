// Elements of the page. Data comes into it as text nodes alone: nothing here takes HTML, and an address becomes a
// link only when it is one of http(s).

import { visible } from "../viewer/visible.js";

export type Child = Node | string | number | null | undefined | false | Child[];
type Value = string | number | boolean | undefined | ((event: never) => void);
export type Properties = { readonly [name: string]: Value };

const ADDRESSES = new Set(["href", "src", "srcdoc", "action", "formaction", "style", "xlink:href"]);

/** Make an element; a function is a listener, true an attribute without value, false and undefined none. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as (event: Event) => void);
    else if (ADDRESSES.has(name) || name.startsWith("on")) throw new Error(`${name} is not set here`);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

/** Put children into an element in place of what it has. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  add(element, children);
}

function add(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) add(element, child);
    else element.append(child instanceof Node ? child : visible(String(child)));
  }
}

/** The address that a text may lead to: one of http(s), also relative to the page; undefined for any other. */
export function safeAddress(text: string, base: string = document.baseURI): string | undefined {
  try {
    const url = new URL(text, base);
    return /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/** A link, or its text alone where the address is none to follow. */
export function link(address: string | undefined | null, properties: Properties, ...children: Child[]): HTMLElement {
  const safe = address === undefined || address === null ? undefined : safeAddress(address);
  if (safe === undefined) return h("span", {}, ...children);
  const element = h("a", { rel: "noopener noreferrer", ...properties }, ...children);
  element.href = safe;
  return element;
}

/** A link within the page; `hash` begins with `#/`. */
export function pageLink(hash: string, properties: Properties, ...children: Child[]): HTMLAnchorElement {
  const element = h("a", properties, ...children);
  element.href = hash.startsWith("#/") ? hash : "#/";
  return element;
}

/** The address of a file of the output, by its path there. */
export function fileAddress(path: string): string {
  return new URL(`./${path.split("/").map(encodeURIComponent).join("/")}`, document.baseURI).href;
}
