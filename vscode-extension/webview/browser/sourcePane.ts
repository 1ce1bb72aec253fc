/** The source that a finding, a node or a row leads to, with the expression marked. */

import type { Range } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import { highlight } from "../shared/highlight.js";
import { numberOfLine, placeText } from "../shared/places.js";
import { t } from "../shared/words.js";
import type { Daemon } from "./daemon.js";
import { pathOf } from "./files.js";
import { messageOf } from "./subject.js";

export class SourcePane {
  readonly element = element("aside", { class: "source", hidden: true, "aria-label": t("Source") });
  private readonly title = element("strong");
  private readonly body = element("pre", { tabindex: 0 });
  private at: { readonly uri: string; readonly range: Range } | undefined;

  constructor(private readonly daemon: Daemon) {
    const close = element("button", { type: "button", class: "close", "aria-label": t("Close the source"), onclick: () => { this.element.hidden = true; } }, "×");
    this.element.append(element("header", {}, this.title, close), this.body);
    daemon.on("saved", ({ uri }) => { if (this.at?.uri === uri && !this.element.hidden) void this.show(uri, this.at.range); });
  }

  async show(uri: string, range: Range): Promise<void> {
    this.at = { uri, range };
    try {
      const text = await this.daemon.source(uri);
      if (this.at.uri !== uri || this.at.range !== range) return;
      const path = pathOf(uri);
      const folder = path.split("/").slice(-2, -1).map((name) => `${name}/`).join("");
      this.fill(`${folder}${placeText({ path, range })}`, text, "python", range, path);
    } catch (error) {
      this.fill(pathOf(uri), messageOf(error), "text");
    }
  }

  showText(title: string, text: string, language: string): void {
    this.at = undefined;
    this.fill(title, text, language);
  }

  private fill(title: string, text: string, language: string, range?: Range, path = ""): void {
    this.element.hidden = false;
    this.title.textContent = title;
    const lines = highlight(text, language).map((tokens, line) => {
      const words = tokens.map(({ kind, text: word }) => (kind === "plain" ? word : element("span", { class: kind }, word)));
      const marked = range !== undefined && line >= range.start.line && line <= range.end.line;
      const row = element("div", { class: marked ? "line marked" : "line", "data-line": numberOfLine(path, line) }, ...words);
      if (marked) mark(row, line === range.start.line ? range.start.character : 0, line === range.end.line ? range.end.character : Infinity);
      return row;
    });
    this.body.replaceChildren(...lines);
    this.body.querySelector(".marked")?.scrollIntoView({ block: "center" });
  }
}

/** Underlines the characters from `start` to `end` of a line. */
function mark(row: HTMLElement, start: number, end: number): void {
  let at = 0;
  for (const node of textsIn(row)) {
    const from = Math.max(0, start - at);
    const to = Math.min(node.length, end - at);
    at += node.length;
    if (from >= to) continue;
    const said = node.splitText(from);
    said.splitText(to - from);
    const shown = element("mark");
    said.replaceWith(shown);
    shown.append(said);
  }
}

function textsIn(row: HTMLElement): Text[] {
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) found.push(walker.currentNode as Text);
  return found;
}
