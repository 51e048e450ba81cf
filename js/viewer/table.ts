// The view of a DynamicTable: its rows page by page.

import { ArrayReader } from "./chunkedArray.js";
import { button, labelled, make, menu, table } from "./dom.js";
import type { Mount, MountOptions } from "./index.js";
import { Loading } from "./loading.js";
import { problemText } from "./problems.js";
import { openTable, type Column, type Table } from "./tableData.js";

const PAGE = 25;

export const mount: Mount = async (container, options) => {
  const found = await openTable(new ArrayReader(options.store), options.path, options.signal);
  options.signal.throwIfAborted();
  const view = new TableView(container, options, found);
  await view.refresh();
  return () => view.drawn;
};

/** What is on the page. */
interface Drawn {
  first: number;
  heads: string[];
  rows: string[][];
}

class TableView {
  drawn: Drawn | undefined;
  readonly #loading: Loading;
  readonly #rows = make("div", { class: "viewer-rows", tabindex: 0, role: "region", "aria-label": "Rows" });
  readonly #first = make("input", { type: "number", min: 0, step: 1, value: 0 });
  #page = PAGE;

  constructor(
    container: HTMLElement,
    private readonly options: MountOptions,
    private readonly table: Table,
  ) {
    this.#loading = new Loading(options.traffic, options.signal, () => {
      this.drawn = undefined;
      this.#rows.replaceChildren();
    });
    const { rows, columns } = table;
    const go = (by: number) => this.#go(this.#first.valueAsNumber + by * this.#page);
    this.#first.max = String(Math.max(0, rows - 1));
    this.#first.addEventListener("change", () => this.#go(this.#first.valueAsNumber));
    const size = menu({ 25: "25", 50: "50", 100: "100" }, (value) => {
      this.#page = Number(value);
      void this.refresh();
    });
    container.replaceChildren(
      make("p", { class: "viewer-about" }, `${rows} rows, ${columns.length} columns.`),
      make(
        "div",
        { class: "viewer-tools", role: "group", "aria-label": "Rows" },
        button("Previous", () => go(-1)),
        button("Next", () => go(1)),
        labelled("From row", this.#first),
        labelled("Rows at once", size),
      ),
      this.#loading.element,
      this.#rows,
    );
  }

  /** Read and show the rows that are chosen. */
  async refresh(): Promise<void> {
    await this.#loading.run(async (signal) => {
      const { columns, rows } = this.table;
      const first = this.#first.valueAsNumber;
      const last = Math.min(rows, first + this.#page);
      const problems: string[] = [];
      const cellsOf = async (column: Column): Promise<string[]> => {
        try {
          return await column.cells(first, last, signal);
        } catch (error) {
          signal.throwIfAborted();
          problems.push(`${column.name}: ${problemText(error)}`); // the other columns are still worth showing
          return Array.from({ length: last - first }, () => "cannot be read");
        }
      };
      const cells = await Promise.all(columns.map(cellsOf));
      signal.throwIfAborted();
      const heads = ["row", ...columns.map(({ name }) => name)];
      const shown = Array.from({ length: last - first }, (_, i) => [String(first + i), ...cells.map((own) => own[i]!)]);
      this.drawn = { first, heads, rows: shown };
      const made = table(`Rows of ${this.options.path}`, heads, shown);
      for (const [i, head] of [...made.querySelectorAll("thead th")].entries()) {
        const description = i === 0 ? "number in the file" : columns[i - 1]!.description;
        if (description !== "") head.setAttribute("title", description);
      }
      this.#rows.replaceChildren(made);
      const place = last > first ? `Rows ${first} to ${last - 1} of ${rows}.` : "There are no rows.";
      this.#loading.say([place, ...problems].join(" "));
    });
  }

  #go(row: number): void {
    if (!Number.isInteger(row)) return;
    const first = Math.min(Math.max(0, this.table.rows - 1), Math.max(0, row));
    this.#first.valueAsNumber = first;
    void this.refresh();
  }
}
