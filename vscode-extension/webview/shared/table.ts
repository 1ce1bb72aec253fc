/** Tables: real ones, with a caption and headers that sort. */

import { element } from "./dom.js";
import { t } from "./words.js";

export interface Header {
  readonly title: string;
  /** What the column is, for whoever hovers. */
  readonly hint?: string;
  readonly numeric?: boolean;
  /** Which way the table is sorted by it, if it is. */
  readonly sorted?: "ascending" | "descending" | undefined;
  readonly sort?: (() => void) | undefined;
}

export type Cell = string | Node;

export interface Row {
  readonly cells: readonly Cell[];
  readonly style?: string | undefined;
}

const FIRST = 200;

/** `caption` is for screen readers; the page has a heading above. Long tables begin with their first rows and a button for the rest. */
export function table(caption: string, headers: readonly Header[], rows: readonly Row[]): HTMLElement {
  const body = element("tbody");
  const add = (some: readonly Row[]): void => { body.append(...some.map((row) => rowOf(headers, row))); };
  add(rows.slice(0, FIRST));
  const made = element(
    "div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    element("table", {}, element("caption", {}, caption), element("thead", {}, element("tr", {}, ...headers.map(headerOf))), body),
  );
  if (rows.length > FIRST) {
    const show = (): void => {
      add(rows.slice(FIRST));
      more.remove();
      made.focus({ preventScroll: true }); // whoever uses the keys goes on from here
    };
    const more = element("button", { type: "button", class: "more", onclick: show }, t("Show {0} more", rows.length - FIRST));
    made.append(more);
  }
  return made;
}

function headerOf({ title, hint, numeric, sorted, sort }: Header): HTMLElement {
  const mark = sorted === "ascending" ? " ↑" : sorted === "descending" ? " ↓" : "";
  const content = sort ? element("button", { type: "button", class: "sort", onclick: sort }, title + mark) : title;
  return element("th", { scope: "col", class: numeric ? "number" : undefined, title: hint, "aria-sort": sorted ?? (sort ? "none" : undefined) }, content);
}

function rowOf(headers: readonly Header[], { cells, style }: Row): HTMLElement {
  const made = cells.map((cell, index) => element("td", { class: headers[index]?.numeric ? "number" : undefined }, cell));
  return element("tr", { class: style }, ...made);
}
