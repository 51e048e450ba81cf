// Values that are read once however many ask for them at the same time, recent ones kept.

/** A small memory of values that take long to get. */
export class SharedReads<T> {
  readonly #kept = new Map<string, { value: T; nbytes: number }>();
  readonly #underWay = new Map<string, { answer: Promise<T>; waiting: number; controller: AbortController }>();
  #nbytes = 0;

  /** @param keptBytes - How much to keep; the least recently used values go first. */
  constructor(private readonly keptBytes: number) {}

  /**
   * The value of a key.
   *
   * A read that fails is told to all who wait for it and tried again by whoever asks next; it is given up when all
   * who wait have given up.
   *
   * @param read - Reads the value when it is not kept, and says how many bytes it takes.
   */
  async get(
    key: string,
    read: (signal: AbortSignal) => Promise<[value: T, nbytes: number]>,
    signal?: AbortSignal,
  ): Promise<T> {
    signal?.throwIfAborted();
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept.value;
    }
    let shared = this.#underWay.get(key);
    if (shared === undefined || shared.controller.signal.aborted) {
      const controller = new AbortController();
      const started = { answer: this.#read(key, read, controller), waiting: 0, controller };
      const forget = () => {
        if (this.#underWay.get(key) === started) this.#underWay.delete(key);
      };
      started.answer.then(forget, forget);
      this.#underWay.set(key, started);
      shared = started;
    }
    return await waitFor(shared, signal);
  }

  async #read(
    key: string,
    read: (signal: AbortSignal) => Promise<[T, number]>,
    controller: AbortController,
  ): Promise<T> {
    const [value, nbytes] = await read(controller.signal);
    this.#kept.set(key, { value, nbytes });
    this.#nbytes += nbytes;
    for (const [oldest, { nbytes: dropped }] of this.#kept) {
      if (this.#nbytes <= this.keptBytes || this.#kept.size === 1) break;
      this.#kept.delete(oldest);
      this.#nbytes -= dropped;
    }
    return value;
  }
}

async function waitFor<T>(
  shared: { answer: Promise<T>; waiting: number; controller: AbortController },
  signal: AbortSignal | undefined,
): Promise<T> {
  shared.waiting++;
  if (signal === undefined) return await shared.answer;
  return await new Promise<T>((resolve, reject) => {
    const giveUp = () => {
      reject(signal.reason);
      if (--shared.waiting === 0) shared.controller.abort(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    shared.answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
