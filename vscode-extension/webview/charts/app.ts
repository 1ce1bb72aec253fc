/** The page of charts: how the run stands, and then a section for each target. */

import { button, element, iconButton } from "../shared/dom.js";
import { StateView } from "../shared/stateView.js";
import { t } from "../shared/words.js";
import { CompileTimeView } from "./compileTimeView.js";
import { MemoryView } from "./memoryView.js";
import type { Charts, ToHost, ToPage } from "./messages.js";
import type { Reveal } from "./places.js";
import { ProfileView } from "./profileView.js";
import { RooflineView } from "./rooflineView.js";

/** What everybody has; the one that was asked for is added. */
const BACKENDS = ["inductor", "eager"];

export class App {
  private readonly content = element("main");
  private readonly choice = element("p", { class: "choice", hidden: true });
  private readonly state: StateView;
  private readonly reveal: Reveal | undefined;

  /** @param tell undefined where nobody listens: the page is a file in a browser. */
  constructor(private readonly tell: ((message: ToHost) => void) | undefined) {
    this.reveal = tell && ((place, focus) => { tell({ type: "reveal", place: { path: place.path, range: place.range }, focus }); });
    this.state = new StateView({
      cancel: () => { tell?.({ type: "cancel" }); }, retry: tell && (() => { tell({ type: "retry" }); }), reveal: (place) => { this.reveal?.(place, true); },
    });
    const choose = button(t("Choose Accelerator"), t("Choose Accelerator"), () => { tell?.({ type: "chooseAccelerator" }); }, { class: "primary" });
    this.choice.append(choose);
    document.body.append(this.state.element, this.choice, this.content);
  }

  hear(message: ToPage): void {
    if (message.type === "charts") this.show(message.charts);
    else {
      if (message.lacksAccelerator === true) this.content.replaceChildren();
      this.choice.hidden = message.lacksAccelerator !== true;
      this.state.show(message.state, this.content.childElementCount > 0);
    }
  }

  show(charts: Charts): void {
    const { tell, reveal } = this;
    const [title, views] = viewsOf(charts, reveal, tell);
    const again = tell && iconButton("refresh", t("Run again"), () => { tell({ type: "refresh" }); });
    this.content.replaceChildren(...(views.length > 0 ? [element("header", {}, element("h1", {}, title), tell && backends(charts, tell), again), ...views.map((view) => view.element)] : []));
  }
}

/** The heading, and a view of each target. */
function viewsOf(charts: Charts, reveal: Reveal | undefined, tell: ((message: ToHost) => void) | undefined): [string, { readonly element: HTMLElement }[]] {
  switch (charts.kind) {
    case "memory":
      return [t("Memory over the run"), charts.documents.map((shown) => new MemoryView(shown, reveal))];
    case "roofline":
      return [t("Roofline"), charts.documents.map((shown) => new RooflineView(shown, reveal))];
    case "compile-time":
      return [t("Compile time"), charts.documents.map((shown) => new CompileTimeView(shown, reveal, tell && (() => { tell({ type: "ways" }); })))];
    case "profile":
      return [t("Profile"), charts.documents.map((shown) => new ProfileView(shown, reveal))];
  }
}

/** What the steps of a profile run with, where that can be chosen. */
function backends(charts: Charts, tell: (message: ToHost) => void): HTMLElement | undefined {
  if (charts.kind !== "profile" || charts.backend === undefined) return undefined;
  const { backend } = charts;
  const all = [...new Set([...BACKENDS, backend])];
  const choice = element("select", { "aria-label": t("Backend"), onchange: () => { tell({ type: "backend", backend: choice.value }); } },
    ...all.map((name) => element("option", { value: name, selected: name === backend }, name)));
  return choice;
}
