// Bundles: the tests for Node's test runner, and the library as one file for browsers, to see how large it is.

import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const COMMON = { bundle: true, format: "esm", logLevel: "warning", target: "es2022" };

async function tests() {
  rmSync("build/test", { recursive: true, force: true });
  const files = readdirSync("test").filter((name) => name.endsWith(".test.ts"));
  await build({
    ...COMMON,
    entryPoints: files.map((name) => `test/${name}`),
    outdir: "build/test",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    packages: "external",
    splitting: true,
    sourcemap: "inline",
  });
}

/** What a page runs to check the store in a browser. */
async function page() {
  rmSync("build/page", { recursive: true, force: true });
  await build({
    ...COMMON,
    entryPoints: ["test/browser.ts"],
    outdir: "build/page",
    platform: "browser",
    splitting: true,
  });
}

/** The library with zarrita, as a page would have it; decoders are files of their own, loaded on first use. */
async function bundle() {
  rmSync("build/bundle", { recursive: true, force: true });
  await build({
    ...COMMON,
    entryPoints: { shadowzarr: "test/page.ts" },
    outdir: "build/bundle",
    chunkNames: "[name]-[hash]",
    platform: "browser",
    splitting: true,
    minify: true,
  });
  for (const name of readdirSync("build/bundle").sort()) {
    const file = `build/bundle/${name}`;
    const compressed = gzipSync(readFileSync(file), { level: 9 }).length;
    console.log(`${name}: ${statSync(file).size} bytes, ${compressed} compressed`);
  }
}

await { test: tests, page, bundle }[process.argv[2] ?? "test"]();
