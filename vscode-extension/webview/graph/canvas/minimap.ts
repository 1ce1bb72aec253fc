/**
 * The whole drawing in a column beside it, with a frame around what is on the screen; a click or a drag goes there. It has room of its own and
 * covers nothing.
 */

import { element } from "../../shared/dom.js";
import { css, levelColour } from "../../shared/heat.js";
import type { View } from "./pens.js";
import type { Scene } from "./scene.js";
import type { Theme } from "./theme.js";

/** `graph.css` has the same number. */
const WIDTH = 96;
/** Pixels of the picture for one of the page. */
const SHARP = 2;

export class Minimap {
  readonly element = element("canvas", { class: "minimap", "aria-hidden": "true", hidden: true });
  private readonly picture = element("canvas");
  private fresh = false;
  private scale = 1;
  private left = 0;
  private height = 0;
  private readonly pixels = new Map<string, number>();

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

  hide(): void {
    this.element.hidden = true;
  }

  /** Draws it as high as the drawing beside it; not where all is on the screen anyway. */
  draw(scene: Scene, theme: Theme, view: View, high: number): void {
    const boxes = scene.layout?.boxes;
    const context = this.element.getContext("2d");
    if (!boxes || !context || high < 1) return;
    const [width, height] = [boxes[2] ?? 1, boxes[3] ?? 1];
    const whole = view.left <= 0 && view.top <= 0 && view.right >= width && view.bottom >= height;
    this.element.hidden = whole;
    if (whole) return;
    this.resize(high);
    if (!this.fresh) this.paint(scene, theme, boxes, width, height);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, WIDTH * SHARP, high * SHARP);
    context.drawImage(this.picture, 0, 0);
    context.setTransform(SHARP, 0, 0, SHARP, 0, 0);
    const [x, y] = [this.left + view.left * this.scale, view.top * this.scale];
    const [w, h] = [(view.right - view.left) * this.scale, (view.bottom - view.top) * this.scale];
    context.strokeStyle = theme.accent;
    context.fillStyle = `${theme.accent}22`;
    context.fillRect(x, y, w, Math.max(3, h));
    context.strokeRect(Math.max(0.5, x), Math.max(0.5, y), Math.min(w, WIDTH - 1 - Math.max(0, x)), Math.max(3, Math.min(h, high - 1)));
  }

  private resize(high: number): void {
    if (this.height === high) return;
    this.height = high;
    this.fresh = false;
    for (const canvas of [this.element, this.picture]) [canvas.width, canvas.height] = [WIDTH * SHARP, high * SHARP];
  }

  /** Every box, pixel by pixel: thousands of them are drawn with each fold. What is marked comes last, and is never too small to be seen. */
  private paint(scene: Scene, theme: Theme, boxes: Float32Array, width: number, height: number): void {
    const context = this.picture.getContext("2d");
    if (!context) return;
    this.fresh = true;
    this.scale = Math.min(WIDTH / width, this.height / height);
    this.left = (WIDTH - width * this.scale) / 2;
    const image = context.createImageData(WIDTH * SHARP, this.height * SHARP);
    const pixels = new Uint32Array(image.data.buffer);
    const [line = 0, pale = 0, mark = 0] = [theme.line, theme.pale, theme.warning].map((colour) => this.pixelOf(colour));
    const marked: number[] = [];
    const fill = (box: number, pixel: number): void => {
      const [x, y, w, h] = [boxes[box * 4] ?? 0, boxes[box * 4 + 1] ?? 0, boxes[box * 4 + 2] ?? 0, boxes[box * 4 + 3] ?? 0];
      const [left, top] = [Math.floor((this.left + x * this.scale) * SHARP), Math.floor(y * this.scale * SHARP)];
      const [right, bottom] = [Math.max(left + 1, (this.left + (x + w) * this.scale) * SHARP), Math.max(top + 1, (y + h) * this.scale * SHARP)];
      for (let row = top; row < bottom; row += 1) pixels.fill(pixel, row * WIDTH * SHARP + left, row * WIDTH * SHARP + right);
    };
    for (let box = 1; box < boxes.length / 4; box += 1) {
      const level = scene.heat[box]?.level;
      if (scene.visible?.open[box] === 1) fill(box, (line & 0xffffff) | (0x55 << 24));
      else if (scene.isMarked(box)) marked.push(box);
      else fill(box, level === undefined || level === 0 ? pale : this.pixelOf(css(levelColour(level, theme.brightness))));
    }
    for (const box of marked) fill(box, mark);
    context.putImageData(image, 0, 0);
  }

  /** A colour of the theme, whatever it is written as, as a pixel. */
  private pixelOf(colour: string): number {
    let pixel = this.pixels.get(colour);
    if (pixel !== undefined) return pixel;
    const context = element("canvas", { width: 1, height: 1 }).getContext("2d");
    if (!context) return 0;
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    pixel = new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0;
    this.pixels.set(colour, pixel);
    return pixel;
  }
}
