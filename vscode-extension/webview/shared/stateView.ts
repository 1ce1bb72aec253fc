/**
 * The one way in which pages say that they load, failed, were cancelled or have nothing to show: what, how far, for how long, why, and what one
 * can do. Above content it is a line, without content it fills the page.
 */

import type { Location } from "../../../shared_schema/generated/wire.js";
import { button, type Child, element } from "./dom.js";
import { lineText } from "./places.js";
import type { PageState } from "./state.js";
import { t } from "./words.js";

export interface Actions {
  readonly cancel: () => void;
  /** Undefined where nothing can be tried again. */
  readonly retry: (() => void) | undefined;
  readonly reveal: (place: Location) => void;
}

const TICK = 1000;

export class StateView {
  readonly element = element("section", { class: "state", hidden: true });
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(private readonly actions: Actions) {}

  /** `beside` says that there is content, which stays. */
  show(state: PageState, beside: boolean): void {
    clearInterval(this.timer);
    this.element.hidden = state.kind === "shown" && state.note === "";
    this.element.className = `state ${state.kind}${beside ? " beside" : ""}`;
    this.element.setAttribute("role", state.kind === "failed" ? "alert" : "status");
    this.element.replaceChildren(...this.parts(state).filter((part) => part !== undefined && part !== false));
  }

  private parts(state: PageState): Child[] {
    const { cancel, retry, reveal } = this.actions;
    const again = retry && button(t("Retry"), t("Retry"), retry, { class: "primary" });
    switch (state.kind) {
      case "loading":
        return [
          element("span", { class: "state-spinner", "aria-hidden": true }), element("strong", {}, state.what),
          state.step !== undefined && element("span", { class: "state-step" }, state.step),
          state.percentage !== undefined && element("progress", { max: 100, value: state.percentage, "aria-label": state.what }),
          this.seconds(state.since), button(t("Cancel"), t("Cancel"), cancel, { class: "primary" }),
        ];
      case "failed": {
        const { place } = state;
        const where = place && t("Go to {0}", lineText(place));
        return [
          element("span", { class: "state-sign", "aria-hidden": true }, "✕"), element("strong", {}, state.what), element("span", { class: "state-why" }, state.why),
          place !== undefined && where !== undefined && button(where, place.path, () => { reveal(place); }, { class: "link" }), again,
        ];
      }
      case "cancelled":
        return [element("span", { class: "state-sign", "aria-hidden": true }, "⊘"), element("strong", {}, t("Cancelled")), element("span", {}, state.what), again];
      case "empty":
        return [element("span", { class: "state-sign", "aria-hidden": true }, "○"), element("span", { class: "state-why" }, state.why), again];
      case "shown":
        return [element("span", { class: "state-why" }, state.note)];
    }
  }

  /** Counted here: nothing has to be sent for it. Not read aloud each second. */
  private seconds(since: number): HTMLElement {
    const shown = element("span", { class: "state-seconds", "aria-live": "off" });
    const count = (): void => { shown.textContent = t("{0} s", Math.max(0, Math.round((Date.now() - since) / 1000))); };
    count();
    this.timer = setInterval(count, TICK);
    return shown;
  }
}
