/** The line above a pane where there are two: what stands in it, whether the two are compared, and how they differ. */

import { element, iconButton } from "../../shared/dom.js";
import { numberText, t } from "../../shared/words.js";
import type { Diff } from "../diff/diff.js";
import { type State, TEXTS } from "../state/state.js";
import { inOrder, titleOfEntry } from "./names.js";

/** What can be asked for there. */
export interface HeaderEvents {
  show(id: string): void;
  compare(comparing: boolean): void;
  step(direction: 1 | -1): void;
  /** Close the second pane. */
  close(): void;
}

export function fillHeader(header: HTMLElement, state: State, at: number, events: HeaderEvents): void {
  header.hidden = !state.split;
  if (!state.split || header.contains(document.activeElement)) return;
  const { library, comparing } = state;
  const shown = state.idIn(at);
  const diff = state.comparison.current?.diff;
  const options = inOrder(library.entries).map((entry) => element("option", { value: entry.id, selected: entry.id === shown }, titleOfEntry(library, entry)));
  const choice = element("select", { "aria-label": t("Graph in this pane"), onchange: () => { choice.blur(); events.show(choice.value); } }, ...options, element("option", { value: TEXTS, selected: shown === TEXTS }, t("Kernels and IR")));
  const box = element("input", { type: "checkbox", checked: comparing, onchange: () => { box.blur(); events.compare(box.checked); } });
  header.replaceChildren(
    choice,
    ...(at === 1 ? [element("label", { class: "compare" }, box, t("Compare"))] : []),
    ...(diff ? summary(diff, events) : []),
    element("span", { class: "space" }),
    ...(at === 1 ? [iconButton("close", t("Close this pane"), () => { events.close(); })] : []),
  );
}

function summary({ counts }: Diff, events: HeaderEvents): HTMLElement[] {
  const parts = [
    ["added", `+${numberText(counts.added)}`, t("{0} added", counts.added)],
    ["changed", `~${numberText(counts.changed)}`, t("{0} changed", counts.changed)],
    ["removed", `−${numberText(counts.removed)}`, t("{0} removed", counts.removed)],
  ] as const;
  return [
    ...parts.map(([name, text, words]) => element("span", { class: `difference ${name}`, title: words, "aria-label": words }, text)),
    element("span", { class: "note" }, t("{0} unchanged", numberText(counts.unchanged))),
    iconButton("up", t("Previous difference"), () => { events.step(-1); }),
    iconButton("down", t("Next difference"), () => { events.step(1); }),
  ];
}
