// Where files are: templates put in, names relative to a document made absolute, and nothing but http(s). Pure.

import { InvalidReferencesError, UnsupportedError } from "./errors.js";

const PLACEHOLDER = /\{\{\s*([\p{L}\p{N}_]+)\s*\}\}/gu;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;

/** Put the templates into a URL; in a document without templates braces are part of it. */
export function expandTemplates(text: string, templates: Readonly<Record<string, string>>): string {
  if (Object.keys(templates).length === 0 || !text.includes("{{")) return text;
  return text.replace(PLACEHOLDER, (_, name: string) => {
    if (Object.hasOwn(templates, name)) return templates[name]!;
    const known = Object.keys(templates).sort().join(", ");
    throw new InvalidReferencesError(
      `the references use the template ${JSON.stringify(name)}, but the document has ${known}`,
    );
  });
}

/** A location that is written out where references have templates; braces may be part of it. */
export function expandPlain(text: string, templates: Readonly<Record<string, string>>): string {
  const isName = text.startsWith("{{") && !Object.values(templates).includes(text);
  return isName ? expandTemplates(text, templates) : text;
}

/** A URL that may be shown: without query, fragment, user and password. */
export function withoutQuery(url: string): string {
  const bare = url.replace(/[?#].*$/s, "");
  return bare.replace(/^([A-Za-z][A-Za-z0-9+.-]*:\/\/)[^/]*@/, "$1");
}

/**
 * The http(s) URL of the document that a URL names: itself when its path ends in `.json`, else `refs.json` in it.
 *
 * @param isPlain - Whether the URL is given back as it is, only absolute.
 */
export function documentUrl(url: string | URL, isPlain = false): URL {
  const base = globalThis.location === undefined ? undefined : globalThis.location.href;
  let parsed: URL;
  try {
    parsed = new URL(url, base);
  } catch {
    throw new InvalidReferencesError(`${JSON.stringify(String(url))} is no URL; expected one of http or https`);
  }
  if (!/^https?:$/.test(parsed.protocol)) {
    throw new UnsupportedError(`${withoutQuery(parsed.href)} cannot be read here; expected one of http or https`);
  }
  if (isPlain || parsed.pathname.endsWith(".json") || /\/assets\/[^/]+\/download\/?$/.test(parsed.pathname))
    return parsed;
  return inside(parsed, "refs.json");
}

/** A file in a folder; the folder's query stays, because who gave it gave it for all that is in there. */
export function inside(folder: URL, name: string): URL {
  const result = new URL(folder);
  const parts = name.split("/").map(encodeURIComponent);
  result.pathname = `${folder.pathname.replace(/\/+$/, "")}/${parts.join("/")}`;
  return result;
}

/** The folder of a document; its own query, which may sign it alone, is left off. */
export function folderOf(document: URL): URL {
  const result = new URL(document);
  result.search = result.hash = "";
  result.pathname = document.pathname.replace(/\/[^/]*$/, "/");
  return result;
}

/**
 * A place that a document names, as an http(s) URL.
 *
 * @param place - Templates are put in already.
 * @param folder - Where the document is; undefined for a document without a place.
 * @throws UnsupportedError for anything that http(s) does not lead to.
 */
export function resolvePlace(place: string, folder: URL | undefined): string {
  const scheme = SCHEME.exec(place)?.[1]?.toLowerCase();
  if (scheme === "s3") return fromS3(place);
  if (scheme !== undefined || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(place)) {
    refuseOtherSchemes(place);
    return parsed(place).href;
  }
  if (place.startsWith("/") || place.startsWith("\\")) throw localFile(place);
  if (folder === undefined) {
    throw new UnsupportedError(
      `the references point to ${JSON.stringify(place)}, relative to their own place, which is not known; ` +
        "give the document's URL",
    );
  }
  return inside(folder, place).href;
}

function parsed(url: string): URL {
  let result: URL;
  try {
    result = new URL(url);
  } catch {
    throw new InvalidReferencesError(`the references point to ${JSON.stringify(withoutQuery(url))}, which is no URL`);
  }
  if (result.username === "" && result.password === "") return result;
  // fetch refuses it with a message that has all of it.
  throw new UnsupportedError(
    `the references point to ${JSON.stringify(withoutQuery(url))} with a user and password, by which files are not ` +
      "read here; generate them for a URL without",
  );
}

function refuseOtherSchemes(place: string): void {
  if (/^https?:\/\//i.test(place)) return;
  if (/^(file:|[A-Za-z]:[\\/])/i.test(place)) throw localFile(place);
  throw new UnsupportedError(
    `${JSON.stringify(withoutQuery(place))} cannot be read here; expected an http or https URL`,
  );
}

function localFile(place: string): UnsupportedError {
  return new UnsupportedError(
    `the references point to the local file ${JSON.stringify(place)}, which is not read here; ` +
      "generate them for the file's URL",
  );
}

/** The http(s) URL of an object that is read without signing. */
function fromS3(place: string): string {
  const [bucket, ...key] = place.slice("s3://".length).split("/");
  if (!bucket || key.join("") === "") {
    throw new InvalidReferencesError(`${JSON.stringify(place)} names no object; expected s3://<bucket>/<key>`);
  }
  const path = key.map(encodeURIComponent).join("/");
  if (!/^[\w.-]+$/.test(bucket)) {
    throw new InvalidReferencesError(`${JSON.stringify(place)} names no bucket; expected s3://<bucket>/<key>`);
  }
  // The certificate covers one label only.
  return bucket.includes(".")
    ? `https://s3.amazonaws.com/${bucket}/${path}`
    : `https://${bucket}.s3.amazonaws.com/${path}`;
}
