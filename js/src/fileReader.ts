// Byte ranges of files behind http(s): requesting, checking what comes, and trying again. Which ranges are asked
// for together is decided by `merging`.

import {
  checkIdentity,
  checkLength,
  checkStart,
  errorForStatus,
  isStrong,
  pastTheEnd,
  PastTheEndError,
  totalOf,
  type Answer,
  type FileRange,
  type Source,
} from "./answers.js";
import { AccessDeniedError, NoAnswerError, ReadError, ShadowzarrError, TransientReadError } from "./errors.js";
import { withoutQuery } from "./places.js";
import { Preflights, type Asking } from "./preflights.js";
import { DEFAULT_RETRIES, Retries, type RetryPolicy } from "./retries.js";
import { Gate, STALLED_AFTER, Watch } from "./waiting.js";

export interface ReaderOptions {
  /** What makes requests; the environment's own by default. It may add headers of its own. */
  fetch?: typeof globalThis.fetch;
  retries?: Partial<RetryPolicy>;
  /** Requests under way at once. */
  inFlight?: number;
}

interface Address {
  url: string;
  until: number;
}

type Look = (start: Uint8Array) => void;

const IN_FLIGHT = 64;
const KEPT_ADDRESS = 600_000; // milliseconds for which the target of a redirection is used again

/** Reads ranges of files, and whole files. */
export class FileReader {
  readonly #fetch: typeof globalThis.fetch;
  readonly #policy: RetryPolicy;
  readonly #addresses = new Map<string, Address>();
  readonly #preflights = new Preflights();
  readonly #gate: Gate;
  /** Origins that let this page read, of which a request that fails tells that the connection broke. */
  readonly #answering = new Set<string>();

  constructor(options: ReaderOptions = {}) {
    // Browsers want it called on its own, not as a method of ours.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#policy = { ...DEFAULT_RETRIES, ...options.retries };
    this.#gate = new Gate(options.inFlight ?? IN_FLIGHT);
  }

  /**
   * Read a range of a file, or all of it.
   *
   * @param range - The bytes; undefined for the whole file.
   * @param source - What the file has to be; without it only lengths are checked.
   * @param look - Given the first bytes that come; it may throw to stop reading.
   * @returns Exactly the bytes asked for.
   * @throws SourceChangedError when the file is another one; ReadError when the bytes cannot be had.
   */
  async read(
    url: string,
    range: FileRange | undefined,
    { source, signal, look }: { source?: Source; signal?: AbortSignal; look?: Look } = {},
  ): Promise<Uint8Array> {
    if (range?.length === 0) return new Uint8Array();
    const retries = new Retries(this.#policy);
    let isRefreshed = false;
    await this.#gate.enter(signal);
    try {
      for (;;) {
        signal?.throwIfAborted();
        const { address, takes } = await this.#destination(url, source, signal);
        try {
          return await this.#once(url, address, takes, range, source, signal, look);
        } catch (error) {
          if (address !== url) this.#addresses.delete(url);
          if (error instanceof AccessDeniedError && address !== url && !isRefreshed) {
            isRefreshed = true; // the signature in a redirection's target has expired
            continue;
          }
          await retries.afterFailure(error, signal);
        }
      }
    } finally {
      this.#gate.leave();
    }
  }

  async #once(
    url: string,
    address: string,
    takes: boolean | Asking,
    range: FileRange | undefined,
    source: Source | undefined,
    signal: AbortSignal | undefined,
    look: Look | undefined,
  ): Promise<Uint8Array> {
    const asking = typeof takes === "object" ? takes : undefined;
    let wasMatched = takes !== false;
    let answer: Answer;
    try {
      const came = () => asking?.found(true);
      answer = await this.#request(url, address, range, wasMatched ? source?.etag : undefined, { signal, look, came });
    } catch (error) {
      if (error instanceof PastTheEndError && source !== undefined && error.total !== undefined) {
        checkIdentity(url, source, { total: error.total, etag: null }, true);
      }
      // A refused preflight cannot be told from a broken connection.
      if (!asking?.isOpen || !isConnectionError(error)) throw error;
      const came = () => asking.found(false);
      answer = await this.#request(url, address, range, undefined, { signal, look, came });
      wasMatched = false;
    } finally {
      asking?.end();
    }
    if (source !== undefined) checkIdentity(url, source, answer, wasMatched);
    checkLength(url, range, answer);
    return answer.data;
  }

  async #request(
    url: string,
    address: string,
    range: FileRange | undefined,
    ifMatch: string | undefined,
    { signal, look, came }: { signal: AbortSignal | undefined; look: Look | undefined; came: () => void },
  ): Promise<Answer> {
    const headers: Record<string, string> = {};
    if (range !== undefined) headers["Range"] = `bytes=${range.offset}-${range.offset + range.length - 1}`;
    if (ifMatch !== undefined) headers["If-Match"] = ifMatch;
    const watch = new Watch(signal);
    let isAnswered = isOwn(address) || this.#answering.has(new URL(address).origin);
    try {
      const response = await this.#fetch(address, { headers, signal: watch.signal });
      came();
      isAnswered = true;
      this.#answering.add(new URL(address).origin);
      if (response.redirected && response.url) {
        this.#answering.add(new URL(response.url).origin);
        this.#addresses.set(url, { url: response.url, until: Date.now() + KEPT_ADDRESS });
      }
      const total = totalOf(response);
      if (response.status === 416) throw pastTheEnd(url, response, total);
      try {
        if (response.status !== (range === undefined ? 200 : 206)) throw errorForStatus(url, response);
        checkStart(url, range, response);
      } catch (error) {
        void response.body?.cancel().catch(() => undefined);
        throw error;
      }
      const data = await readBody(response, range?.length, watch, look);
      return { data, total: range === undefined ? data.length : total, etag: response.headers.get("ETag") };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof ShadowzarrError) throw error;
      if (!isAnswered && !watch.isStalled) {
        const both = "the server cannot be reached, or does not let this page read it (Access-Control-Allow-Origin)";
        throw new NoAnswerError(`${withoutQuery(url)}: ${both}`, { cause: error });
      }
      const what = watch.isStalled ? `no byte came for ${STALLED_AFTER / 1000} seconds` : messageOf(error);
      throw new TransientReadError(`${withoutQuery(url)} cannot be reached: ${what}`, { cause: error });
    } finally {
      watch.end();
    }
  }

  /** Where a file is read, and whether with If-Match, which in a page needs a preflight of other servers. */
  async #destination(
    url: string,
    source: Source | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ address: string; takes: boolean | Asking }> {
    for (;;) {
      const address = this.#address(url);
      const { origin } = new URL(address);
      if (!isStrong(source?.etag) || isOwn(address)) return { address, takes: isStrong(source?.etag) };
      const takes = await this.#preflights.of(origin, signal);
      // The request that found it out may have been led elsewhere, where to go is then known.
      if (typeof takes === "object" || this.#address(url) === address) return { address, takes };
    }
  }

  #address(url: string): string {
    const kept = this.#addresses.get(url);
    return kept !== undefined && kept.until > Date.now() ? kept.url : url;
  }
}

async function readBody(
  response: Response,
  expected: number | undefined,
  watch: Watch,
  look: Look | undefined,
): Promise<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const parts: Uint8Array[] = [];
  const whole = expected === undefined ? undefined : new Uint8Array(expected);
  let nbytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    watch.cameSomething();
    try {
      if (nbytes === 0) look?.(value);
      if (whole === undefined) parts.push(value);
      else if (nbytes + value.length > whole.length) {
        throw new ReadError(`the server sent more than the ${whole.length} bytes asked for`);
      } else whole.set(value, nbytes);
    } catch (error) {
      void reader.cancel().catch(() => undefined);
      throw error;
    }
    nbytes += value.length;
  }
  return whole === undefined ? joined(parts, nbytes) : whole.subarray(0, nbytes);
}

function joined(parts: Uint8Array[], nbytes: number): Uint8Array {
  if (parts.length === 1) return parts[0]!;
  const whole = new Uint8Array(nbytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Whether no other server's leave is needed to read there: outside of a page, and from the page's own server. */
function isOwn(address: string): boolean {
  return globalThis.location === undefined || globalThis.location.origin === new URL(address).origin;
}

function isConnectionError(error: unknown): boolean {
  return error instanceof NoAnswerError || (error instanceof TransientReadError && error.status === undefined);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
