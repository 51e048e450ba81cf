// Dark or light: as the system has it, until the reader chooses.

import { h } from "./dom.js";

const KEY = "shadowzarr-theme";
type Theme = "dark" | "light";

/** A button that turns one into the other; what was chosen is kept on this machine. */
export function themeButton(): HTMLButtonElement {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = remembered();
  const current = (): Theme => chosen ?? (system.matches ? "dark" : "light");
  const button = h("button", { type: "button", class: "theme" });
  const show = () => {
    if (chosen !== undefined) document.documentElement.dataset["theme"] = chosen;
    button.textContent = current() === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${current() === "dark" ? "light" : "dark"} colours`);
  };
  button.addEventListener("click", () => {
    chosen = current() === "dark" ? "light" : "dark";
    remember(chosen);
    show();
  });
  system.addEventListener("change", show);
  show();
  return button;
}

function remembered(): Theme | undefined {
  try {
    const found = localStorage.getItem(KEY);
    return found === "dark" || found === "light" ? found : undefined;
  } catch {
    return undefined; // a browser that keeps nothing
  }
}

function remember(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // it holds for this page then
  }
}
