/** How the page stands: a word about what is shown at the foot; whatever else goes on, or went wrong, above the graph or in its place. */

import type { Location } from "../../../../shared_schema/generated/wire.js";
import { element } from "../../shared/dom.js";
import type { PageState } from "../../shared/state.js";
import { StateView } from "../../shared/stateView.js";
import type { Host } from "../wire/host.js";

export class Standing {
  readonly foot = element("span", { class: "status-text", role: "status" });
  private readonly view: StateView;
  private state: PageState = { kind: "shown", note: "" };

  constructor(host: Host, reveal: (place: Location) => void, private readonly hasContent: () => boolean) {
    const retry = host.kind === "vscode" ? (): void => { host.send({ type: "retry" }); } : undefined; // a browser has no daemon
    this.view = new StateView({ cancel: () => { host.send({ type: "cancel" }); }, retry, reveal });
  }

  get element(): HTMLElement {
    return this.view.element;
  }

  say(text: string): void {
    this.foot.textContent = text;
  }

  /** Without a state the last one is shown again: there is content now, or none any more. */
  show(state: PageState = this.state): void {
    this.state = state;
    if (state.kind === "shown") this.say(state.note);
    this.view.show(state.kind === "shown" ? { kind: "shown", note: "" } : state, this.hasContent());
  }
}
