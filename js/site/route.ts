// What the page shows, as the part of its address behind `#`: any host that hands out files serves every page. Pure.

/** What is looked for in the catalogue. */
export interface Query {
  q: string;
  dandiset: string;
  state: string;
  type: string;
  species: string;
  verification: string;
  sort: string;
  page: number;
}

export interface AssetPlace {
  dandiset: string;
  version: string;
  path: string;
}

export type Route =
  | { page: "catalog"; query: Query }
  | { page: "asset"; place: AssetPlace; node: string; view: string };

export const NO_QUERY: Query = {
  q: "",
  dandiset: "",
  state: "",
  type: "",
  species: "",
  verification: "",
  sort: "path",
  page: 1,
};

/** Read the part of the address; whatever is no page is the catalogue. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = split(hash.replace(/^#/, ""), "?");
  const parameters = new URLSearchParams(search);
  const match = /^\/asset\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path);
  const place = match?.slice(1).map(decoded);
  if (place !== undefined && !place.includes(undefined)) {
    const [dandiset, version, path] = place as [string, string, string];
    const node = parameters.get("node") ?? "";
    return { page: "asset", place: { dandiset, version, path }, node, view: parameters.get("view") ?? "" };
  }
  const query = { ...NO_QUERY };
  for (const name of Object.keys(NO_QUERY) as (keyof Query)[]) {
    const value = parameters.get(name);
    if (value === null) continue;
    if (name === "page") query.page = Math.max(1, Math.trunc(Number(value)) || 1);
    else query[name] = value;
  }
  return { page: "catalog", query };
}

/** The part of the address that shows assets; what is as usual is left off. */
export function catalogHash(query: Partial<Query>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== NO_QUERY[name as keyof Query]) parameters.set(name, String(value));
  }
  const search = parameters.toString();
  return search === "" ? "#/" : `#/?${search}`;
}

/** The part of the address that shows an asset, and a node of it. */
export function assetHash({ dandiset, version, path }: AssetPlace, node = "", view = ""): string {
  const parameters = new URLSearchParams();
  if (node !== "") parameters.set("node", node);
  if (view !== "") parameters.set("view", view);
  const search = parameters.toString();
  const place = [dandiset, version, path].map((part) => encodeURIComponent(part)).join("/");
  return `#/asset/${place}${search === "" ? "" : `?${search}`}`;
}

function split(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}
