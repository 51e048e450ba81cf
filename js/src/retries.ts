// How often and how long a request is tried: pure policy, and waiting that can be aborted.

import { NoAnswerError, ShadowzarrError, TransientReadError } from "./errors.js";

/** How often a request is tried, in seconds. */
export interface RetryPolicy {
  /** Most tries of one request. */
  attempts: number;
  /** The pause after the n-th failure is `firstPause * factor ** (n - 1)`, less a random part of up to a half. */
  firstPause: number;
  factor: number;
  longestPause: number;
  /** Seconds after which no further try begins; what a server asks to wait counts within it. */
  total: number;
}

export const DEFAULT_RETRIES: RetryPolicy = { attempts: 6, firstPause: 0.25, factor: 2, longestPause: 10, total: 120 };

const UNANSWERED_TRIES = 2; // a refusal, which may look so, would be the same each time

/** The tries of one request. */
export class Retries {
  #failures = 0;
  readonly #started = performance.now();

  constructor(private readonly policy: RetryPolicy) {}

  /**
   * Wait before the next try.
   *
   * @throws The error itself, when it is a lasting one or the tries are used up.
   */
  async afterFailure(error: unknown, signal?: AbortSignal): Promise<void> {
    const { firstPause, factor, longestPause, total } = this.policy;
    const isUnanswered = error instanceof NoAnswerError;
    const attempts = isUnanswered ? Math.min(this.policy.attempts, UNANSWERED_TRIES) : this.policy.attempts;
    this.#failures++;
    if (!(error instanceof ShadowzarrError) || !error.transient || this.#failures >= attempts) throw error;
    const usual = Math.min(longestPause, firstPause * factor ** (this.#failures - 1)) * (0.5 + Math.random() / 2);
    const asked = error instanceof TransientReadError ? (error.retryAfter ?? 0) : 0;
    const pause = Math.max(usual, asked);
    if ((performance.now() - this.#started) / 1000 + pause > total) throw error;
    await sleep(pause, signal);
  }
}

/** Seconds that a Retry-After header asks to wait; undefined when it is neither seconds nor a date. */
export function retryAfter(text: string | null): number | undefined {
  if (!text?.trim()) return undefined;
  const seconds = Number(text);
  const asked = Number.isFinite(seconds) ? seconds : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(asked) ? undefined : Math.max(0, asked);
}

function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
