// Counting what a store asks for: requests, and bytes as they come.

/** Sums since the start, or between two looks. */
export interface Sums {
  requests: number;
  nbytes: number;
}

/**
 * Counts requests and the bytes of their answers.
 *
 * Give `fetch` to a store. Bytes are those of the bodies as the page gets them; a body is counted as it is read from
 * `response.body`, which is how the store reads.
 */
export class Traffic implements Sums {
  requests = 0;
  nbytes = 0;
  readonly #listeners = new Set<() => void>();
  readonly #inner: typeof globalThis.fetch;

  /** @param inner - What makes the requests; the page's own by default. */
  constructor(inner?: typeof globalThis.fetch) {
    this.#inner = inner ?? ((input, init) => globalThis.fetch(input, init));
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    this.requests++;
    this.#tell();
    const response = await this.#inner(input, init);
    if (response.body === null) return response;
    const count = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform: (part, controller) => {
        this.nbytes += part.length;
        this.#tell();
        controller.enqueue(part);
      },
    });
    // A new Response would lose its URL, by which the store remembers where a redirection leads.
    Object.defineProperty(response, "body", { value: response.body.pipeThrough(count) });
    return response;
  };

  /** Sums now, to subtract from later ones. */
  now(): Sums {
    return { requests: this.requests, nbytes: this.nbytes };
  }

  /** Call a function at every change, until the signal ends. */
  onChange(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener("abort", () => this.#listeners.delete(listener), { once: true });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
