// Making elements. Text goes in as text nodes only.

import { visible } from "./visible.js";

type Child = Node | string;
type Properties = Record<string, string | number | boolean | ((event: never) => void)>;

/**
 * Make an element.
 *
 * @param properties - Attributes by their names; a function is a listener for the event of that name, true an attribute
 * without value, and false none.
 */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else if (value !== false) element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.map((child) => (typeof child === "string" ? visible(child) : child)));
  return element;
}

/** A button with a word on it. */
export function button(text: string, onClick: () => void): HTMLButtonElement {
  return make("button", { type: "button", click: onClick }, text);
}

/** A field with its label around it. */
export function labelled(text: string, field: HTMLElement): HTMLLabelElement {
  field.setAttribute("aria-label", text); // the label's own text would have a menu's choices in it
  return make("label", { class: "viewer-field" }, make("span", {}, text), field);
}

/** A menu of choices by value. */
export function menu(choices: Record<string, string>, onChange: (value: string) => void): HTMLSelectElement {
  const options = Object.entries(choices).map(([value, text]) => make("option", { value }, text));
  const select = make("select", {}, ...options);
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

/** A table with a caption, a row of heads and rows of cells. */
export function table(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): HTMLTableElement {
  const head = make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...cells]) =>
    make("tr", {}, make("th", { scope: "row" }, first ?? ""), ...cells.map((text) => make("td", {}, text))),
  );
  return make("table", {}, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...body));
}
