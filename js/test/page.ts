// What a page without a bundler of its own loads: this library and the parts of zarrita that go with it.

export * from "../src/index.js";
export { get, open, root, slice } from "zarrita";
