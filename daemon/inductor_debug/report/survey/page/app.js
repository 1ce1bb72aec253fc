// The page of a survey: what it comes to, charts, a table, and what is known of the row that is open.

class Page {
  constructor() {
    this.data = JSON.parse(document.getElementById("survey-data").textContent);
    this.opened = undefined;
    this.details = undefined;
    const { matrixCells, rules } = this.data;
    this.data.matrix = new Map();
    for (let at = 0; at < matrixCells.length; at += 3) this.data.matrix.set(matrixCells[at] * rules.length + matrixCells[at + 1], matrixCells[at + 2]);
    this.searched = this.data.search;
    this.charts = document.getElementById("charts");
    this.panel = document.getElementById("details");
    this.bindFilters();
    this.table = new Table(this, document.getElementById("table"));
    this.apply();
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.drawCharts());
    new ResizeObserver(() => this.table.draw()).observe(this.table.host);
    const wanted = decodeURIComponent(location.hash.slice(1));
    const row = this.data.names.indexOf(wanted);
    if (wanted && row >= 0) this.open(row);
  }

  name(row) {
    return this.data.names[row];
  }

  bindFilters() {
    this.search = document.getElementById("search");
    this.rule = document.getElementById("rule");
    this.state = document.getElementById("state");
    this.rule.append(make("option", { value: "" }, "every rule"), ...this.data.rules.map((rule) => make("option", { value: rule }, rule)));
    for (const control of [this.search, this.rule, this.state]) control.addEventListener("input", () => this.apply());
    document.getElementById("theme").addEventListener("click", () => {
      const root = document.documentElement;
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      this.drawCharts();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && document.activeElement !== this.search) {
        event.preventDefault();
        this.search.focus();
      }
    });
  }

  /** The rows that the filters leave, in the table's order, then everything that is drawn of them. */
  apply() {
    const { rules, matrix, state, rowCount } = this.data;
    const wanted = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rule = rules.indexOf(this.rule.value);
    const shown = [];
    for (let row = 0; row < rowCount; row++) {
      if (rule >= 0 && !matrix.has(row * rules.length + rule)) continue;
      if (this.state.value !== "" && !state[row].includes(this.state.value)) continue;
      if (wanted.every((word) => this.searched[row].includes(word))) shown.push(row);
    }
    this.table.show(shown);
    document.getElementById("shown").textContent = `${shown.length.toLocaleString("en")} of ${rowCount.toLocaleString("en")} rows`;
    this.drawCharts();
  }

  /** Draws the charts one after the other, so that the table is there before them; a later call ends an earlier one. */
  drawCharts() {
    const drawings = [...this.drawings(this.table.rows)];
    const slots = drawings.map(() => make("div", { class: "slot" }));
    this.turn = (this.turn ?? 0) + 1;
    const turn = this.turn;
    const next = (at) => {
      if (turn !== this.turn || at >= drawings.length) return;
      slots[at].replaceChildren(...[drawings[at]()].filter(Boolean));
      if (at === 0) this.charts.replaceChildren(...slots);
      setTimeout(() => next(at + 1));
    };
    setTimeout(() => next(0));
  }

  /** What draws each chart of some rows; of which there is nothing to draw gives none. */
  *drawings(rows) {
    const { accelerators, backends, compared } = this.data;
    yield () => heatMap(this, rows);
    yield () => this.reasons(rows);
    for (const device of accelerators) {
      const title = `Peak memory${device.title ? ` on ${device.title}` : ""}`;
      yield () => ranked(this, title, rows, (row) => device.peak[row], "bytes", true, device.bytes ? [device.bytes] : []);
      yield () => this.roofline(device, rows);
    }
    for (const backend of backends) {
      yield () => this.phases(backend, rows);
      yield () => ranked(this, `Speed-up, ${backend.name} against eager`, rows, (row) => backend.speed[row], "times", false, [1]);
    }
    for (const backend of compared) yield () => errors(backend, rows);
    if (this.data.before) yield () => this.beforeAndAfter(rows);
  }

  reasons(rows) {
    const { breaks } = this.data;
    const items = breaks.reasons
      .map((name, at) => ({ name, parts: [rows.reduce((sum, row) => sum + (breaks.counts[row]?.[at] ?? 0), 0)] }))
      .filter((item) => item.parts[0] > 0)
      .sort((one, other) => other.parts[0] - one.parts[0]);
    return bars("Graphs break by", items.slice(0, 14), "count");
  }

  phases(backend, rows) {
    const timed = rows.filter((row) => backend.phases[row]);
    const slowest = timed.sort((one, other) => total(backend.phases[other]) - total(backend.phases[one])).slice(0, 14);
    const items = slowest.map((row) => ({ name: this.name(row), parts: backend.phases[row], open: () => this.open(row) }));
    const which = timed.length > slowest.length ? `: the ${slowest.length} slowest` : "";
    return bars(`Compile time by phase, ${backend.name}, from cold${which}`, items, "seconds", backend.names);
  }

  /** Each model by its operations a byte and the rate of its bound, below the roofs of the accelerator. */
  roofline(device, rows) {
    const dots = rows
      .filter((row) => device.seconds[row] && device.flops[row] && device.moved[row])
      .map((row) => ({ x: device.flops[row] / device.moved[row], y: device.flops[row] / device.seconds[row], row }));
    if (dots.length === 0) return null;
    const roofs = device.roofs;
    const across = { ...span([...dots.map((dot) => dot.x), 1, 1000], true), log: true, label: "operations a byte", words: (tick) => digits(tick, 2) };
    const up = { ...span([...dots.map((dot) => dot.y), ...roofs.rates], true), log: true, label: "", words: inThousands };
    const lines = roofs.rates.map((rate) => [[roofs.bandwidth ? rate / roofs.bandwidth : across.low, rate], [across.high, rate]]);
    if (roofs.bandwidth && roofs.rates.length > 0) lines.push([[across.low, across.low * roofs.bandwidth], [Math.max(...roofs.rates) / roofs.bandwidth, Math.max(...roofs.rates)]]);
    return scatter(this, `Roofline on ${device.title}: operations a second at best`, dots, { x: across, y: up }, lines);
  }

  /** A number of each model in the earlier run and in this one: what lies on the line has not changed. */
  beforeAndAfter(rows) {
    const { before } = this.data;
    const chosen = before.fields[this.beforeField ?? 0];
    if (chosen === undefined) return null;
    const dots = rows
      .filter((row) => chosen.before[row] > 0 && chosen.after[row] > 0)
      .map((row) => ({ x: chosen.before[row], y: chosen.after[row], row, colour: before.worse[row] ? "error" : undefined }));
    const range = span(dots.flatMap((dot) => [dot.x, dot.y]), true);
    const axis = (label) => ({ ...range, log: true, doubling: chosen.kind === "bytes", label, words: (tick) => words(chosen.kind, tick) });
    const made = scatter(this, `Before and after: ${chosen.label}`, dots, { x: axis("before"), y: axis("after") }, [[[range.low, range.low], [range.high, range.high]]]);
    const choice = make("select", { "aria-label": "which number" }, ...before.fields.map((field, at) => make("option", { value: at, selected: field === chosen }, field.label)));
    choice.addEventListener("input", () => {
      this.beforeField = Number(choice.value);
      this.drawCharts();
    });
    made?.querySelector("figcaption").append(" ", choice);
    return made;
  }

  /** Opens a row beside the table: its findings with their source, and what else is known of it. */
  open(row) {
    this.details ??= document.getElementById("survey-details").textContent.trim().split("\n");
    this.opened = row;
    history.replaceState(null, "", `#${encodeURIComponent(this.name(row))}`);
    const known = JSON.parse(this.details[row]);
    const facts = this.data.fields.map((field, at) => [field.label, words(field.kind, this.data.columns[at][row])]).filter(([, text]) => text !== "" && text !== "·");
    const close = make("button", { class: "close", "aria-label": "close", on: { click: () => this.close() } }, "×");
    const parts = [
      close,
      make("h2", {}, this.name(row)),
      make("p", { class: "place" }, known.path + (known.tags.length > 0 ? ` · ${known.tags.join(", ")}` : "")),
      known.why ? make("p", { class: "why" }, known.why) : null,
      known.signature ? make("p", {}, "inferred inputs: ", make("code", {}, known.signature)) : null,
      known.recompile ? make("p", {}, known.recompile) : null,
      known.graph ? make("p", {}, make("a", { href: known.graph }, "Its graphs, stage by stage")) : null,
      ...(known.before ?? []).map((line) => make("p", { class: line.worse ? "error" : "good" }, line.text)),
      ...known.findings.map(finding),
      ...known.compared.map((text) => make("p", {}, text)),
      make("dl", {}, ...facts.flatMap(([label, text]) => [make("dt", {}, label), make("dd", {}, text)])),
      make("p", { class: "place" }, "Go on with:"),
      ...known.commands.map((command) => make("pre", {}, command)),
    ];
    this.panel.replaceChildren(...parts.filter(Boolean));
    this.panel.hidden = false;
    this.panel.scrollTop = 0;
    this.table.reveal(row);
  }

  close() {
    this.panel.hidden = true;
    this.opened = undefined;
    history.replaceState(null, "", location.pathname + location.search);
    this.table.draw();
  }
}

function total(parts) {
  return parts.reduce((sum, part) => sum + part, 0);
}

function errors(backend, rows) {
  const groups = [["pass", "good"], ["suspicious", "warning"], ["wrong", "error"]].map(([name, colour]) => ({
    name,
    colour,
    values: rows.filter((row) => backend.verdict[row] === name && backend.error[row] !== null).map((row) => backend.error[row]),
  }));
  return histogram(`Errors of ${backend.name}`, groups, "error over the error to expect");
}

/** One finding: what is wrong, where, and the source with marks below the expression. */
function finding({ rule, severity, message, place, lines, first, marks, on }) {
  const shown = [];
  lines.forEach((line, at) => {
    shown.push(`${String(first + at + 1).padStart(5)} | ${line}`);
    if (marks[at]) shown.push(`      | ${" ".repeat(marks[at][0])}${"^".repeat(Math.max(marks[at][1] - marks[at][0], 1))}`);
  });
  return make(
    "article",
    { class: severity },
    make("h3", {}, `${severity} `, make("code", {}, rule), on ? make("small", {}, ` ${on}`) : null),
    make("p", {}, message),
    make("p", { class: "place" }, place),
    shown.length > 0 ? make("pre", {}, shown.join("\n")) : null,
  );
}

new Page();
