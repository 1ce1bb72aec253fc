/** The whole drawing in a corner, with a frame around what is on the screen; a click or a drag goes there. */

import { element } from "../../shared/dom.js";
import type { View } from "./painter.js";
import type { Scene } from "./scene.js";
import type { Theme } from "./theme.js";

const WIDTH = 120;
const HEIGHT = 170;
const MOST = 4_000;

export class Minimap {
  readonly element = element("canvas", { class: "minimap", width: WIDTH * 2, height: HEIGHT * 2, "aria-hidden": "true" });
  private readonly picture = element("canvas", { width: WIDTH * 2, height: HEIGHT * 2 });
  private fresh = false;
  private scale = 1;
  private left = 0;

  constructor(goTo: (x: number, y: number) => void) {
    const go = (event: PointerEvent): void => {
      if (event.buttons !== 0) goTo((event.offsetX - this.left) / this.scale, event.offsetY / this.scale);
    };
    this.element.addEventListener("pointerdown", (event) => {
      this.element.setPointerCapture(event.pointerId);
      go(event);
    });
    this.element.addEventListener("pointermove", go);
  }

  /** The picture is of an older layout. */
  forget(): void {
    this.fresh = false;
  }

  draw(scene: Scene, theme: Theme, view: View): void {
    const boxes = scene.layout?.boxes;
    const context = this.element.getContext("2d");
    if (!boxes || !context) return;
    const [width, height] = [boxes[2] ?? 1, boxes[3] ?? 1];
    const whole = view.left <= 0 && view.top <= 0 && view.right >= width && view.bottom >= height;
    this.element.hidden = whole;
    if (whole) return;
    if (!this.fresh) this.paint(scene, theme, boxes, width, height);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, WIDTH * 2, HEIGHT * 2);
    context.drawImage(this.picture, 0, 0);
    context.setTransform(2, 0, 0, 2, 0, 0);
    const [x, y] = [this.left + view.left * this.scale, view.top * this.scale];
    const [w, h] = [(view.right - view.left) * this.scale, (view.bottom - view.top) * this.scale];
    context.strokeStyle = theme.accent;
    context.fillStyle = `${theme.accent}22`;
    context.fillRect(x, y, w, Math.max(3, h));
    context.strokeRect(Math.max(0.5, x), Math.max(0.5, y), Math.min(w, WIDTH - 1 - Math.max(0, x)), Math.max(3, Math.min(h, HEIGHT - 1)));
  }

  private paint(scene: Scene, theme: Theme, boxes: Float32Array, width: number, height: number): void {
    const context = this.picture.getContext("2d");
    if (!context) return;
    this.fresh = true;
    this.scale = Math.min(WIDTH / width, HEIGHT / height);
    this.left = (WIDTH - width * this.scale) / 2;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, WIDTH * 2, HEIGHT * 2);
    context.setTransform(2, 0, 0, 2, 2 * this.left, 0);
    const open = new Set((scene.visible?.scopes ?? []).map((scope) => scope.box));
    const step = Math.max(1, Math.ceil(boxes.length / 4 / MOST));
    for (let box = 1; box < boxes.length / 4; box += step) {
      const marked = scene.related.has(box) || scene.matching?.has(box) === true || scene.severities[box] !== undefined || scene.differences[box] !== undefined;
      context.fillStyle = marked && !open.has(box) ? theme.warning : open.has(box) ? `${theme.line}55` : theme.pale;
      const [x, y, w, h] = [boxes[box * 4] ?? 0, boxes[box * 4 + 1] ?? 0, boxes[box * 4 + 2] ?? 0, boxes[box * 4 + 3] ?? 0];
      context.fillRect(x * this.scale, y * this.scale, Math.max(0.7, w * this.scale), Math.max(0.7, h * this.scale));
    }
  }
}
