// Which servers take If-Match from this page. Its preflight is refused by some, and a refusal cannot be told from a
// broken connection, so one request finds out while the others to its server wait.

import { Gate } from "./waiting.js";

const KEPT_REFUSAL = 600_000; // milliseconds for which a server that seemed to refuse is not asked again

interface Server {
  gate: Gate;
  takes?: boolean;
  until: number;
}

/** A request that finds out; to be ended whatever comes of it. */
export interface Asking {
  /** Whether nothing was found out yet. */
  readonly isOpen: boolean;
  found(takes: boolean): void;
  end(): void;
}

export class Preflights {
  readonly #servers = new Map<string, Server>();

  /** Whether an origin takes If-Match; `Asking` when the caller's request has to find out. */
  async of(origin: string, signal: AbortSignal | undefined): Promise<boolean | Asking> {
    let server = this.#servers.get(origin);
    if (server === undefined) this.#servers.set(origin, (server = { gate: new Gate(1), until: Infinity }));
    const known = takenBy(server);
    if (known !== undefined) return known;
    await server.gate.enter(signal);
    const found = takenBy(server);
    if (found === undefined) return askingOf(server);
    server.gate.leave();
    return found;
  }
}

function takenBy({ takes, until }: Server): boolean | undefined {
  return until > Date.now() ? takes : undefined;
}

function askingOf(server: Server): Asking {
  let isOpen = true;
  const end = () => {
    if (isOpen) server.gate.leave();
    isOpen = false;
  };
  return {
    get isOpen() {
      return isOpen;
    },
    found(takes) {
      if (!isOpen) return;
      server.takes = takes;
      server.until = takes ? Infinity : Date.now() + KEPT_REFUSAL;
      end();
    },
    end,
  };
}
