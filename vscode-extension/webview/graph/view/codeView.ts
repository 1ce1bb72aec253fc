/** A pane of text: kernels, the compiler's listings, and (in the offline page) the user's source. Only lines in sight are in the page. */

import type { Kernel, Listing, Location } from "../../../../shared_schema/generated/wire.js";
import type { Whole } from "../model/specs.js";
import { button, element, iconButton } from "../../shared/dom.js";
import { lineText, numberOfLine } from "../../shared/places.js";
import { buildView } from "./buildView.js";
import { unfusedView } from "./unfusedView.js";
import { highlight, type Token } from "../../shared/highlight.js";
import type { TextToOpen } from "../wire/messages.js";
import { t } from "../../shared/words.js";

const LINE = 18;

/** A text that can be shown. `kernel` is set for kernels; `links` are its lines that come from the source. */
export interface Text extends TextToOpen {
  readonly kernel: Whole<Kernel> | undefined;
  /** For a source: its path. */
  readonly path?: string;
}

export interface CodeEvents {
  reveal(place: Location): void;
  /** Light up what a kernel or a line comes from. */
  lightKernel(kernel: Whole<Kernel>): void;
  lightPlaces(places: readonly Location[]): void;
  /** Has the kernels for a GPU compiled; undefined where nobody can. */
  compile(): (() => void) | undefined;
  /** Undefined where there is no editor to open it in. */
  readonly open: ((text: TextToOpen) => void) | undefined;
}

export function textOfKernel(kernel: Whole<Kernel>): Text {
  const source = kernel.source === "" ? t("{0} is called as it is; nothing was generated.", kernel.name) : kernel.source;
  return { title: kernel.name, language: kernel.source === "" ? "text" : kernel.language, text: source, links: kernel.lines, kernel };
}

/** What a compiler made of it, each text after the other. */
export function textsOfBuild(kernel: Whole<Kernel>): Text[] {
  const texts = kernel.build?.texts ?? [];
  return texts.map(({ title, text }) => ({ title: `${kernel.name} (${title})`, language: "text", text, links: [], kernel }));
}

export function textOfListing(listing: Required<Listing>): Text {
  return { title: `${listing.title} (${listing.graph})`, language: listing.language, text: listing.text, links: listing.places, kernel: undefined };
}

export class CodeView {
  private readonly choice = element("select", { "aria-label": t("Text to show"), onchange: () => { this.show(this.choice.selectedIndex); } });
  private readonly places = element("div", { class: "places" });
  private readonly build = element("div", { class: "build" });
  private readonly inner = element("div", { class: "lines", role: "none" });
  private readonly body = element("div", { class: "code", tabindex: 0, role: "document" }, this.inner);
  readonly element: HTMLElement;
  private texts: readonly Text[] = [];
  private current = -1;
  private tokens: readonly Token[][] = [];
  private linked: ReadonlyMap<number, readonly Location[]> = new Map();
  private lit: ReadonlySet<number> = new Set();

  constructor(private readonly events: CodeEvents) {
    const { open } = events;
    const opener = open && iconButton("open", t("Open in the editor"), () => { const text = this.texts[this.current]; if (text) open({ ...text, links: linksOf(text) }); });
    this.element = element("div", { class: "code-view" }, element("div", { class: "pane-header" }, this.choice, this.places, opener), this.build, this.body);
    this.body.addEventListener("scroll", () => { this.draw(); }, { passive: true });
    this.body.addEventListener("click", (event) => { this.click(event); });
    new ResizeObserver(() => { this.draw(); }).observe(this.body);
  }

  setTexts(texts: readonly Text[]): void {
    const before = this.texts[this.current];
    const index = Math.max(0, texts.findIndex((text) => text.title === before?.title));
    const now = texts[index];
    this.texts = texts;
    this.choice.replaceChildren(...texts.map((text) => element("option", {}, text.title)));
    if (now && before?.title === now.title && before.text === now.text) {
      this.current = index; // who reads on is left where they are
      this.choice.selectedIndex = index;
      this.describe(now);
    } else this.show(index);
  }

  /** Whether it shows a file of the user's. */
  get showsSource(): boolean {
    return this.texts[this.current]?.path !== undefined;
  }

  /** Shows the text with a title, or the first of the kernels named. */
  showTitled(titles: ReadonlySet<string>): void {
    if (titles.has(this.texts[this.current]?.title ?? "")) return;
    const index = this.texts.findIndex((text) => titles.has(text.title));
    if (index >= 0) this.show(index);
  }

  /** Lights up the lines that come from some expressions, and scrolls to the first. */
  light(wanted: (place: Location) => boolean): void {
    this.mark(new Set([...this.linked].flatMap(([line, places]) => (places.some(wanted) ? [line] : []))));
  }

  /** Shows lines of a source. */
  showPlace(place: Location): boolean {
    const index = this.texts.findIndex((text) => text.path === place.path);
    if (index < 0) return false;
    this.show(index);
    const { start, end } = place.range;
    this.mark(new Set(Array.from({ length: end.line - start.line + 1 }, (_value, line) => start.line + line)));
    return true;
  }

  private mark(lines: ReadonlySet<number>): void {
    this.lit = lines;
    const first = Math.min(...lines);
    const { scrollTop, clientHeight } = this.body;
    const seen = [...lines].some((line) => line * LINE >= scrollTop && (line + 1) * LINE <= scrollTop + clientHeight);
    if (lines.size > 0 && !seen) this.body.scrollTop = Math.max(0, (first - 3) * LINE);
    this.draw();
  }

  private show(index: number): void {
    const text = this.texts[index];
    this.current = index;
    this.choice.selectedIndex = index;
    this.tokens = highlight(text?.text ?? "", text?.language ?? "text");
    this.linked = byLine(text?.links ?? []);
    this.lit = new Set();
    const longest = this.tokens.reduce((most, line) => Math.max(most, line.reduce((sum, token) => sum + token.text.length, 0)), 0);
    this.inner.style.height = `${this.tokens.length * LINE}px`;
    this.inner.style.minWidth = `${longest + 8}ch`;
    this.body.scrollTop = 0;
    this.body.setAttribute("aria-label", text?.title ?? "");
    this.places.replaceChildren(...this.sourceLinks(text));
    this.describe(text);
    this.draw();
  }

  /** What the kernel on show takes of the GPU that it is compiled for, or the offer to compile it. */
  private describe(text: Text | undefined): void {
    const { kernel } = text ?? {};
    const compile = kernel?.language === "triton" && kernel.source !== "" && !kernel.build ? this.events.compile() : undefined;
    const offer = compile && button(t("Compile the kernels"), t("Registers, spills, shared memory, occupancy, PTX and SASS of all of them; the GPU need not be there"), compile, { class: "primary" });
    this.build.replaceChildren(...(kernel?.build ? buildView(kernel.build) : []), ...(kernel ? unfusedView(kernel) : []), ...(offer ? [offer] : []));
    this.build.hidden = this.build.childElementCount === 0;
  }

  private sourceLinks(text: Text | undefined): Node[] {
    const { kernel } = text ?? {};
    if (!kernel) return [];
    const lines = new Map(kernel.places.map((place) => [`${place.path}:${place.range.start.line}`, place]));
    const places = [...lines.values()].slice(0, 4).map((place) => {
      const name = lineText(place);
      return button(name, t("Go to the source: {0}", place.path), () => { this.events.reveal(place); this.events.lightKernel(kernel); }, { class: "link" });
    });
    return [button(kernel.nodes.length === 1 ? t("1 node") : t("{0} nodes", kernel.nodes.length), t("Light up its nodes"), () => { this.events.lightKernel(kernel); }, { class: "link" }), ...places];
  }

  private draw(): void {
    const first = Math.max(0, Math.floor(this.body.scrollTop / LINE) - 10);
    const last = Math.min(this.tokens.length, first + Math.ceil(this.body.clientHeight / LINE) + 20);
    const rows: HTMLElement[] = [];
    const path = this.texts[this.current]?.path ?? "";
    for (let line = first; line < last; line += 1) {
      const places = this.linked.get(line);
      const number = element("span", { class: "number" }, String(numberOfLine(path, line)));
      const row = element("div", { class: ["line", this.lit.has(line) && "lit", places && "linked"].filter(Boolean).join(" "), "data-line": line, title: places && t("Go to {0} of the source", [...new Set(places.map(lineText))].join(", ")) }, number);
      for (const { kind, text } of this.tokens[line] ?? []) row.append(kind === "plain" ? text : element("span", { class: `token-${kind}` }, text));
      row.style.top = `${line * LINE}px`;
      rows.push(row);
    }
    this.inner.replaceChildren(...rows);
  }

  private click(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>("[data-line]");
    const line = Number(row?.dataset["line"] ?? -1);
    const places = this.linked.get(line) ?? [];
    const [place] = places;
    if (!place || getSelection()?.isCollapsed === false) return;
    this.events.reveal(place);
    this.events.lightPlaces(places);
  }
}

function byLine(links: TextToOpen["links"]): Map<number, Location[]> {
  const found = new Map<number, Location[]>();
  for (const { line, place } of links) found.set(line, [...(found.get(line) ?? []), place]);
  return found;
}

/** Where an editor puts links: on the lines that have a place; for a kernel on the first alone, to the expression with the most nodes. */
function linksOf({ kernel, links }: Text): TextToOpen["links"] {
  const [place] = kernel?.places ?? [];
  return place ? [{ line: 0, place }] : links;
}
