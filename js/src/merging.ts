// Near ranges read in one request: a pure plan, and a merger that gathers the reads of one turn. zarrita's own
// `withRangeCoalescing` works on keys of a store, not on files, has no largest request, and ends all reads of a
// request when one is aborted.

import type { FileRange, Source } from "./answers.js";
import type { FileReader } from "./fileReader.js";

/** Sizes in bytes that decide which ranges share a request. */
export interface MergeOptions {
  /** Most bytes between two ranges of one request. */
  mergeGap: number;
  /** Most bytes of a request that serves several different ranges; 0 turns merging off. */
  maxMergeSize: number;
  /** Only ranges of at most this many bytes are merged. */
  mergeBelow: number;
}

export const DEFAULT_MERGING: MergeOptions = { mergeGap: 32 * 1024, maxMergeSize: 1024 * 1024, mergeBelow: 64 * 1024 };

/** One request that serves several ranges, given by their places in the list that was planned. */
export interface MergedRequest {
  request: FileRange;
  members: number[];
}

/**
 * Plan the requests for ranges of one file.
 *
 * @param ranges - In any order; they may repeat and overlap.
 * @returns In file order. Every range is a member of exactly one and lies within its request; equal ones share one.
 */
export function planRequests(ranges: readonly FileRange[], options: MergeOptions = DEFAULT_MERGING): MergedRequest[] {
  const order = [...ranges.keys()].sort(
    (a, b) => ranges[a]!.offset - ranges[b]!.offset || ranges[a]!.length - ranges[b]!.length,
  );
  const isSmall = (i: number) => options.maxMergeSize > 0 && ranges[i]!.length <= options.mergeBelow;
  const plans = [
    ...runs(ranges, order.filter(isSmall), options),
    ...runs(
      ranges,
      order.filter((i) => !isSmall(i)),
      { ...options, maxMergeSize: 0 },
    ),
  ];
  return plans.sort((a, b) => a.request.offset - b.request.offset || a.request.length - b.request.length);
}

function runs(ranges: readonly FileRange[], order: readonly number[], options: MergeOptions): MergedRequest[] {
  const plans: MergedRequest[] = [];
  for (const i of order) {
    const { offset, length } = ranges[i]!;
    const plan = plans.at(-1);
    const stop = plan === undefined ? 0 : plan.request.offset + plan.request.length;
    if (plan !== undefined) {
      const joined = Math.max(stop, offset + length) - plan.request.offset;
      const isEqual = offset === plan.request.offset && length === plan.request.length;
      if (isEqual || (offset - stop <= options.mergeGap && joined <= options.maxMergeSize)) {
        plan.request = { offset: plan.request.offset, length: joined };
        plan.members.push(i);
        continue;
      }
    }
    plans.push({ request: { offset, length }, members: [i] });
  }
  return plans;
}

interface Waiting {
  range: FileRange;
  resolve: (data: Uint8Array) => void;
  reject: (error: unknown) => void;
  signal: AbortSignal | undefined;
}

/** Gathers reads that begin in the same turn of the event loop and sends merged requests. */
export class RangeMerger {
  readonly #reader: FileReader;
  readonly #options: MergeOptions;
  readonly #gathering = new Map<string, { url: string; source: Source | undefined; waiting: Waiting[] }>();

  constructor(reader: FileReader, options: MergeOptions) {
    this.#reader = reader;
    this.#options = options;
  }

  /**
   * Read one range, together with whatever else is asked for at the same time.
   *
   * A request is given up when all who wait for it have given up.
   *
   * @param source - What the file has to be; one file has always the same.
   */
  read(url: string, range: FileRange, source?: Source, signal?: AbortSignal): Promise<Uint8Array> {
    if (this.#options.maxMergeSize <= 0 || range.length > this.#options.mergeBelow) {
      return this.#reader.read(url, range, { source, signal });
    }
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      let file = this.#gathering.get(url);
      if (file === undefined) {
        file = { url, source, waiting: [] };
        this.#gathering.set(url, file);
        setTimeout(() => this.#send(url), 0); // after all that is ready to be asked for now
      }
      file.waiting.push({ range, resolve, reject, signal });
    });
  }

  #send(key: string): void {
    const { url, source, waiting } = this.#gathering.get(key)!;
    this.#gathering.delete(key);
    const wanted = waiting.filter(({ signal, reject }) => {
      if (signal?.aborted) reject(signal.reason);
      return !signal?.aborted;
    });
    for (const { request, members } of planRequests(
      wanted.map(({ range }) => range),
      this.#options,
    )) {
      void this.#serve(
        url,
        source,
        request,
        members.map((i) => wanted[i]!),
      );
    }
  }

  async #serve(url: string, source: Source | undefined, request: FileRange, members: Waiting[]): Promise<void> {
    const all = new AbortController();
    let left = members.length;
    const ends = members.map(({ signal, reject }) => {
      const giveUp = () => {
        reject(signal!.reason);
        if (--left === 0) all.abort(signal!.reason);
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      return () => signal?.removeEventListener("abort", giveUp);
    });
    try {
      const data = await this.#reader.read(url, request, { source, signal: all.signal });
      for (const { range, resolve } of members) {
        const start = range.offset - request.offset;
        resolve(data.subarray(start, start + range.length));
      }
    } catch (error) {
      for (const { reject } of members) reject(error);
    } finally {
      for (const end of ends) end();
    }
  }
}
