/** The tensor view: a head with the run of the line, its memory, and the tensors in groups. Arrows move, Enter goes to the maker, Space opens. */

import type { LineTensors, MemoryPeak, TensorRow } from "../../../shared_schema/generated/wire.js";
import { button, element } from "../shared/dom.js";
import { lineText, lineTitle } from "../shared/places.js";
import { StateView } from "../shared/stateView.js";
import { numberText, t } from "../shared/words.js";
import type { ToHost, ToPage } from "./messages.js";
import { bytesText, type Group, type GroupName, groupsOf, type Order } from "./model.js";
import { memoryPicture } from "./pictures.js";
import { rowElement } from "./rows.js";

/** What VS Code keeps of the page while it is hidden. */
export interface Remembered {
  readonly order: Order;
  readonly closed: readonly GroupName[];
}

const NAMES: Readonly<Record<GroupName, () => string>> = {
  line: () => t("This line"), held: () => t("Alive"), saved: () => t("Saved for the backward pass"), input: () => t("Inputs"), parameter: () => t("Parameters"), buffer: () => t("Buffers"),
};
const KINDS: ReadonlyMap<string, () => string> = new Map([
  ["activation", () => t("activations")], ["parameter", () => t("parameters")], ["input", () => t("inputs")], ["buffer", () => t("buffers")], ["constant", () => t("constants")],
]);

export class TensorView {
  private shown: LineTensors | undefined;
  private asked = 0;
  private rows: readonly TensorRow[] = [];
  private text = "";
  private readonly open = new Set<number>();
  private readonly content = element("main", { class: "tensors" });
  private readonly state: StateView;
  private pinned = false;

  constructor(private readonly send: (message: ToHost) => void, private remembered: Remembered, private readonly remember: (state: Remembered) => void) {
    this.state = new StateView({
      cancel: () => { send({ type: "cancel" }); },
      retry: () => { send({ type: "retry" }); },
      reveal: (place) => { send({ type: "reveal", place, focus: true }); },
    });
    document.body.append(this.state.element, this.content);
    this.content.addEventListener("keydown", (event) => { this.key(event); });
  }

  hear(message: ToPage): void {
    switch (message.type) {
      case "tensors":
        if (!sameLine(this.shown, message.document)) this.open.clear();
        [this.shown, this.asked, this.text, this.rows] = [message.document, message.asked, message.text, message.document.rows ?? []];
        this.draw();
        return;
      case "rows":
        if (message.asked !== this.asked) return;
        this.rows = [...this.rows, ...(message.document.rows ?? [])];
        this.draw();
        return;
      case "marks":
        this.pinned = message.pinned;
        document.body.classList.toggle("outdated", message.outdated);
        this.draw();
        return;
      case "state":
        if (message.state.kind !== "shown") [this.shown, this.rows] = message.state.kind === "loading" ? [this.shown, this.rows] : [undefined, []];
        this.state.show(message.state, this.shown !== undefined);
        this.draw();
        return;
    }
  }

  private draw(): void {
    const { shown } = this;
    if (!shown) {
      this.content.replaceChildren();
      return;
    }
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["id"] : undefined;
    const groups = groupsOf(this.rows, this.remembered.order);
    this.content.replaceChildren(this.head(shown), this.memory(shown), ...groups.map((group) => this.group(group)));
    const items = this.items();
    const back = items.find((item) => item.dataset["id"] === focused);
    (back ?? items[0])?.setAttribute("tabindex", "0");
    if (focused !== undefined) back?.focus();
  }

  private head(shown: LineTensors): HTMLElement {
    const { call = 0, calls = 0, module = "", targets = [], target = "" } = shown;
    const place = { path: shown.path, range: { start: { line: shown.line, character: 0 }, end: { line: shown.line, character: 0 } } };
    const step = (next: number, sign: string, words: string): HTMLElement =>
      button(sign, words, () => { this.send({ type: "call", call: next }); }, { class: "step", disabled: next < 0 || next >= calls });
    const after = shown.line < (shown.start_line ?? 0) || shown.line > (shown.end_line ?? 0);
    const choice = element("select", { class: "targets", "aria-label": t("Target"), onchange: (event: Event) => { this.send({ type: "target", target: (event.target as HTMLSelectElement).value }); } },
      ...targets.map((name) => element("option", { value: name, selected: name === target }, name)));
    return element(
      "header", {},
      element("div", { class: "where" },
        button(lineTitle(place), t("Go to the line"), () => { this.send({ type: "reveal", place, focus: true }); }, { class: "link" }),
        element("code", { class: "source" }, this.text.trim()),
        this.pinned && button(t("pinned"), t("Follow the cursor again"), () => { this.send({ type: "unpin" }); }, { class: "pinned" })),
      element("div", { class: "call" },
        targets.length > 1 ? choice : element("span", {}, target),
        element("span", { class: "function" }, shown.function ?? ""),
        module !== "" && element("span", { class: "module" }, module),
        calls > 1 && element("span", { class: "stepper" }, step(call - 1, "‹", t("The run before")), t("call {0} of {1}", call + 1, calls), step(call + 1, "›", t("The next run")))),
      after && element("div", { class: "faint" }, t("The line runs no operation: this is what {0} left.", lineText({ path: shown.path, range: { start: { line: shown.start_line ?? 0, character: 0 }, end: place.range.end } }))),
      element("div", { class: "outdated-mark", role: "status" }, t("of an earlier text")),
    );
  }

  private memory(shown: LineTensors): HTMLElement {
    const { memory, peak, line_peak: linePeak } = shown;
    if (!memory) return element("section", {});
    const sizes = Object.entries(shown.symbols ?? {}).map(([name, size]) => `${name} = ${numberText(size)}`).join(", ");
    const kinds = Object.entries(memory.kinds).sort((left, right) => right[1] - left[1]);
    const bar = element("div", { class: "kinds", role: "img", "aria-label": kinds.map(([kind, bytes]) => `${KINDS.get(kind)?.() ?? kind}: ${bytesText(bytes)}`).join(", ") },
      ...kinds.map(([kind, bytes]) => element("span", { class: `kind ${kind}`, style: "", "data-share": bytes / Math.max(1, memory.bytes), title: `${KINDS.get(kind)?.() ?? kind}: ${bytesText(bytes)}` })));
    // The page's policy allows no style attributes.
    for (const part of bar.querySelectorAll<HTMLElement>(".kind")) part.style.flexGrow = part.dataset["share"] ?? "0";
    const legend = element("div", { class: "legend" }, ...kinds.map(([kind, bytes]) => element("span", {}, element("i", { class: `kind ${kind}`, "aria-hidden": true }), `${KINDS.get(kind)?.() ?? kind} ${bytesText(bytes)}`)));
    const at = (found: MemoryPeak): HTMLElement | undefined => {
      const { place } = found;
      return place ? button(lineText(place), place.text, () => { this.send({ type: "reveal", place, focus: true }); }, { class: "link" }) : undefined;
    };
    return element(
      "section", { class: "memory" },
      element("div", { class: "now" }, element("strong", {}, bytesText(memory.bytes)), ` ${t("alive now")}`,
        memory.device_bytes != null && element("span", {}, ` · ${t("{0} on {1}", bytesText(memory.device_bytes), shown.accelerator ?? "")}`),
        shown.exact === false && sizes !== "" && element("span", { class: "faint" }, ` · ${t("with {0}", sizes)}`)),
      bar, legend, element("div", { class: "curve-box" }, memoryPicture(shown)),
      linePeak != null && linePeak.bytes > memory.bytes && element("div", {}, t("up to {0} while the line runs, at", bytesText(linePeak.bytes)), " ", at(linePeak)),
      peak != null && element("div", {}, t("peak {0} at", bytesText(peak.bytes)), " ", at(peak)),
      this.sorting(),
    );
  }

  private sorting(): HTMLElement {
    const orders: readonly (readonly [Order, string])[] = [["line", t("what matters here")], ["bytes", t("bytes")], ["name", t("name")], ["dtype", t("dtype")]];
    const choose = (event: Event): void => { this.keep({ ...this.remembered, order: (event.target as HTMLSelectElement).value as Order }); };
    return element("label", { class: "sorting" }, `${t("Sort by")} `,
      element("select", { onchange: choose }, ...orders.map(([value, words]) => element("option", { value, selected: value === this.remembered.order }, words))));
  }

  private group({ name, rows, bytes }: Group): HTMLElement {
    const closed = this.remembered.closed.includes(name);
    const toggle = (): void => { this.keep({ ...this.remembered, closed: closed ? this.remembered.closed.filter((other) => other !== name) : [...this.remembered.closed, name] }); };
    const actions = {
      reveal: (place: { path: string; range: LineTensorsRange }, focus: boolean): void => { this.send({ type: "reveal", place: { path: place.path, range: place.range }, focus }); },
      toggle: (row: TensorRow): void => { this.toggle(row.id); },
    };
    return element(
      "section", { class: "group" },
      element("h2", {}, button(`${closed ? "▸" : "▾"} ${NAMES[name]()}`, NAMES[name](), toggle, { "aria-expanded": String(!closed) }), element("span", { class: "faint" }, `${numberText(rows.length)} · ${bytesText(bytes)}`)),
      !closed && element("ul", { role: "listbox", "aria-label": NAMES[name]() }, ...rows.map((row) => rowElement(row, this.open.has(row.id), actions))),
    );
  }

  private toggle(id: number): void {
    if (!this.open.delete(id)) this.open.add(id);
    this.draw();
  }

  private keep(state: Remembered): void {
    this.remembered = state;
    this.remember(state);
    this.draw();
  }

  private items(): HTMLElement[] {
    return [...this.content.querySelectorAll<HTMLElement>("li.row")];
  }

  private key(event: KeyboardEvent): void {
    const items = this.items();
    const current = items.findIndex((item) => item === document.activeElement);
    if (current < 0) return;
    const row = this.rows.find(({ id }) => String(id) === items[current]?.dataset["id"]);
    const moves: Readonly<Record<string, number>> = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: items.length - 1 };
    const next = items[moves[event.key] ?? -1];
    if (next) {
      for (const item of items) item.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else if (event.key === "Enter" && row) {
      const place = row.made ?? row.declared;
      if (place) this.send({ type: "reveal", place: { path: place.path, range: place.range }, focus: true });
    } else if (row && (event.key === " " || (event.key === "ArrowRight" && !this.open.has(row.id)) || (event.key === "ArrowLeft" && this.open.has(row.id)))) this.toggle(row.id);
    else return;
    event.preventDefault();
  }
}

type LineTensorsRange = NonNullable<TensorRow["made"]>["range"];

function sameLine(before: LineTensors | undefined, now: LineTensors): boolean {
  return before?.path === now.path && before.line === now.line && before.call === now.call && before.target === now.target;
}
