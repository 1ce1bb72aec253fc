/** One of the (at most two) panes of graphs: a graph's drawing, or texts. The header of the second says what it shows and compares. */

import { element } from "../../shared/dom.js";
import type { CodeView } from "./codeView.js";
import { Drawing, type DrawingEvents } from "./drawing.js";
import type { Scene } from "./scene.js";
import type { Theme } from "./theme.js";

export class Pane {
  readonly drawing: Drawing;
  readonly element: HTMLElement;
  readonly header = element("div", { class: "pane-header" });
  private readonly body = element("div", { class: "pane-body" });
  scene: Scene | undefined;
  /** Whether texts are shown instead of the graph. */
  showsText = false;

  constructor(
    theme: Theme,
    readonly code: CodeView,
    events: DrawingEvents,
    focused: () => void,
  ) {
    this.drawing = new Drawing(theme, events);
    this.element = element("section", { class: "pane" }, this.header, this.body);
    this.element.addEventListener("focusin", focused);
    this.element.addEventListener("pointerdown", focused);
    this.body.append(this.drawing.element);
  }

  showText(): void {
    this.showsText = true;
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
    this.showsText = false;
    this.scene = scene;
    this.drawing.show(scene);
  }
}
