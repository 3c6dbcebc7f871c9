// Tables that sort by any column and filter by words.
"use strict";

const tables = (() => {
  /** Rows that a table shows before its reader asks for more. */
  const FIRST_ROWS = 400;

  const element = (name, attributes = {}, ...children) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== undefined) made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== undefined));
    return made;
  };

  /** A number for reading: whole ones in groups of three digits, others with `digits` decimals or four significant digits. */
  const format = (value, digits) => {
    if (value === undefined || value === null) return "-";
    if (typeof value !== "number") return String(value);
    if (digits !== undefined) return value.toFixed(digits);
    if (Number.isInteger(value)) return value.toLocaleString("en-US");
    return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
  };

  const compare = (a, b) => {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  };

  /**
   * A table in `host`. A column has a `title`, the function `of` that gives the value of a row, and perhaps `digits`, `long`
   * (text that wraps) and `percent`. Returns what replaces rows and columns.
   */
  const table = (host, name, columns, rows) => {
    let order = null;
    let all = false;
    const scroll = element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name });
    const more = element("p", { class: "note more" });
    host.replaceChildren(scroll, more);

    const cell = (column, row) => {
      const value = column.of(row);
      const isNumber = typeof value === "number";
      const shown = isNumber && column.percent ? `${(100 * value).toFixed(1)}%` : format(value, isNumber ? column.digits : undefined);
      return element("td", {
        class: isNumber || value === undefined ? "number" : column.long ? "long" : undefined,
        "data-value": value === undefined || value === null ? "" : String(value),
      }, shown);
    };

    const sorted = () => {
      if (!order) return rows;
      const { of } = columns[order.at];
      const missing = (value) => value === undefined || value === null;
      return [...rows].sort((a, b) => {
        const [x, y] = [of(a), of(b)];
        if (missing(x) || missing(y)) return missing(x) - missing(y);
        return order.down ? compare(y, x) : compare(x, y);
      });
    };

    /** All rows as CSV, in the order shown. */
    const csv = () => {
      const quoted = (value) => {
        const text = value === undefined || value === null ? "" : String(value);
        return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
      };
      const lines = [columns.map((column) => column.title), ...sorted().map((row) => columns.map((column) => column.of(row)))];
      return lines.map((line) => line.map(quoted).join(",") + "\n").join("");
    };
    const saveCsv = () => charts.save(new Blob([csv()], { type: "text/csv" }), charts.fileName(name, "csv"));

    const draw = () => {
      const heads = columns.map((column, at) => {
        const direction = order && order.at === at ? (order.down ? "descending" : "ascending") : undefined;
        const sort = () => {
          const again = order && order.at === at;
          order = again && order.down ? null : { at, down: Boolean(again) };
          draw();
        };
        const isNumber = rows.some((row) => typeof column.of(row) === "number");
        return element("th", { scope: "col", "aria-sort": direction, class: isNumber ? "number" : undefined },
          element("button", { type: "button", onclick: sort, title: column.meaning || column.title }, column.title));
      });
      const shown = all ? sorted() : sorted().slice(0, FIRST_ROWS);
      const body = shown.map((row) => element("tr", {}, ...columns.map((column) => cell(column, row))));
      scroll.replaceChildren(element("table", { id: `table-${name.replaceAll(" ", "-")}` },
        element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...body)));
      more.replaceChildren();
      if (rows.length) {
        more.append(element("button", { type: "button", title: "Save the table as CSV", onclick: saveCsv }, "CSV"), " ");
      }
      if (shown.length < rows.length) {
        const showAll = () => { all = true; draw(); };
        more.append(`${shown.length} of ${rows.length} rows. `,
          element("button", { type: "button", onclick: showAll }, "Show all"));
      }
    };
    draw();
    return {
      set(newRows, newColumns) {
        rows = newRows;
        if (newColumns) {
          const by = order && columns[order.at].title;
          columns = newColumns;
          const at = columns.findIndex((column) => column.title === by);
          order = at < 0 ? null : { at, down: order.down };
        }
        draw();
      },
    };
  };

  return { element, format, table };
})();
