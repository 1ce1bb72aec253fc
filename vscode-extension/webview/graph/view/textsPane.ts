/** Kernels and IR in a pane of their own, beside whatever graphs stand in the other two. */

import { element, iconButton } from "../../shared/dom.js";
import { t } from "../../shared/words.js";
import type { State } from "../state/state.js";
import type { CodeView } from "./codeView.js";

export class TextsPane {
  readonly element: HTMLElement;

  constructor(
    state: State,
    readonly code: CodeView,
    close: () => void,
  ) {
    const header = element("div", { class: "pane-header" }, element("span", {}, t("Kernels and IR")), element("span", { class: "space" }), iconButton("close", t("Close this pane"), close));
    this.element = element("section", { class: "pane", hidden: true, "aria-label": t("Kernels and IR") }, header, element("div", { class: "pane-body" }, code.element));
    state.subscribe({ changed: () => { this.element.hidden = !state.showsTexts; } });
  }
}
