import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";

import {
  AccessDeniedError,
  ReadError,
  ReferenceStore,
  ShortReadError,
  SourceChangedError,
  SourceNotFoundError,
  TransientReadError,
} from "../src/index.js";
import type { Source } from "../src/answers.js";
import { FileReader, type ReaderOptions } from "../src/fileReader.js";
import { FileServer, status } from "./rangeServer.js";

const DATA = Uint8Array.from({ length: 1000 }, (_, i) => i % 251);
const SOURCE: Source = { size: 1000, etag: '"one"' };
const RETRIES = { firstPause: 0.001, longestPause: 0.002 };
const server = new FileServer(DATA);
let root: string;

before(async () => {
  root = await server.start();
});
after(() => server.stop());
beforeEach(() => {
  server.requests.length = server.next.length = 0;
  server.etag = '"one"';
  server.data = DATA;
});

const reader = (options: ReaderOptions = {}) => new FileReader({ retries: RETRIES, ...options });
const read = (offset: number, length: number, source?: Source, from = reader()) =>
  from.read(`${root}/file?secret=1`, { offset, length }, { source });

test("a range, checked against what the file has to be", async () => {
  assert.deepEqual(await read(100, 50, SOURCE), DATA.slice(100, 150));
  assert.equal(server.requests[0]!.headers["if-match"], '"one"');
  assert.equal(server.requests[0]!.headers.range, "bytes=100-149");
  await read(0, 1, { size: 1000, etag: 'W/"one"' });
  assert.equal(server.requests[1]!.headers["if-match"], undefined);
  assert.equal((await read(0, 0, SOURCE)).length, 0);
  assert.equal(server.requests.length, 2);
});

test("another file is an error", async () => {
  const wrong: [() => void, Source][] = [
    [() => (server.etag = '"two"'), SOURCE],
    [() => (server.data = DATA.subarray(1)), { size: 1000 }],
    [() => (server.data = DATA.subarray(0, 50)), { size: 1000 }],
  ];
  for (const [change, source] of wrong) {
    change();
    await assert.rejects(read(100, 50, source), (error: Error) => {
      assert.ok(error instanceof SourceChangedError, String(error));
      assert.match(error.message, /validateSources/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  }
  assert.equal(server.requests.length, 3);
});

test("a server that ignores If-Match is found out by its ETag", async () => {
  server.etag = '"two"';
  server.next.push((_, response) =>
    response.writeHead(206, { ETag: '"two"', "Content-Range": "bytes 0-0/1000" }).end("x"),
  );
  await assert.rejects(read(0, 1, SOURCE), SourceChangedError);
});

test("what may pass is tried again", async () => {
  const tries = [status(503), status(429, { "Retry-After": "0" }), status(500)];
  server.next.push(
    ...tries,
    (_, response) => response.destroy(),
    (_, response) => {
      response.writeHead(206, { "Content-Range": "bytes 0-3/1000" }).end("abc"); // one byte short
    },
  );
  assert.deepEqual(await read(0, 4), DATA.slice(0, 4));
  assert.equal(server.requests.length, 6);
});

test("not for ever", async () => {
  server.next.push(...Array.from({ length: 9 }, () => status(503)));
  await assert.rejects(read(0, 4), (error: TransientReadError) => error.transient && error.status === 503);
  assert.equal(server.requests.length, 6);
  server.requests.length = server.next.length = 0;
  server.next.push(status(503, { "Retry-After": "1000" }));
  await assert.rejects(read(0, 4), TransientReadError);
  assert.equal(server.requests.length, 1);
});

test("what lasts is told at once", async () => {
  const cases = [
    [status(404), SourceNotFoundError],
    [status(403), AccessDeniedError],
    [status(501), ReadError],
    [status(200), /ignores Range/],
    [status(416), ShortReadError],
  ] as const;
  for (const [answer, expected] of cases) {
    server.requests.length = 0;
    server.next.push(answer);
    await assert.rejects(read(0, 4), expected as never);
    assert.equal(server.requests.length, 1);
  }
  await assert.rejects(read(990, 20), (error: ShortReadError) => /only 1000 bytes/.test(error.message));
  await assert.rejects(read(0, 4, SOURCE, reader({ fetch: bodyOf("too long") })), /more than the 4 bytes/);
});

function bodyOf(text: string): typeof fetch {
  return async () => new Response(text, { status: 206, headers: { "Content-Range": "bytes 0-3/1000" } });
}

test("where a redirection leads is asked again, until it is refused", async () => {
  const to = (path: string) => status(302, { Location: `${root}${path}` });
  const one = reader();
  server.next.push(to("/signed?1"));
  await read(0, 1, SOURCE, one);
  await read(1, 1, SOURCE, one);
  assert.deepEqual(
    server.requests.map(({ url }) => url),
    ["/file?secret=1", "/signed?1", "/signed?1"],
  );
  server.requests.length = 0;
  server.next.push(status(403), to("/signed?2"));
  await read(2, 1, SOURCE, one);
  assert.deepEqual(
    server.requests.map(({ url }) => url),
    ["/signed?1", "/file?secret=1", "/signed?2"],
  );
});

test("a signal ends a read, and waiting for one", async () => {
  const controller = new AbortController();
  server.next.push(() => controller.abort(new Error("enough")));
  const one = reader({ inFlight: 1 });
  const first = one.read(`${root}/file`, { offset: 0, length: 1 }, { signal: controller.signal });
  const second = one.read(`${root}/file`, { offset: 5, length: 1 }, { signal: controller.signal });
  await assert.rejects(first, /enough/);
  await assert.rejects(second, /enough/);
  assert.deepEqual(await read(7, 1, undefined, one), DATA.slice(7, 8));
  const waiting = new AbortController();
  server.next.push((request, response) => {
    status(503)(request, response);
    setTimeout(() => waiting.abort(new Error("no more")), 1);
  });
  const slow = reader({ retries: { firstPause: 60, longestPause: 60 } });
  await assert.rejects(slow.read(`${root}/file`, { offset: 0, length: 1 }, { signal: waiting.signal }), /no more/);
});

test("no more requests than may be under way", async () => {
  let [now, most] = [0, 0];
  const counting: typeof fetch = async (input, init) => {
    most = Math.max(most, ++now);
    try {
      return await fetch(input, init);
    } finally {
      now--;
    }
  };
  const one = reader({ inFlight: 3, fetch: counting });
  await Promise.all(Array.from({ length: 20 }, (_, i) => read(i, 1, SOURCE, one)));
  assert.ok(most <= 3, `${most} at once`);
});

/** A page's fetch: another origin shows some headers only, and may refuse preflights. */
function pageFetch(allowsIfMatch: boolean, exposes: boolean): typeof fetch {
  return async (input, init) => {
    const headers = new Headers(init?.headers);
    if (headers.has("If-Match") && !allowsIfMatch) throw new TypeError("Failed to fetch");
    const answer = await fetch(input, init);
    const shown = new Headers(exposes ? { "Content-Range": answer.headers.get("Content-Range") ?? "" } : {});
    return new Response(answer.body, { status: answer.status, headers: shown });
  };
}

/** Do something as in a page of another origin than the server's. */
async function inPage(work: () => Promise<void>): Promise<void> {
  const page = { origin: "https://page.example" };
  Object.defineProperty(globalThis, "location", { value: page, configurable: true });
  try {
    await work();
  } finally {
    Reflect.deleteProperty(globalThis, "location");
  }
}

test("in a page, If-Match is sent where its preflight passes", async () => {
  await inPage(async () => {
    const allowed = reader({ fetch: pageFetch(true, false) });
    await read(0, 4, SOURCE, allowed);
    assert.equal(server.requests[0]!.headers["if-match"], '"one"');

    const refused = reader({ fetch: pageFetch(false, true) });
    for (let i = 0; i < 4; i++) await read(i, 4, SOURCE, refused);
    assert.ok(server.requests.slice(1).every(({ headers }) => headers["if-match"] === undefined));
    server.data = DATA.subarray(0, 999);
    await assert.rejects(read(0, 4, SOURCE, refused), SourceChangedError);

    const blind = reader({ fetch: pageFetch(false, false) });
    await assert.rejects(read(0, 4, SOURCE, blind), /Content-Range/);
    assert.equal((await read(0, 4, undefined, blind)).length, 4);
  });
});

test("in a page, one request finds out for all whether a preflight passes", async () => {
  /** Requests that were made with and without If-Match by many reads at once, and by many after them. */
  const asked = async (fetch: typeof globalThis.fetch, reads = 6) => {
    const counts = { with: 0, without: 0 };
    const counting: typeof fetch = (input, init) => {
      counts[new Headers(init?.headers).has("If-Match") ? "with" : "without"]++;
      return fetch(input, init);
    };
    const own = reader({ fetch: counting });
    for (let turn = 0; turn < 2; turn++) {
      await Promise.all(Array.from({ length: reads }, (_, i) => read(i, 4, SOURCE, own)));
    }
    return counts;
  };
  await inPage(async () => {
    assert.deepEqual(await asked(pageFetch(false, true)), { with: 1, without: 12 });
    assert.deepEqual(await asked(pageFetch(true, true)), { with: 12, without: 0 });
    // A connection that breaks says nothing of preflights: nobody is left waiting, and the next request asks again.
    let broken = 2;
    const breaking: typeof fetch = (input, init) => {
      if (broken-- > 0) return Promise.reject(new TypeError("Failed to fetch"));
      return pageFetch(true, true)(input, init);
    };
    assert.deepEqual(await asked(breaking), { with: 13, without: 1 });
    // Nor does one that breaks after the answer began.
    let cut = 1;
    const cutting: typeof fetch = async (input, init) => {
      const answer = await pageFetch(true, true)(input, init);
      if (cut-- <= 0) return answer;
      const body = new ReadableStream({ start: (stream) => stream.error(new TypeError("network error")) });
      return new Response(body, { status: answer.status, headers: answer.headers });
    };
    assert.deepEqual(await asked(cutting), { with: 13, without: 0 });
  });
});

test("in a page, no answer of another server is told as what it may be, after one more try", async () => {
  let asked = 0;
  const failing = (times: number): typeof fetch => {
    asked = 0;
    return (input, init) => {
      if (asked++ < times) return Promise.reject(new TypeError("Failed to fetch"));
      return pageFetch(true, true)(input, init);
    };
  };
  const message = `${root}/file: the server cannot be reached, or does not let this page read it (Access-Control-Allow-Origin)`;
  await inPage(async () => {
    await assert.rejects(read(0, 4, undefined, reader({ fetch: failing(9) })), { name: "ReadError", message });
    assert.equal(asked, 2);
    const opening = ReferenceStore.fromUrl(`${root}/file?secret=1`, { fetch: failing(9), retries: RETRIES });
    await assert.rejects(opening, { message: message.replace("file", "file/refs.json") });
    assert.equal(asked, 2);
    assert.equal((await read(0, 4, undefined, reader({ fetch: failing(1) }))).length, 4);

    // Who let the page read before does so still: the connection broke, and that passes.
    let isDown = false;
    const known = reader({ fetch: (input, init) => (isDown ? broken(input, init) : pageFetch(true, true)(input, init)) });
    await read(0, 4, undefined, known);
    isDown = true;
    const broken = failing(4);
    assert.equal((await read(4, 4, undefined, known)).length, 4);
    assert.equal(asked, 5);
  });
  await assert.rejects(read(0, 4, undefined, reader({ fetch: failing(9) })), TransientReadError);
  assert.equal(asked, 6);
});

test("in a page, reads that waited go to where the first was led", async () => {
  const asked: string[] = [];
  const leading: typeof fetch = async (input, init) => {
    const url = new URL(input as string);
    const isMatched = new Headers(init?.headers).has("If-Match");
    asked.push(`${url.pathname} ${isMatched}`);
    const answer = await pageFetch(url.hostname === "localhost", true)(input, init);
    if (url.hostname === "localhost") return answer;
    const target = { redirected: { value: true }, url: { value: root.replace("127.0.0.1", "localhost") + "/target" } };
    return Object.defineProperties(answer, target);
  };
  await inPage(async () => {
    const own = reader({ fetch: leading });
    await Promise.all(Array.from({ length: 4 }, (_, i) => read(i, 4, SOURCE, own)));
  });
  assert.deepEqual(asked, ["/file true", "/file false", "/target true", "/target true", "/target true"]);
});

test("in a page, a read that is given up while it finds out lets another do so", async () => {
  await inPage(async () => {
    const control = new AbortController();
    const fetches: Headers[] = [];
    const hanging: typeof fetch = (input, init) => {
      fetches.push(new Headers(init?.headers));
      if (fetches.length > 1) return pageFetch(true, true)(input, init);
      return new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(new Error("given up"))));
    };
    const own = reader({ fetch: hanging });
    const first = own.read(`${root}/file`, { offset: 0, length: 4 }, { source: SOURCE, signal: control.signal });
    const second = read(4, 4, SOURCE, own);
    setTimeout(() => control.abort(new Error("no more")));
    await assert.rejects(first, /no more/);
    assert.deepEqual(await second, DATA.subarray(4, 8));
    assert.equal(fetches.length, 2);
    assert.equal(fetches[1]!.get("If-Match"), '"one"');
  });
});
