/** One of the (at most two) panes of graphs: a graph's drawing, or texts. The header of the second says what it shows and compares. */

import { element } from "../../shared/dom.js";
import { Drawing, type DrawingEvents } from "../canvas/drawing.js";
import type { Scene } from "../canvas/scene.js";
import type { Stand, State } from "../state/state.js";
import type { CodeView } from "./codeView.js";
import { fillHeader, type HeaderEvents } from "./paneHeader.js";

export interface PaneEvents extends DrawingEvents, HeaderEvents {
  /** The pane is being used. */
  focused(): void;
}

export class Pane {
  readonly drawing: Drawing;
  readonly element: HTMLElement;
  private readonly header = element("div", { class: "pane-header" });
  private readonly body = element("div", { class: "pane-body" });
  private readonly stand: Stand;

  constructor(
    private readonly state: State,
    private readonly at: 0 | 1,
    readonly code: CodeView,
    private readonly events: PaneEvents,
  ) {
    this.stand = state.stands[at];
    this.drawing = new Drawing(state.theme, events);
    this.element = element("section", { class: "pane", hidden: !state.isShown(at) }, this.header, this.body);
    this.element.addEventListener("focusin", () => { events.focused(); });
    this.element.addEventListener("pointerdown", () => { events.focused(); });
    this.body.append(this.drawing.element);
    state.subscribe({ changed: () => { this.refresh(); } });
  }

  get scene(): Scene | undefined {
    return this.stand.scene;
  }

  get showsText(): boolean {
    return this.stand.showsText;
  }

  showText(): void {
    this.stand.showsText = true;
    this.body.replaceChildren(this.code.element);
  }

  /** What was opened has moved all: what is selected or lit stays in sight, otherwise one begins again. */
  lookAgain(): void {
    const { scene, drawing } = this;
    const [lit] = scene?.related ?? [];
    const box = scene?.selected === undefined ? lit : scene.boxOf(scene.selected);
    if (box === undefined || box < 0) drawing.startAgain();
    else drawing.reveal(box, true);
  }

  showScene(scene: Scene): void {
    if (this.showsText) this.body.replaceChildren(this.drawing.element);
    this.stand.showsText = false;
    this.stand.scene = scene;
    this.drawing.show(scene);
  }

  private refresh(): void {
    const { state, at, drawing } = this;
    this.element.hidden = !state.isShown(at);
    this.element.classList.toggle("active", state.split && at === state.active);
    drawing.colour(state.colouring, state.theme);
    fillHeader(this.header, state, at, this.events);
  }
}
