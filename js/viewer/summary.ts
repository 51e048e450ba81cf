// What a view shows while it has no drawing of its own: the arrays of a node and their shapes.

import type { Mount } from "./index.js";

export const mount: Mount = async (container, { store, path }) => {
  const list = document.createElement("ul");
  for (const name of ["", ...store.children(path).map((child) => `/${child}`)]) {
    const { node_type: kind, shape } = store.metadata(path + name);
    const item = document.createElement("li");
    item.textContent = `${path}${name}: ${kind === "array" ? `array of ${JSON.stringify(shape)}` : "group"}`;
    list.append(item);
  }
  container.replaceChildren(list);
  return () => list.textContent;
};
