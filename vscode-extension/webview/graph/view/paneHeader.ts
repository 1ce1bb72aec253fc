/** The line above a pane where there are two: what stands in it, whether the two are compared, and how they differ. */

import { element, iconButton } from "../../shared/dom.js";
import { numberText, t } from "../../shared/words.js";
import type { App } from "../app.js";
import type { Diff } from "../model/diff.js";
import { inOrder, titleOfEntry } from "./names.js";
import type { Pane } from "./pane.js";

/** Stands for the texts where the id of a graph could stand. */
export const TEXTS = "texts";
/** Stands for the graphs of forward and backward while nobody has asked for them. */
export const LOWERED = "lowered";

export function fillHeader(app: App, pane: Pane, at: number, diff: Diff | undefined): void {
  pane.header.hidden = !app.split;
  if (!app.split || pane.header.contains(document.activeElement)) return;
  const { library } = app;
  const shown = pane.showsText ? TEXTS : pane.scene?.entry.id;
  const options = inOrder(library.entries).map((entry) => element("option", { value: entry.id, selected: entry.id === shown }, titleOfEntry(library, entry)));
  const choice = element("select", { "aria-label": t("Graph in this pane"), onchange: () => { choice.blur(); void app.show(at, choice.value); } }, ...options, element("option", { value: TEXTS, selected: shown === TEXTS }, t("Kernels and IR")));
  const box = element("input", { type: "checkbox", checked: app.comparing, onchange: () => { box.blur(); app.setComparing(box.checked); } });
  pane.header.replaceChildren(
    choice,
    ...(at === 1 ? [element("label", { class: "compare" }, box, t("Compare"))] : []),
    ...(diff ? summary(app, diff, at) : []),
    element("span", { class: "space" }),
    ...(at === 1 ? [iconButton("close", t("Close this pane"), () => { void app.setSplit(false); })] : []),
  );
}

function summary(app: App, { counts }: Diff, at: number): HTMLElement[] {
  const parts = [
    ["added", `+${numberText(counts.added)}`, t("{0} added", counts.added)],
    ["changed", `~${numberText(counts.changed)}`, t("{0} changed", counts.changed)],
    ["removed", `−${numberText(counts.removed)}`, t("{0} removed", counts.removed)],
  ] as const;
  return [
    ...parts.map(([name, text, words]) => element("span", { class: `difference ${name}`, title: words, "aria-label": words }, text)),
    element("span", { class: "note" }, t("{0} unchanged", numberText(counts.unchanged))),
    iconButton("up", t("Previous difference"), () => { app.step(-1, at); }),
    iconButton("down", t("Next difference"), () => { app.step(1, at); }),
  ];
}
