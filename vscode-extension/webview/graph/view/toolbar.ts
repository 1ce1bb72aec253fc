/** The two rows above the panes: which graph, search and filters, folding, zoom, comparing, files. It only asks; the app does. */

import { button, element, iconButton } from "../../shared/dom.js";
import { numberText, t } from "../../shared/words.js";
import type { Colouring } from "../looks/colours.js";
import { problemText } from "../search/problems.js";
import { parse } from "../search/query.js";
import { type Filter, NO_FILTER } from "../search/search.js";
import { searchHelp } from "./searchHelp.js";

export type ExportKind = "svg" | "png" | "dot";

export interface ToolEvents {
  tab(id: string): void;
  filter(filter: Filter): void;
  step(direction: 1 | -1): void;
  colour(colouring: Colouring): void;
  foldAll(): void;
  unfoldAll(): void;
  zoom(factor: number): void;
  fit(): void;
  split(): void;
  texts(): void;
  outline(): void;
  details(): void;
  save(kind: ExportKind): void;
  /** Undefined where it makes no sense: the offline page cannot capture, VS Code has its own theme. */
  readonly refresh: (() => void) | undefined;
  readonly theme: (() => void) | undefined;
}

export interface Tab {
  readonly id: string;
  readonly title: string;
}

export class Toolbar {
  readonly element: HTMLElement;
  readonly search = element("input", { type: "search", placeholder: t("Search"), "aria-label": t("Search nodes by name, operation, module, type or size"), spellcheck: "false" });
  private readonly target = element("strong", { class: "target" });
  private readonly tabs = element("div", { class: "tabs", role: "tablist", "aria-label": t("Graphs") });
  private readonly found = element("span", { class: "found", role: "status" });
  private readonly menu = element("div", { class: "menu", hidden: true });
  private readonly filterButton: HTMLButtonElement;
  private readonly splitButton: HTMLButtonElement;
  private readonly textsButton: HTMLButtonElement;
  private filter: Filter = NO_FILTER;
  private readonly helpButton: HTMLButtonElement;
  private readonly help = element("div", { class: "popover wide", hidden: true });
  private readonly problem = element("p", { class: "search-problem", role: "alert", hidden: true });
  private readonly colour = element("select", { "aria-label": t("What colours say") });
  private readonly said = new Map<string, string>();

  constructor(private readonly events: ToolEvents) {
    this.filterButton = iconButton("filter", t("Filter by rule or data type"), () => { this.toggleMenu(); }, { "aria-expanded": "false" });
    this.splitButton = iconButton("columns", t("Show a second graph beside it, or compare"), () => { events.split(); }, { "aria-pressed": "false" });
    this.textsButton = iconButton("code", t("Show kernels and IR beside the graphs"), () => { events.texts(); }, { "aria-pressed": "false" });
    this.helpButton = iconButton("help", t("What one can search for"), () => { this.toggleHelp(); }, { "aria-expanded": "false" });
    this.help.append(searchHelp((example) => { this.searchFor(example); }));
    const colours: readonly (readonly [Colouring, string])[] = [
      ["operation", t("Colour: operation")], ["dtype", t("Colour: data type")], ["kernel", t("Colour: kernel")], ["bytes", t("Heat: bytes")], ["flops", t("Heat: FLOPs")], ["bound", t("Heat: bound")], ["error", t("Heat: measured error")],
    ];
    this.colour.append(...colours.map(([value, text]) => element("option", { value }, text)));
    this.colour.addEventListener("change", () => { events.colour(this.colour.value as Colouring); });
    this.setMeasured(undefined);
    this.setTimed(false);
    const save = element("select", { class: "save", "aria-label": t("Export"), onchange: () => { events.save(save.value as ExportKind); save.selectedIndex = 0; } },
      element("option", { value: "", disabled: true, selected: true }, t("Export")),
      ...(["svg", "png", "dot"] as const).map((kind) => element("option", { value: kind }, kind.toUpperCase())));
    this.element = element("header", { class: "toolbar" },
      element("div", { class: "tool-row" }, this.target, this.tabs, element("span", { class: "space" }),
        events.refresh && iconButton("refresh", t("Capture again"), events.refresh), this.splitButton, this.textsButton, save,
        events.theme && iconButton("theme", t("Light or dark"), events.theme)),
      element("div", { class: "tool-row" }, iconButton("list", t("Outline"), () => { events.outline(); }),
        element("div", { class: "search" }, this.search, this.found, iconButton("up", t("Previous match"), () => { events.step(-1); }), iconButton("down", t("Next match"), () => { events.step(1); }), this.helpButton, this.filterButton, this.menu, this.help, this.problem),
        this.colour, element("span", { class: "space" }),
        iconButton("fold", t("Fold all"), () => { events.foldAll(); }), iconButton("unfold", t("Unfold all"), () => { events.unfoldAll(); }),
        iconButton("minus", t("Zoom out"), () => { events.zoom(1 / 1.3); }), iconButton("plus", t("Zoom in"), () => { events.zoom(1.3); }), iconButton("fit", t("Fit to the window"), () => { events.fit(); }),
        iconButton("side", t("Details"), () => { events.details(); })));
    this.search.addEventListener("input", () => { this.change({ ...this.filter, text: this.search.value }); });
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") events.step(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape" && this.search.value !== "") {
        this.search.value = "";
        this.change({ ...this.filter, text: "" });
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
    this.menu.addEventListener("keydown", (event) => { if (event.key === "Escape") { this.toggleMenu(false); this.filterButton.focus(); event.stopPropagation(); } });
    document.addEventListener("pointerdown", (event) => { if (!this.menu.hidden && !this.menu.contains(event.target as Node) && !this.filterButton.contains(event.target as Node)) this.toggleMenu(false); });
    this.help.addEventListener("keydown", (event) => { if (event.key === "Escape") { this.toggleHelp(false); this.helpButton.focus(); event.stopPropagation(); } });
    document.addEventListener("pointerdown", (event) => { if (!this.help.hidden && !this.help.contains(event.target as Node) && !this.helpButton.contains(event.target as Node)) this.toggleHelp(false); });
  }

  setTabs(target: string, tabs: readonly Tab[], chosen: string): void {
    if (!this.isNews("tabs", [target, tabs, chosen])) return;
    this.target.textContent = target;
    const focused = this.tabs.contains(document.activeElement);
    this.tabs.replaceChildren(...tabs.map(({ id, title }) =>
      element("button", { type: "button", role: "tab", "aria-selected": id === chosen ? "true" : "false", tabindex: id === chosen ? 0 : -1, onclick: () => { this.events.tab(id); }, onkeydown: (event: KeyboardEvent) => { this.tabKey(event, tabs, id); } }, title)));
    const active = this.tabs.querySelector<HTMLElement>('[aria-selected="true"]');
    active?.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (focused) active?.focus();
  }

  /** How many nodes match, and which of them one is at (from 1; 0 for none). */
  setFound(count: number | undefined, at: number): void {
    this.found.textContent = count === undefined ? "" : count === 0 ? t("none") : at > 0 ? t("{0} of {1}", numberText(at), numberText(count)) : numberText(count);
  }

  setColouring(colouring: Colouring): void {
    this.colour.value = colouring;
  }

  /** Errors can be drawn where a comparison has measured some; `backend` is the one that was compared. */
  setMeasured(backend: string | undefined): void {
    const option = this.colour.querySelector<HTMLOptionElement>('option[value="error"]');
    if (!option) return;
    option.disabled = backend === undefined;
    option.title = backend === undefined ? t("Compare this target first.") : t("As the comparison with {0} has measured it.", backend);
  }

  /** Whether anybody knows what the nodes of the graph take at least. */
  setTimed(timed: boolean): void {
    const option = this.colour.querySelector<HTMLOptionElement>('option[value="bound"]');
    if (!option) return;
    option.disabled = !timed;
    option.title = timed ? t("What nodes take at least on the accelerator: no prediction.") : t("Choose an accelerator whose speed is known.");
  }

  setSplit(split: boolean): void {
    this.splitButton.setAttribute("aria-pressed", String(split));
  }

  setTexts(shown: boolean): void {
    this.textsButton.setAttribute("aria-pressed", String(shown));
  }

  /** What can be filtered by in the graph on show. */
  setFilters(filter: Filter, rules: readonly (readonly [string, number])[], dtypes: readonly (readonly [string, number])[]): void {
    this.filter = filter;
    if (this.search.value !== filter.text && document.activeElement !== this.search) this.search.value = filter.text;
    if (!this.isNews("filters", [[...filter.rules], [...filter.dtypes], rules, dtypes])) return;
    const group = (title: string, key: "rules" | "dtypes", options: readonly (readonly [string, number])[]): HTMLElement =>
      element("fieldset", {}, element("legend", {}, title), ...(options.length === 0 ? [element("p", { class: "note" }, t("none"))] : options.map(([name, count]) => {
        const box = element("input", { type: "checkbox", checked: filter[key].has(name), onchange: () => {
          const chosen = new Set(this.filter[key]);
          if (box.checked) chosen.add(name);
          else chosen.delete(name);
          this.change({ ...this.filter, [key]: chosen });
        } });
        return element("label", {}, box, element("span", {}, name), element("span", { class: "count" }, numberText(count)));
      })));
    const focused = [...this.menu.querySelectorAll("input, button")].indexOf(document.activeElement ?? this.menu);
    this.menu.replaceChildren(group(t("Rules"), "rules", rules), group(t("Data types"), "dtypes", dtypes),
      button(t("Clear"), t("Clear the filter"), () => { this.clear(); }));
    if (focused >= 0) this.menu.querySelectorAll<HTMLElement>("input, button")[focused]?.focus(); // whoever uses the keys goes on from there
    this.filterButton.classList.toggle("on", filter.rules.size + filter.dtypes.size > 0);
  }

  /** What is asked for with every fold stays as it is where it is the same: making it again costs a layout of the page. */
  private isNews(what: string, said: unknown): boolean {
    const text = JSON.stringify(said);
    if (this.said.get(what) === text) return false;
    this.said.set(what, text);
    return true;
  }

  private clear(): void {
    this.search.value = "";
    this.change(NO_FILTER);
    this.toggleMenu(false);
    this.filterButton.focus();
  }

  private searchFor(text: string): void {
    this.toggleHelp(false);
    this.search.value = text;
    this.search.focus();
    this.change({ ...this.filter, text });
  }

  private change(filter: Filter): void {
    this.filter = filter;
    const { problem } = parse(filter.text);
    this.problem.hidden = problem === undefined;
    this.problem.textContent = problem ? problemText(problem) : "";
    this.search.setAttribute("aria-invalid", String(problem !== undefined));
    this.events.filter(filter);
  }

  private toggleHelp(open = this.help.hidden): void {
    this.help.hidden = !open;
    this.helpButton.setAttribute("aria-expanded", String(open));
    if (open) this.help.querySelector<HTMLElement>("button")?.focus();
  }

  private toggleMenu(open = this.menu.hidden): void {
    this.menu.hidden = !open;
    this.filterButton.setAttribute("aria-expanded", String(open));
    if (open) this.menu.querySelector<HTMLElement>("input, button")?.focus();
  }

  private tabKey(event: KeyboardEvent, tabs: readonly Tab[], id: string): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = tabs[(tabs.findIndex((tab) => tab.id === id) + step + tabs.length) % tabs.length];
    if (step === 0 || !next) return;
    event.preventDefault();
    this.events.tab(next.id);
  }
}
