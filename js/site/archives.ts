// Where an archive shows an asset to people, for archives that are known. Pure.

import type { Asset } from "./assets.js";

const PAGES: Record<string, string> = {
  "api.dandiarchive.org": "https://dandiarchive.org",
  "dandiarchive.s3.amazonaws.com": "https://dandiarchive.org",
  "api.sandbox.dandiarchive.org": "https://sandbox.dandiarchive.org",
};

/** The archive's page of a dandiset, or of the folder of an asset in it; undefined for an unknown archive. */
export function archivePage(place: Pick<Asset, "dandiset" | "version" | "url">, path = ""): string | undefined {
  let host: string;
  try {
    host = new URL(place.url ?? "").host;
  } catch {
    return undefined;
  }
  if (!Object.hasOwn(PAGES, host) || !/^\d{6}$/.test(place.dandiset)) return undefined;
  const dandiset = `${PAGES[host]}/dandiset/${place.dandiset}/${encodeURIComponent(place.version)}`;
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  return path === "" ? dandiset : `${dandiset}/files?location=${encodeURIComponent(folder)}`;
}
