// Which assets are wanted, and in which order. Pure.

import type { Asset } from "./assets.js";
import type { Query } from "./route.js";

export type Sort = "path" | "state" | "size" | "references" | "indexed";

const ORDER = { failed: 0, stale: 1, partial: 2, indexed: 3, skipped: 4 };
const texts = new WeakMap<Asset, string>();

/** Find the assets that a query wants, in its order. */
export function search(assets: readonly Asset[], query: Query): Asset[] {
  const words = query.q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = assets.filter((asset) => isWanted(asset, query) && words.every((word) => textOf(asset).includes(word)));
  return sorted(found, query.sort);
}

/** What is searched of an asset, in lower case. */
export function textOf(asset: Asset): string {
  let text = texts.get(asset);
  if (text === undefined) {
    const { types, experimenters, keywords } = asset;
    text = [
      ...[asset.path, asset.dandiset, asset.version, asset.asset_id, asset.state, asset.problem, asset.species],
      ...[asset.sex, asset.age, asset.genotype, asset.subject_id, asset.session_id, asset.session_description],
      ...[asset.institution, asset.lab, ...(types ?? []), ...(experimenters ?? []), ...(keywords ?? [])],
    ]
      .filter((part) => part !== null)
      .join("\n")
      .toLowerCase();
    texts.set(asset, text);
  }
  return text;
}

/** How a dandiset's version is named in a query. */
export function dandisetName({ dandiset, version }: { dandiset: string; version: string }): string {
  return `${dandiset}/${version}`;
}

function isWanted(asset: Asset, query: Query): boolean {
  return (
    (query.dandiset === "" || dandisetName(asset) === query.dandiset) &&
    (query.state === "" || asset.state === query.state) &&
    (query.type === "" || (asset.types?.includes(query.type) ?? false)) &&
    (query.species === "" || asset.species === query.species) &&
    (query.verification === "" || (asset.verification ?? "none") === query.verification)
  );
}

/** In an order by name, downwards with a `-` in front; assets that are equal in it stay as they come. */
function sorted(assets: Asset[], sort: string): Asset[] {
  const isDown = sort.startsWith("-");
  const key = KEYS.get(sort.replace(/^-/, "") as Sort);
  if (key === undefined) return isDown ? assets.reverse() : assets;
  const sign = isDown ? -1 : 1;
  return assets
    .map((asset) => ({ asset, value: key(asset) }))
    .sort((a, b) => sign * (a.value - b.value))
    .map(({ asset }) => asset);
}

/** By path they come already. */
const KEYS = new Map<Sort, (asset: Asset) => number>([
  ["state", (asset) => ORDER[asset.state]],
  ["size", (asset) => asset.size],
  ["references", (asset) => asset.references_bytes ?? -1],
  ["indexed", (asset) => Date.parse(asset.indexed_at ?? "") || 0],
]);
