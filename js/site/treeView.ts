// The tree of a file, as the ARIA authoring practices have trees: one stop of the Tab key, arrows within. Groups are
// filled when they are opened, and large ones a part at a time.

import type { ReferenceStore } from "../src/index.js";
import { isDamaged, shapeOf } from "../viewer/tree.js";
import { fill, h } from "./dom.js";
import { count, shape as shapeText } from "./format.js";

const AT_ONCE = 200;
const MOST_DEPTH = 200; // of groups in each other: of more, browsers crash

interface Item {
  readonly path: string;
  readonly element: HTMLLIElement;
  readonly label: HTMLElement;
  readonly children: HTMLUListElement | undefined;
  filled: number;
}

export class TreeView {
  readonly element: HTMLUListElement;
  readonly #items = new Map<string, Item>();
  #focused: Item;
  #selected: Item | undefined;

  /** @param choose - Is told which node is wanted. */
  constructor(
    private readonly store: ReferenceStore,
    private readonly choose: (path: string) => void,
  ) {
    const root = this.#item("", "/");
    this.element = h("ul", { role: "tree", class: "tree", "aria-labelledby": "tree" }, root.element);
    this.#focused = root;
    root.label.tabIndex = 0;
    this.#open(root);
    this.element.addEventListener("keydown", (event) => this.#key(event));
    this.element.addEventListener("click", (event) => this.#click(event));
  }

  /** Mark a node and open the groups around it. */
  select(path: string): void {
    let item = this.#items.get("")!;
    const names = path === "" ? [] : path.split("/");
    for (const [depth, name] of names.entries()) {
      this.#open(item);
      const next = [...names.slice(0, depth), name].join("/");
      while (!this.#items.has(next) && this.#more(item));
      const found = this.#items.get(next);
      if (found === undefined) break;
      item = found;
    }
    if (this.#selected !== undefined) this.#selected.label.ariaSelected = "false";
    this.#selected = item;
    item.label.ariaSelected = "true";
    this.#setFocused(item);
    if (item.path !== "") item.label.scrollIntoView({ block: "nearest" });
  }

  #item(path: string, name: string): Item {
    const { isGroup, note: told } = aboutNode(this.store, path);
    const hasMembers = isGroup && this.store.children(path).length > 0;
    const isTooDeep = hasMembers && path.split("/").length >= MOST_DEPTH;
    const hasChildren = hasMembers && !isTooDeep;
    const note = isTooDeep ? "what is in it lies too deep to be shown" : told;
    const label = h(
      "div",
      { role: "treeitem", tabindex: -1, class: isGroup ? "group" : "array", "aria-selected": "false" },
      h("span", { class: "name" }, name),
      note === "" ? null : h("small", {}, note),
    );
    if (hasChildren) label.ariaExpanded = "false";
    const id = `in-node-${this.#items.size}`;
    const children = hasChildren ? h("ul", { role: "group", id, hidden: true }) : undefined;
    if (hasChildren) label.setAttribute("aria-owns", id);
    const element = h("li", { role: "none" }, label, children);
    const item = { path, element, label, children, filled: 0 };
    this.#items.set(path, item);
    return item;
  }

  #open(item: Item): void {
    if (item.children === undefined) return;
    if (item.filled === 0) this.#more(item);
    item.children.hidden = false;
    item.label.ariaExpanded = "true";
  }

  #close(item: Item): void {
    if (item.children === undefined) return;
    item.children.hidden = true;
    item.label.ariaExpanded = "false";
  }

  /** Fill the next part of a group; false when it is whole. */
  #more(item: Item): boolean {
    const names = this.store.children(item.path);
    if (item.children === undefined || item.filled >= names.length) return false;
    item.children.querySelector(":scope > .more")?.remove();
    const part = names.slice(item.filled, item.filled + AT_ONCE);
    const made = part.map((name) => this.#item(item.path === "" ? name : `${item.path}/${name}`, name));
    item.children.append(...made.map(({ element }) => element));
    item.filled += part.length;
    const left = names.length - item.filled;
    if (left > 0) {
      const label = h("div", { role: "treeitem", tabindex: -1, class: "rest", "aria-selected": "false" });
      fill(label, `show more of ${count(left)} further`);
      item.children.append(h("li", { role: "none", class: "more", "data-of": item.path }, label));
    }
    return true;
  }

  #click(event: MouseEvent): void {
    const label = (event.target as Element).closest<HTMLElement>('[role="treeitem"]');
    if (label !== null) this.#activate(label);
  }

  #activate(label: HTMLElement): void {
    const rest = label.closest<HTMLElement>("li.more");
    if (rest !== null && rest.contains(label) && label.classList.contains("rest")) {
      const group = this.#items.get(rest.dataset["of"]!)!;
      const before = group.filled;
      this.#more(group);
      const first = group.children!.children[before]!.querySelector<HTMLElement>('[role="treeitem"]');
      this.#focus(first ?? group.label);
      return;
    }
    const item = this.#of(label);
    if (item === undefined) return;
    if (item === this.#selected && item.label.ariaExpanded === "true") this.#close(item);
    else this.#open(item);
    this.#setFocused(item);
    this.choose(item.path);
  }

  #of(label: HTMLElement): Item | undefined {
    for (const item of this.#items.values()) if (item.label === label) return item;
    return undefined;
  }

  #setFocused(item: Item): void {
    for (const each of this.element.querySelectorAll<HTMLElement>('[tabindex="0"]')) each.tabIndex = -1;
    this.#focused = item;
    item.label.tabIndex = 0;
  }

  #focus(label: HTMLElement): void {
    for (const each of this.element.querySelectorAll<HTMLElement>('[tabindex="0"]')) each.tabIndex = -1;
    label.tabIndex = 0;
    label.focus();
    this.#focused = this.#of(label) ?? this.#focused;
  }

  #key(event: KeyboardEvent): void {
    const label = (event.target as Element).closest<HTMLElement>('[role="treeitem"]');
    if (label === null || event.ctrlKey || event.altKey || event.metaKey) return;
    const shown = this.#shown();
    const at = shown.indexOf(label);
    const item = this.#of(label);
    const go = (number: number) => this.#focus(shown[Math.max(0, Math.min(shown.length - 1, number))]!);
    const acts: Record<string, () => void> = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(shown.length - 1),
      Enter: () => this.#activate(label),
      " ": () => this.#activate(label),
      ArrowRight: () => {
        if (item === undefined) return;
        if (label.ariaExpanded === "false") this.#open(item);
        else if (label.ariaExpanded === "true") go(at + 1);
      },
      ArrowLeft: () => {
        if (item !== undefined && label.ariaExpanded === "true") this.#close(item);
        else this.#focus(this.#parentOf(label) ?? label);
      },
    };
    const act = acts[event.key];
    if (act !== undefined) {
      event.preventDefault();
      act();
    } else if (event.key.length === 1) this.#type(event.key, shown, at);
  }

  /** Go to the next node whose name begins with a letter. */
  #type(letter: string, shown: HTMLElement[], at: number): void {
    const order = [...shown.slice(at + 1), ...shown.slice(0, at)];
    const found = order.find((label) => label.textContent?.toLowerCase().startsWith(letter.toLowerCase()));
    if (found !== undefined) this.#focus(found);
  }

  #parentOf(label: HTMLElement): HTMLElement | undefined {
    const group = label.closest('ul[role="group"]');
    return group?.parentElement?.querySelector<HTMLElement>(':scope > [role="treeitem"]') ?? undefined;
  }

  /** The nodes that are not in a closed group, from top to bottom. */
  #shown(): HTMLElement[] {
    const all = this.element.querySelectorAll<HTMLElement>('[role="treeitem"]');
    return [...all].filter((label) => label.closest("ul[hidden]") === null);
  }
}

/** What is told of a node beside its name; one whose metadata are damaged may have others below it. */
function aboutNode(store: ReferenceStore, path: string): { isGroup: boolean; note: string } {
  if (isDamaged(store, path)) return { isGroup: true, note: "damaged" };
  const shape = shapeOf(store, path);
  if (shape !== undefined) return { isGroup: false, note: shapeText(shape) };
  const type = store.attributes(path)["neurodata_type"];
  return { isGroup: true, note: typeof type === "string" ? type : "" };
}
