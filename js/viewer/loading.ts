// What a view reads after each change of it: one read at a time, the newest; how much it took, and what went wrong.

import { make } from "./dom.js";
import { problemText } from "./problems.js";
import type { Sums, Traffic } from "./traffic.js";
import { bytesText } from "./units.js";
import { visible } from "./visible.js";

/** Sums in words. */
export function trafficText({ requests, nbytes }: Sums, seconds?: number): string {
  const time = seconds === undefined ? "" : ` in ${seconds.toFixed(2)} s`;
  return `${requests} ${requests === 1 ? "request" : "requests"}, ${bytesText(nbytes)}${time}`;
}

/** Runs a view's reads and says how they went, in `element`. */
export class Loading {
  readonly element = make("div", { class: "viewer-loading" });
  readonly #status = make("p", { class: "viewer-status", role: "status" });
  readonly #traffic = make("p", { class: "viewer-traffic" });
  readonly #problem = make("p", { class: "viewer-problem", role: "alert", hidden: true });
  readonly #start: Sums;
  #before: Sums;
  #last: { sums: Sums; seconds: number } | undefined;
  #current: AbortController | undefined;

  /** @param clear - Takes away what is drawn, so that it is not taken for what could not be read. */
  constructor(
    private readonly traffic: Traffic,
    private readonly signal: AbortSignal,
    private readonly clear: () => void,
  ) {
    this.#start = this.#before = traffic.now();
    this.element.append(this.#problem, this.#status, this.#traffic);
    traffic.onChange(() => this.#showTraffic(), signal);
  }

  /** Give up what is under way: something else has been chosen, which is not read yet. */
  stop(): void {
    this.#current?.abort(new DOMException("there is a newer view", "AbortError"));
    this.element.removeAttribute("aria-busy");
  }

  /** What is shown, in words. */
  say(text: string): void {
    this.#status.textContent = visible(text);
  }

  /**
   * Read and draw; what was under way before is given up.
   *
   * @param delay - Milliseconds to wait for a newer change first.
   * @returns When it is drawn, given up, or its problem shown.
   */
  async run(work: (signal: AbortSignal) => Promise<void>, delay = 0): Promise<void> {
    this.#current?.abort(new DOMException("there is a newer view", "AbortError"));
    const controller = new AbortController();
    this.#current = controller;
    this.element.setAttribute("aria-busy", "true");
    const signal = AbortSignal.any([controller.signal, this.signal]);
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    if (signal.aborted) return;
    const before = (this.#before = this.traffic.now());
    const started = performance.now();
    this.#last = undefined;
    try {
      await work(signal);
      if (!signal.aborted) this.#problem.hidden = true;
    } catch (error) {
      if (signal.aborted) return;
      this.#problem.textContent = visible(problemText(error));
      this.#problem.hidden = false;
      this.clear();
      this.say("Nothing is shown.");
    }
    if (signal.aborted) return;
    this.#last = { sums: difference(this.traffic.now(), before), seconds: (performance.now() - started) / 1000 };
    this.element.removeAttribute("aria-busy");
    this.#showTraffic();
  }

  #showTraffic(): void {
    const now = this.traffic.now();
    const all = trafficText(difference(now, this.#start));
    const last =
      this.#last === undefined
        ? `reading: ${trafficText(difference(now, this.#before))}`
        : `last change: ${trafficText(this.#last.sums, this.#last.seconds)}`;
    this.#traffic.textContent = `Read for this view: ${all}; ${last}.`;
  }
}

function difference(now: Sums, before: Sums): Sums {
  return { requests: now.requests - before.requests, nbytes: now.nbytes - before.nbytes };
}
