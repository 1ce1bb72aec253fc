/** The pages that are open, one tab each. A page is a frame with one of the editor's pages, whose host is here. */

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { CellsMessage } from "../shared/cells.js";
import type { PageState } from "../shared/state.js";
import { element } from "../shared/dom.js";
import { knownCells } from "../shared/places.js";
import { t } from "../shared/words.js";

/** What any page may say beside its own. */
type Common =
  | { readonly type: "ready" }
  | { readonly type: "reveal"; readonly place: Location }
  | { readonly type: "place"; readonly href: string; readonly range: string };

/** Shows a place in the source. */
export type Reveal = (uri: string, range: Location["range"]) => void;

/** A page and who speaks with it. */
export abstract class FramedPage<FromPage extends { readonly type: string }, ToPage> {
  readonly element: HTMLIFrameElement;
  private ready = false;
  private state: PageState = { kind: "shown", note: "" };

  /** `root` is where relative links of the page start. */
  constructor(page: "charts" | "graph" | "kerneldiff" | "order", title: string, private readonly reveal: Reveal) {
    this.element = element("iframe", { src: `page/${page}`, title });
    addEventListener("message", (event: MessageEvent<FromPage | Common>) => {
      if (event.source === this.element.contentWindow && event.origin === location.origin) this.receive(event.data);
    });
  }

  protected root = "";

  /** The page is there, or there again: sends what it shows. */
  protected abstract filled(): void;

  protected abstract hear(message: FromPage): void;

  /** No more is wanted of it. */
  close(): void {
    this.element.remove();
  }

  protected send(message: ToPage | { readonly type: "state"; readonly state: PageState }): void {
    if (!this.ready) return;
    const cells: CellsMessage = { type: "cells", cells: knownCells() };
    for (const one of [cells, message]) this.element.contentWindow?.postMessage(one, location.origin);
  }

  protected tell(state: PageState): void {
    this.state = state;
    this.send({ type: "state", state });
  }

  protected get settled(): boolean {
    return this.state.kind === "shown";
  }

  private receive(message: FromPage | Common): void {
    if (isCommon(message)) {
      if (message.type === "reveal") this.reveal(uriOf(message.place.path), message.place.range);
      else if (message.type === "place") this.go(message);
      else {
        this.ready = true;
        this.filled();
        this.send({ type: "state", state: this.state });
      }
    } else this.hear(message);
  }

  private go({ href, range }: { readonly href: string; readonly range: string }): void {
    const [line = 0, character = 0, endLine = 0, end = 0] = range.split(/[:-]/u).map(Number);
    const address = href.replace(/#L\d+$/u, "");
    const uri = address.startsWith("file:") ? address : `${uriOf(this.root)}/${address}`;
    this.reveal(uri, { start: { line, character }, end: { line: endLine, character: end } });
  }
}

function isCommon(message: { readonly type: string }): message is Common {
  return message.type === "ready" || message.type === "reveal" || message.type === "place";
}

/** The URI of a path, as Python writes it. */
export function uriOf(path: string): string {
  return `file://${path.split("/").map(encodeURIComponent).join("/")}`;
}

export interface Shown {
  readonly element: HTMLElement;
  close(): void;
}

/** The strip of tabs and the page below it. */
export class Tabs {
  readonly element = element("section", { class: "tabs" });
  private readonly strip = element("div", { class: "strip", role: "tablist", "aria-label": t("Pages") });
  private readonly body = element("div", { class: "pages" });
  private readonly open = new Map<string, { readonly tab: HTMLElement; readonly shown: Shown }>();

  constructor(private readonly nothing: HTMLElement) {
    this.body.append(nothing);
    this.element.append(this.strip, this.body);
  }

  /** Shows the page of a key, made where there is none yet. */
  show(key: string, title: string, make: () => Shown): void {
    if (!this.open.has(key)) this.add(key, title, make());
    this.choose(key);
  }

  private choose(key: string): void {
    for (const [other, { tab, shown }] of this.open) {
      const chosen = other === key;
      tab.setAttribute("aria-selected", String(chosen));
      shown.element.hidden = !chosen;
      if (chosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    this.nothing.hidden = true;
  }

  private add(key: string, title: string, shown: Shown): void {
    const choose = element("button", { type: "button", class: "name", onclick: () => { this.choose(key); } }, title);
    const close = element("button", { type: "button", class: "close", "aria-label": t("Close {0}", title), onclick: () => { this.close(key); } }, "×");
    const tab = element("div", { class: "tab", role: "tab" }, choose, close);
    this.strip.append(tab);
    this.body.append(shown.element);
    this.open.set(key, { tab, shown });
  }

  private close(key: string): void {
    const known = this.open.get(key);
    if (!known) return;
    known.tab.remove();
    known.shown.close();
    known.shown.element.remove();
    this.open.delete(key);
    const last = [...this.open.keys()].at(-1);
    if (last === undefined) this.nothing.hidden = false;
    else if (!known.shown.element.hidden) this.choose(last);
  }
}
