// What a page runs to check the store in a browser: the documents that Python serves from another origin, compared as
// in Node. It posts what it found.

import { ReferenceStore } from "../src/index.js";
import { compareAll, type ExpectedDocument } from "./documents.js";

async function check(): Promise<string[]> {
  const place = new URLSearchParams(location.search).get("documents")!;
  const documents = (await (await fetch(place)).json()) as ExpectedDocument[];
  const lines: string[] = [];
  for (const document of documents) {
    try {
      await compareAll(await ReferenceStore.fromUrl(document.url), document);
      lines.push(`ok ${document.name}`);
    } catch (error) {
      lines.push(`not ok ${document.name}: ${error}`);
    }
  }
  return lines;
}

const lines = await check().catch((error: unknown) => [`not ok: ${error}`]);
await fetch("found", { method: "POST", body: lines.join("\n") });
