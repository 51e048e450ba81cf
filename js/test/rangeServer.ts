// A server for ranges of one file in memory, whose next answers can be told.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export class FileServer {
  readonly requests: IncomingMessage[] = [];
  readonly next: Answer[] = [];
  etag = '"one"';
  readonly #server = createServer((request, response) => {
    this.requests.push(request);
    (this.next.shift() ?? this.serve)(request, response);
  });

  constructor(public data: Uint8Array) {}

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  readonly serve: Answer = (request, response) => {
    const ifMatch = request.headers["if-match"];
    if (ifMatch !== undefined && ifMatch !== this.etag) {
      response.writeHead(412).end();
      return;
    }
    const match = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    if (match === null) {
      response.writeHead(200, { ETag: this.etag }).end(this.data);
      return;
    }
    const [start, end] = [Number(match[1]), Math.min(Number(match[2]) + 1, this.data.length)];
    if (start >= this.data.length) {
      response.writeHead(416, { "Content-Range": `bytes */${this.data.length}` }).end();
      return;
    }
    const headers = { ETag: this.etag, "Content-Range": `bytes ${start}-${end - 1}/${this.data.length}` };
    response.writeHead(206, headers).end(this.data.subarray(start, end));
  };
}

/** An answer with a status and nothing else. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (_, response) => response.writeHead(code, headers).end("no");
}
