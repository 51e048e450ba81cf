// numcodecs makes the functions by which its WebAssembly is called from text, which a content-security policy without
// 'unsafe-eval' refuses: no chunk of Blosc and no large one of Zstandard could be decoded in such a page. In a bundle
// they are made of what that text says instead.

import { readFile } from "node:fs/promises";

const MADE_OF_TEXT = /function (\w+)\(a\) \{\s*var b = Function;[\s\S]*?return a instanceof Object \? a : c;\s*\}/g;

/** Emscripten's `craftInvokerFunction`, by closures: the names of what is given, and the text of the function. */
const BY_CLOSURES = `(parts) {
  const text = parts.at(-1);
  return (...values) => {
    const given = Object.fromEntries(parts.slice(0, -1).map((name, i) => [name, values[i]]));
    const returns = text.includes("return ret;");
    const collects = text.includes("var destructors = [];");
    return function (...args) {
      const destructors = collects ? [] : null;
      const wired = args.map((arg, i) => given["argType" + i].toWireType(destructors, arg));
      const result = given.invoker(given.fn, ...wired);
      if (collects) given.runDestructors(destructors);
      else wired.forEach((arg, i) => given["arg" + i + "Wired_dtor"]?.(arg));
      return returns ? given.retType.fromWireType(result) : undefined;
    };
  };
}`;

/** For esbuild; ends the build when numcodecs is another than this was written for. */
export const withoutEval = {
  name: "without-eval",
  setup(build) {
    build.onLoad({ filter: /[\\/]numcodecs[\\/]dist[\\/](blosc|lz4|zstd)\.js$/ }, async ({ path }) => {
      let changed = 0;
      const contents = (await readFile(path, "utf8")).replaceAll(MADE_OF_TEXT, (_, name) => {
        changed++;
        return `function ${name}${BY_CLOSURES}`;
      });
      if (changed !== 1) throw new Error(`${path}: functions made of text were found ${changed} times, expected once`);
      return { contents, loader: "js" };
    });
  },
};
