"use strict";
// Sorting, searching and filtering of the table of assets. Without it the page shows everything.
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows).map((row, index) => ({
    row, index, path: row.cells[0].textContent.toLowerCase(),
  }));
  const heads = Array.from(table.tHead.rows[0].cells);
  const field = (id) => document.getElementById(id);
  let column = -1;
  let direction = 1;

  const value = (entry) => {
    const cell = entry.row.cells[column];
    return cell.dataset.v === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.v);
  };

  const compare = (a, b) => {
    const x = value(a);
    const y = value(b);
    const order = typeof x === "number" ? x - y : x.localeCompare(y, undefined, { numeric: true });
    return direction * order || a.index - b.index;
  };

  const sortBy = (chosen) => {
    direction = chosen === column ? -direction : heads[chosen].classList.contains("n") ? -1 : 1;
    column = chosen;
    heads.forEach((head, i) => {
      if (i === column) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    body.append(...[...rows].sort(compare).map((entry) => entry.row));
  };

  const filter = () => {
    const words = field("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const outcome = field("outcome").value;
    const dandiset = field("dandiset").value;
    let shown = 0;
    for (const { row, path } of rows) {
      const fits = words.every((word) => path.includes(word))
        && (!outcome || row.classList.contains(outcome)) && (!dandiset || row.dataset.d === dandiset);
      row.hidden = !fits;
      shown += fits;
    }
    field("shown").textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };

  heads.forEach((head, i) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sortBy(i));
    head.replaceChildren(button);
  });
  const controls = field("controls");
  controls.hidden = false;
  controls.addEventListener("input", filter);
  controls.addEventListener("submit", (event) => event.preventDefault());
  filter();
})();
