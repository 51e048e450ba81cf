// Every array of every document that Python wrote reads as in Python, over HTTP with ranges. The test of the Python
// suite (tests/js) makes the documents, serves them, and says where they are.

import { test } from "node:test";

import { ReferenceStore } from "../src/index.js";
import { compareAll, type ExpectedDocument } from "./documents.js";

const place = process.env["SHADOWZARR_DOCUMENTS"];
const documents = place === undefined ? [] : ((await (await fetch(place)).json()) as ExpectedDocument[]);

test("documents are served", { skip: place === undefined && "run by tests/js, which serves documents" }, () => {
  if (documents.length === 0) throw new Error("there are none");
});
for (const document of documents) {
  test(document.name, async () => {
    const store = await ReferenceStore.fromUrl(document.url);
    await compareAll(store, document);
  });
}
