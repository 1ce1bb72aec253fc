/**
 * The canvas of one pane: draws its scene when something has changed, pans, zooms, tells what was clicked, and shows the whole in
 * a corner. One frame at most per screen refresh.
 */

import { element } from "../../shared/dom.js";
import { t } from "../../shared/words.js";
import type { Colouring } from "../looks/colours.js";
import type { Item } from "../model/hierarchy.js";
import { HEADER } from "../layout/arrange.js";
import { Camera, CLOSE_ENOUGH } from "./camera.js";
import { CanvasPen } from "./canvasPen.js";
import { Minimap } from "./minimap.js";
import { headerLeft, headerTop, paint, READABLE } from "./painter.js";
import { fontsOf } from "./pens.js";
import type { Scene } from "./scene.js";
import type { Theme } from "./theme.js";

/** A pane narrower than this has no room for the minimap. */
const NARROW = 420;

export interface DrawingEvents {
  select(item: Item | undefined): void;
  toggle(item: Item): void;
  open(item: Item): void;
  moved(): void;
  key(event: KeyboardEvent): void;
}

export class Drawing {
  readonly element = element("div", { class: "drawing" });
  readonly camera = new Camera();
  /** Milliseconds that drawing the last frame took; the benchmark reads it. */
  lastFrame = 0;
  private readonly canvas = element("canvas", { tabindex: 0, role: "application", "aria-label": t("Drawing of the graph. The outline beside it says the same as text.") });
  private readonly room = element("div", { class: "drawing-room" }, this.canvas);
  private readonly minimap = new Minimap((x, y) => { this.look(x, y); });
  private readonly context = this.canvas.getContext("2d", { alpha: false });
  private scene: Scene | undefined;
  private colouring: Colouring = "operation";
  private frame = 0;
  private width = 0;
  private height = 0;
  private placed = false;

  constructor(
    private theme: Theme,
    private readonly events: DrawingEvents,
  ) {
    this.element.append(this.room, this.minimap.element);
    new ResizeObserver(() => { this.resize(); }).observe(this.room);
    this.listen();
  }

  /** Shows a scene; a new one from its beginning. */
  show(scene: Scene): void {
    if (scene !== this.scene) this.placed = false;
    this.scene = scene;
    this.refresh();
  }

  /** What colours say, and which there are. */
  colour(colouring: Colouring, theme: Theme): void {
    this.colouring = colouring;
    this.theme = theme;
    this.refresh();
  }

  /** The layout or what is marked has changed. */
  refresh(): void {
    if (this.scene?.layout && !this.placed && this.width > 0) {
      const { boxes } = this.scene.layout;
      this.camera.start(boxes[2] ?? 0, boxes[3] ?? 0, this.width, this.height, boxes.length > 4 ? (boxes[4] ?? 0) + (boxes[6] ?? 0) / 2 : undefined);
      this.placed = true;
    }
    this.minimap.forget();
    this.request();
  }

  /** Looks at the beginning of the drawing again. */
  startAgain(): void {
    this.placed = false;
    this.refresh();
  }

  restoreCamera({ x, y, zoom }: { readonly x: number; readonly y: number; readonly zoom: number }): void {
    Object.assign(this.camera, { x, y, zoom });
    this.placed = true;
    this.request();
  }

  fit(): void {
    const boxes = this.scene?.layout?.boxes;
    if (boxes) this.camera.fit(boxes[2] ?? 0, boxes[3] ?? 0, this.width, this.height);
    this.moved();
  }

  zoomBy(factor: number): void {
    this.camera.scale(factor, this.width / 2, this.height / 2);
    this.moved();
  }

  panBy(x: number, y: number): void {
    this.camera.pan(x, y);
    this.moved();
  }

  focus(): void {
    this.canvas.focus();
  }

  /** Where a box is on the screen: its left, top, width, height. */
  onScreen(box: number): readonly [number, number, number, number] | undefined {
    const boxes = this.scene?.layout?.boxes;
    if (!boxes || box < 0) return undefined;
    const { x, y, zoom } = this.camera;
    return [((boxes[box * 4] ?? 0) - x) * zoom, ((boxes[box * 4 + 1] ?? 0) - y) * zoom, (boxes[box * 4 + 2] ?? 0) * zoom, (boxes[box * 4 + 3] ?? 0) * zoom];
  }

  /** Moves the drawing so that a box is where it was before a new layout. */
  anchor(box: number, before: readonly [number, number, number, number] | undefined): void {
    const now = this.onScreen(box);
    if (before && now) this.camera.pan(before[0] + before[2] / 2 - now[0] - now[2] / 2, before[1] - now[1]);
    this.request();
  }

  /** Moves the drawing only if a box is out of sight. */
  reveal(box: number, always = false): void {
    const place = this.onScreen(box);
    const boxes = this.scene?.layout?.boxes;
    if (!place || !boxes) return;
    const [left, top, width, height] = place;
    const inside = left >= 8 && top >= 8 && left + width <= this.width - 8 && top + Math.min(height, 60) <= this.height - 8;
    if (inside && !always && this.camera.zoom > READABLE) return;
    if (this.camera.zoom < CLOSE_ENOUGH) this.camera.zoom = CLOSE_ENOUGH;
    const tall = Math.min(boxes[box * 4 + 3] ?? 0, this.height / this.camera.zoom - 80);
    this.camera.centre((boxes[box * 4] ?? 0) + (boxes[box * 4 + 2] ?? 0) / 2, (boxes[box * 4 + 1] ?? 0) + tall / 2, this.width, this.height);
    this.moved();
  }

  private look(x: number, y: number): void {
    this.camera.centre(x, y, this.width, this.height);
    this.moved();
  }

  private moved(): void {
    this.events.moved();
    this.request();
  }

  /** Draws now rather than in the next frame: then it is on the screen with that frame, not after it. */
  drawNow(): void {
    cancelAnimationFrame(this.frame);
    this.draw();
  }

  private request(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(() => { this.draw(); });
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.room;
    if (clientWidth === 0 || clientHeight === 0) return;
    if (this.placed) this.camera.pan((clientWidth - this.width) / 2, 0); // what was in the middle stays there
    [this.width, this.height] = [clientWidth, clientHeight];
    this.canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
    this.canvas.style.width = `${clientWidth}px`;
    this.canvas.style.height = `${clientHeight}px`;
    this.refresh();
    this.draw();
  }

  private draw(): void {
    this.frame = 0;
    const { context, scene, camera, theme } = this;
    if (!context) return;
    const began = performance.now();
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = theme.background;
    context.fillRect(0, 0, this.width, this.height);
    if (!scene?.layout) return;
    context.setTransform(devicePixelRatio * camera.zoom, 0, 0, devicePixelRatio * camera.zoom, -camera.x * camera.zoom * devicePixelRatio, -camera.y * camera.zoom * devicePixelRatio);
    const pen = new CanvasPen(context, fontsOf(theme.font, theme.mono));
    const view = camera.view(this.width, this.height);
    paint(pen, scene, theme, view, this.colouring);
    pen.flush();
    if (this.element.clientWidth >= NARROW) this.minimap.draw(scene, theme, view, this.height);
    else this.minimap.hide();
    this.lastFrame = performance.now() - began;
  }

  private boxAt(x: number, y: number): number {
    const { scene, camera } = this;
    const boxes = scene?.layout?.boxes;
    if (!boxes) return -1;
    const [worldX, worldY] = [camera.x + x / camera.zoom, camera.y + y / camera.zoom];
    let found = -1;
    for (let box = boxes.length / 4 - 1; box > 0 && found < 0; box -= 1) {
      const [left, top] = [boxes[box * 4] ?? 0, boxes[box * 4 + 1] ?? 0];
      if (worldX >= left && worldY >= top && worldX <= left + (boxes[box * 4 + 2] ?? 0) && worldY <= top + (boxes[box * 4 + 3] ?? 0)) found = box;
    }
    let over = found;
    for (let box = camera.zoom < READABLE ? -1 : found; box > 0; box = scene.visible?.parents[box] ?? -1) { // a header that stays in sight lies over what is in its scope
      if (scene.visible?.open[box] !== 1) continue;
      const top = headerTop(scene, scene.visible.items[box] ?? 0, boxes[box * 4 + 1] ?? 0, boxes[box * 4 + 3] ?? 0, camera.y);
      if (worldY >= top && worldY < top + HEADER) over = box; // and over those of the scopes in it, which it pushes out
    }
    return over;
  }

  private listen(): void {
    const { canvas } = this;
    let drag: { x: number; y: number; far: boolean } | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 && event.button !== 1) return;
      drag = { x: event.clientX, y: event.clientY, far: false };
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) {
        this.hover(event.offsetX, event.offsetY);
        return;
      }
      const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
      if (!drag.far && Math.abs(x) + Math.abs(y) < 4) return;
      drag = { x: event.clientX, y: event.clientY, far: true };
      this.panBy(x, y);
    });
    canvas.addEventListener("pointerup", (event) => {
      const clicked = drag && !drag.far && event.button === 0;
      drag = undefined;
      if (clicked) this.click(event.offsetX, event.offsetY);
    });
    canvas.addEventListener("dblclick", (event) => {
      const box = this.boxAt(event.offsetX, event.offsetY);
      const item = box < 1 ? undefined : this.scene?.visible?.items[box];
      if (item === undefined || this.onSign(box, event.offsetX, event.offsetY)) return;
      if (this.scene?.scope(item)) this.events.toggle(item);
      else this.events.open(item);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 18 : 1;
      if (event.ctrlKey || event.metaKey) {
        this.camera.scale(Math.exp((-event.deltaY * unit) / 240), event.offsetX, event.offsetY);
        this.moved();
      } else this.panBy(-(event.shiftKey ? event.deltaY : event.deltaX) * unit, event.shiftKey ? 0 : -event.deltaY * unit);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => { this.events.key(event); });
  }

  /** A click on the box with the plus folds or unfolds; anywhere else it selects. */
  private click(x: number, y: number): void {
    const box = this.boxAt(x, y);
    const { scene } = this;
    const item = box < 1 ? undefined : scene?.visible?.items[box];
    if (item === undefined || !scene) {
      this.events.select(undefined);
      return;
    }
    if (this.onSign(box, x, y)) this.events.toggle(item);
    else this.events.select(item);
  }

  /** Whether a point of the screen is on the sign with which a scope is folded and unfolded. */
  private onSign(box: number, x: number, y: number): boolean {
    const { scene, camera: { zoom } } = this;
    const item = scene?.visible?.items[box];
    const place = this.onScreen(box);
    if (!scene || item === undefined || !place || !scene.scope(item) || zoom <= READABLE) return false;
    const top = scene.isOpen(item) ? headerTop(scene, item, place[1] / zoom, place[3] / zoom, 0) * zoom : place[1];
    const left = scene.isOpen(item) ? headerLeft(place[0] / zoom, place[2] / zoom, 0) * zoom : place[0];
    return x >= left && x - left < 26 * zoom && y - top < HEADER * zoom;
  }

  private hover(x: number, y: number): void {
    const box = this.boxAt(x, y);
    const item = box < 1 ? undefined : this.scene?.visible?.items[box];
    this.canvas.style.cursor = item === undefined ? "default" : "pointer";
    const text = item === undefined || !this.scene || this.scene.isOpen(item) ? "" : this.scene.sentence(item);
    if (this.canvas.title !== text) this.canvas.title = text;
  }
}
