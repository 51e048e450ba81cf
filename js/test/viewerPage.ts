// A page with one view, as a test opens it: of `references`, the node at `path`, shown as `kind`.

import { ReferenceStore } from "../src/index.js";
import { mountViewer, Traffic, viewsOf, type ViewKind } from "../viewer/index.js";

const query = new URLSearchParams(location.search);
const traffic = new Traffic();
const store = await ReferenceStore.fromUrl(query.get("references")!, {
  fetch: traffic.fetch,
  retries: { attempts: 1 },
});
const kind = query.get("kind") as ViewKind | null;
const container = document.querySelector("main")!;
const viewer = mountViewer(container, {
  store,
  traffic,
  path: query.get("path")!,
  ...(kind === null ? {} : { kind }),
  ...(query.has("budget") ? { budget: Number(query.get("budget")) } : {}),
});
Object.assign(globalThis, { viewer, views: viewsOf(store) });
document.body.dataset["mounted"] = "";
