// Bundles: the tests for Node's test runner, and the library as one file for browsers, to see how large it is.

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

import { withoutEval } from "./withoutEval.mjs";

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
    plugins: [withoutEval],
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
    plugins: [withoutEval],
    splitting: true,
    minify: true,
  });
  for (const name of readdirSync("build/bundle").sort()) {
    const file = `build/bundle/${name}`;
    const compressed = gzipSync(readFileSync(file), { level: 9 }).length;
    console.log(`${name}: ${statSync(file).size} bytes, ${compressed} compressed`);
  }
}

/** A page with the viewer, and its parts as a page would load them, to see how large they are. */
async function viewer() {
  const folder = "build/viewer";
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    ...COMMON,
    entryPoints: { page: "test/viewerPage.ts", viewer: "viewer/viewer.css" },
    outdir: folder,
    chunkNames: "[name]-[hash]",
    platform: "browser",
    plugins: [withoutEval],
    splitting: true,
    minify: true,
    metafile: true,
  });
  for (const [path, { inputs }] of Object.entries(metafile.outputs)) {
    const compressed = gzipSync(readFileSync(path), { level: 9 }).length;
    const isViewer = Object.keys(inputs).some((input) => /^viewer\/|\/uplot\//.test(input));
    console.log(`${path}: ${statSync(path).size} bytes, ${compressed} compressed, ${isViewer ? "viewer" : "other"}`);
  }
}

/** The page of the catalogue, where the Python package has it; names tell the content, and a list says which is what. */
async function site() {
  const folder = process.argv[3] ?? "../shadowzarr/catalog/site/assets";
  rmSync(folder, { recursive: true, force: true });
  const { metafile } = await build({
    ...COMMON,
    entryPoints: { page: "site/main.ts" },
    outdir: folder,
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    platform: "browser",
    plugins: [withoutEval],
    splitting: true,
    minify: true,
    metafile: true,
    legalComments: "inline",
  });
  const outputs = Object.fromEntries(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const [script, { cssBundle }] = Object.entries(outputs).find(([, output]) => output.entryPoint === "site/main.ts");
  const style = basename(cssBundle);
  const first = [style, script];
  for (const name of first) {
    const imports = outputs[name].imports.filter(({ kind }) => kind === "import-statement");
    for (const { path } of imports) if (!first.includes(basename(path))) first.push(basename(path));
  }
  const manifest = { script, style, first, files: Object.keys(outputs).sort() };
  writeFileSync(`${folder}/manifest.json`, `${JSON.stringify(manifest, null, 2)}\n`);
}

await { test: tests, page, bundle, viewer, site }[process.argv[2] ?? "test"]();
