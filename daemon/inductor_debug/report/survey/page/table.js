// The table: only rows that can be seen are elements, so ten thousand cost no more than thirty.

const ROW_HEIGHT = 27;

class Table {
  constructor(page, host) {
    this.page = page;
    this.rows = [];
    this.at = -1;
    this.sorted = { field: -1, down: false };
    this.head = make("div", { class: "head", role: "row" });
    this.body = make("div", { class: "rows" });
    this.host = host;
    host.setAttribute("role", "grid");
    host.setAttribute("tabindex", "0");
    host.append(this.head, this.body);
    host.addEventListener("scroll", () => this.draw(), { passive: true });
    host.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row !== null) page.open(this.rows[Number(row.dataset.at)]);
    });
    this.measure();
    this.drawHead();
  }

  /** Columns are as wide as what stands in them, by a sample of rows. */
  measure() {
    const { fields, columns, rowCount } = this.page.data;
    const step = Math.max(1, Math.floor(rowCount / 300));
    const widths = fields.map((field, at) => {
      let most = field.label.length + 2;
      for (let row = 0; row < rowCount; row += step) most = Math.max(most, words(field.kind, columns[at][row]).length);
      return Math.min(most, 44);
    });
    this.template = widths.map((width) => `${width + 2}ch`).join(" ");
    this.host.style.setProperty("--columns", this.template);
  }

  drawHead() {
    const { fields } = this.page.data;
    this.head.replaceChildren(
      ...fields.map((field, at) => {
        const mark = this.sorted.field === at ? (this.sorted.down ? " ↓" : " ↑") : "";
        const order = this.sorted.field === at ? (this.sorted.down ? "descending" : "ascending") : "none";
        const button = make("button", { title: `sort by ${field.label}`, on: { click: () => this.sort(at) } }, field.label + mark);
        return make("span", { role: "columnheader", "aria-sort": order, class: field.kind === "text" ? "" : "number" }, button);
      }),
    );
  }

  sort(field) {
    const first = this.page.data.fields[field].kind !== "text";
    this.sorted = this.sorted.field === field ? { field, down: !this.sorted.down } : { field, down: first };
    this.show(this.rows);
    this.drawHead();
    this.page.drawCharts();
  }

  /** Shows these rows, in the order that was chosen; what nobody knows comes last. */
  show(rows) {
    const { field, down } = this.sorted;
    if (field >= 0) {
      const values = this.page.data.columns[field];
      const sign = down ? -1 : 1;
      rows = [...rows].sort((one, other) => {
        const [a, b] = [values[one], values[other]];
        if (a === b) return one - other;
        if (a === null) return 1;
        if (b === null) return -1;
        return (a < b ? -1 : 1) * sign;
      });
    }
    this.rows = rows;
    this.body.style.height = `${rows.length * ROW_HEIGHT}px`;
    this.host.setAttribute("aria-rowcount", String(rows.length));
    this.draw();
  }

  draw() {
    const { fields, columns, severity } = this.page.data;
    const first = Math.max(0, Math.floor(this.host.scrollTop / ROW_HEIGHT) - 8);
    const last = Math.min(this.rows.length, first + Math.ceil(this.host.clientHeight / ROW_HEIGHT) + 18);
    const made = [];
    for (let at = first; at < last; at++) {
      const row = this.rows[at];
      const cells = fields.map((field, column) => {
        const text = words(field.kind, columns[column][row]);
        return make("span", { role: "gridcell", class: field.kind === "text" ? "" : "number", title: text.length > 44 ? text : undefined }, text);
      });
      const line = make("div", { role: "row", "data-at": at, "aria-rowindex": at + 1, class: `row ${severity[row] ?? ""}${row === this.page.opened ? " opened" : ""}` }, ...cells);
      line.style.top = `${at * ROW_HEIGHT}px`;
      made.push(line);
    }
    this.body.replaceChildren(...made);
  }

  /** Brings a row into sight. */
  reveal(row) {
    const at = this.rows.indexOf(row);
    if (at < 0) return;
    this.at = at;
    const top = at * ROW_HEIGHT;
    if (top < this.host.scrollTop || top > this.host.scrollTop + this.host.clientHeight - 3 * ROW_HEIGHT) this.host.scrollTop = Math.max(0, top - 3 * ROW_HEIGHT);
    this.draw();
  }

  key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 };
    if (event.key in moves && this.rows.length > 0) {
      event.preventDefault();
      this.at = Math.min(Math.max(this.at + moves[event.key], 0), this.rows.length - 1);
      this.page.open(this.rows[this.at]);
    } else if (event.key === "Escape") this.page.close();
  }
}
