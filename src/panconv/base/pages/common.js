// Sorting: a header button orders the rows by that column; rows without a value stay last.
for (const table of document.querySelectorAll("table.sortable"))
  table.querySelectorAll("thead th").forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("thead th").forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const value = row => { const cell = row.cells[column];
        return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value; };
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (x === "" || y === "") return (x === "") - (y === "");
        const order = isNaN(x) || isNaN(y) ? x.localeCompare(y, "en", {numeric: true}) : x - y;
        return up ? order : -order; });
      table.tBodies[0].append(...rows);
    });
  });
// On paper nothing is folded away.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(each => each.open = true));
