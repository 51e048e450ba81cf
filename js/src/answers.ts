// What a server's answer means: whether it is of the right file, whole, and which error a status stands for. Pure.

import {
  AccessDeniedError,
  ReadError,
  ShortReadError,
  SourceChangedError,
  SourceNotFoundError,
  TransientReadError,
  shown,
} from "./errors.js";
import { withoutQuery } from "./places.js";
import { retryAfter } from "./retries.js";

/** `length` bytes of a file from `offset` on. */
export interface FileRange {
  readonly offset: number;
  readonly length: number;
}

/** What a file has to be. */
export interface Source {
  readonly size: number;
  /** As the server sends it, in its double quotes. */
  readonly etag?: string;
}

/** What a server gave for one request. */
export interface Answer {
  data: Uint8Array;
  total: number | undefined;
  etag: string | null;
}

const LASTING_5XX = new Set([501, 505]); // the server cannot do it, now or later
const TRANSIENT = new Set([408, 425, 429]);

/** Whether an ETag is a strong one: quoted, and not marked with `W/`; weak ones never match. */
export function isStrong(etag: string | null | undefined): etag is string {
  return typeof etag === "string" && etag.length > 2 && etag.startsWith('"') && etag.endsWith('"');
}

/** Refuse an answer from another file; `wasMatched` says that the server compared the ETag itself. */
export function checkIdentity(
  url: string,
  source: Source,
  answer: Pick<Answer, "total" | "etag">,
  wasMatched: boolean,
): void {
  const found =
    answer.total !== undefined && answer.total !== source.size
      ? `it has ${answer.total} bytes, expected ${source.size}`
      : isStrong(source.etag) && isStrong(answer.etag) && answer.etag !== source.etag
        ? `its ETag is ${answer.etag}, expected ${source.etag}`
        : undefined;
  if (found !== undefined) throw changed(url, found);
  if (answer.total === undefined && !isStrong(answer.etag) && !wasMatched) {
    throw new ReadError(
      `${withoutQuery(url)}: the server shows a page neither size nor ETag of the file, so that it cannot be ` +
        "checked. Let it expose Content-Range (Access-Control-Expose-Headers), or open the references with " +
        "validateSources: false",
    );
  }
}

function changed(url: string, found: string): SourceChangedError {
  return new SourceChangedError(
    `${withoutQuery(url)} is not the file that was indexed: ${found}. Generate its references again, or open ` +
      "them with validateSources: false to read what is there",
  );
}

/** Refuse an answer of another length; it may pass unless the file itself is too short. */
export function checkLength(url: string, range: FileRange | undefined, { data, total }: Answer): void {
  if (range === undefined || data.length === range.length) return;
  const stop = range.offset + range.length;
  const isPastEnd = total !== undefined && stop > total;
  const end = isPastEnd ? `; the file has only ${total} bytes` : "";
  const error = new ShortReadError(
    `${withoutQuery(url)}: asked for bytes ${range.offset} to ${stop}, ${data.length} of ${range.length} came${end}`,
  );
  error.transient = !isPastEnd;
  throw error;
}

/** Bytes of the whole file, as far as a page is shown them. */
export function totalOf(response: Response): number | undefined {
  const total = /\/(\d+)\s*$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  return total === undefined ? undefined : Number(total);
}

/** Refuse an answer that says it is another part of the file; one that says nothing, or hides it, may pass. */
export function checkStart(url: string, range: FileRange | undefined, response: Response): void {
  const header = response.headers.get("Content-Range");
  const start = /^bytes (\d+)-/i.exec(header?.trim() ?? "")?.[1];
  if (range === undefined || header === null || Number(start) === range.offset) return;
  const error = new ReadError(
    `${withoutQuery(url)}: asked for bytes from ${range.offset} on, the answer says ${shown(header)}; the server, or ` +
      "one before it, answers ranges wrongly",
  );
  error.transient = true; // another of several servers may be right
  throw error;
}

/** The error for status 416. */
export function pastTheEnd(url: string, response: Response, total: number | undefined): Error {
  void response.body?.cancel().catch(() => undefined);
  const size = total === undefined ? "" : `; it has only ${total}`;
  const error = new PastTheEndError(`${withoutQuery(url)}: the file ends before the bytes asked for (416)${size}`, {
    status: 416,
  });
  error.total = total;
  return error;
}

/** Status 416: the file ends before the range. */
export class PastTheEndError extends ShortReadError {
  /** Size of the file, when the server said it. */
  total: number | undefined;
}

/** The error that a status of a file server stands for. */
export function errorForStatus(url: string, response: Response): Error {
  const { status } = response;
  const file = withoutQuery(url);
  if (status === 200) {
    return new ReadError(
      `${file}: the server ignores Range requests, so every part would cost the whole file. Serve the file with ` +
        "a server that supports ranges",
      { status },
    );
  }
  if (TRANSIENT.has(status) || (status >= 500 && !LASTING_5XX.has(status))) {
    const seconds = retryAfter(response.headers.get("Retry-After"));
    return new TransientReadError(`${file}: the server answered ${status}; try again later`, {
      status,
      retryAfter: seconds,
    });
  }
  if (status === 404 || status === 410) {
    return new SourceNotFoundError(`${file}: nothing is there (${status}); check the URL`, { status });
  }
  if (status === 401 || status === 403) {
    return new AccessDeniedError(`${file}: the server refuses access (${status})`, { status });
  }
  if (status === 412) return changed(url, "the server refused its recorded ETag (412)");
  return new ReadError(`${file}: the server answered ${status}, expected the bytes asked for`, { status });
}
