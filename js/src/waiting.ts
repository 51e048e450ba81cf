// Waiting for answers: when one is given up, and how many are waited for at once.

/** Milliseconds without a byte after which a request is given up. */
export const STALLED_AFTER = 60_000;

/** The signal of one request: it ends with the caller's, and when no byte comes for long. */
export class Watch {
  isStalled = false;
  readonly #controller = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #forward = () => this.#controller.abort(this.outer?.reason);

  constructor(private readonly outer: AbortSignal | undefined) {
    if (outer?.aborted) this.#forward();
    outer?.addEventListener("abort", this.#forward, { once: true });
    this.cameSomething();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  cameSomething(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.isStalled = true;
      this.#controller.abort();
    }, STALLED_AFTER);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.outer?.removeEventListener("abort", this.#forward);
  }
}

/** Lets some in at once; the others wait in order. */
export class Gate {
  readonly #waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener("abort", give);
        resolve();
      };
      const give = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal!.reason);
      };
      this.#waiting.push(enter);
      signal?.addEventListener("abort", give, { once: true });
    });
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.free++;
    else next();
  }
}
