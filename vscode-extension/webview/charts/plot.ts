/** The canvas that charts are drawn on: as sharp as the screen, drawn again when its size, the theme or what it shows changes, one frame at most per refresh of the screen. */

import { element } from "../shared/dom.js";
import { brightness, brightnessOf } from "../shared/heatView.js";
import type { Brightness } from "../shared/heat.js";
import { watchTheme } from "../shared/themes.js";

export interface Theme {
  readonly background: string;
  readonly text: string;
  readonly pale: string;
  readonly line: string;
  readonly accent: string;
  /** Colours that are told apart, the first ones best. */
  readonly palette: readonly string[];
  readonly brightness: Brightness;
  readonly font: string;
}

/** Where the drawing itself is, within what axes and their words take. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

function readTheme(): Theme {
  const style = getComputedStyle(document.body);
  const value = (name: string): string => style.getPropertyValue(`--chart-${name}`).trim();
  const background = value("background");
  return {
    background, text: value("text"), pale: value("pale"), line: value("line"), accent: value("accent"),
    palette: ["blue", "orange", "green", "purple", "red", "yellow", "grey"].map(value), brightness: background === "" ? brightness() : brightnessOf(background), font: value("font"),
  };
}

/** What a chart is asked and told by its canvas; places are pixels of it. */
export interface Drawn {
  paint(context: CanvasRenderingContext2D, frame: Frame, theme: Theme): void;
  hover(x: number, y: number): void;
  click(x: number, y: number): void;
  /** Whether the key meant something. */
  key(event: KeyboardEvent): boolean;
  drag?(x: number): void;
  wheel?(event: WheelEvent, x: number): boolean;
}

export class Plot {
  readonly element: HTMLElement;
  theme = readTheme();
  private readonly canvas: HTMLCanvasElement;
  private frameRequest = 0;
  private width = 0;
  private height = 0;

  constructor(label: string, private readonly drawn: Drawn, private readonly left: number) {
    this.canvas = element("canvas", { tabindex: 0, role: "application", "aria-label": label });
    this.element = element("div", { class: "plot" }, this.canvas);
    new ResizeObserver(() => { this.resize(); }).observe(this.element);
    watchTheme(() => {
      this.theme = readTheme();
      this.refresh();
    });
    this.listen();
  }

  get frame(): Frame {
    return { left: this.left, right: Math.max(this.left + 1, this.width - 12), top: 12, bottom: Math.max(13, this.height - 34) };
  }

  refresh(): void {
    if (this.frameRequest === 0) this.frameRequest = requestAnimationFrame(() => { this.draw(); });
  }

  point(pointing: boolean): void {
    this.canvas.style.cursor = pointing ? "pointer" : "default";
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0 || clientHeight === 0) return;
    [this.width, this.height] = [clientWidth, clientHeight];
    this.canvas.width = Math.round(clientWidth * devicePixelRatio);
    this.canvas.height = Math.round(clientHeight * devicePixelRatio);
    this.draw();
  }

  private draw(): void {
    this.frameRequest = 0;
    const context = this.canvas.getContext("2d", { alpha: false });
    if (!context || this.width === 0) return;
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = this.theme.background;
    context.fillRect(0, 0, this.width, this.height);
    context.font = `11px ${this.theme.font}`;
    this.drawn.paint(context, this.frame, this.theme);
  }

  private listen(): void {
    const { canvas, drawn } = this;
    let pressed: { x: number; far: boolean } | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pressed = { x: event.clientX, far: false };
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!pressed) {
        drawn.hover(event.offsetX, event.offsetY);
        return;
      }
      const moved = event.clientX - pressed.x;
      if (!pressed.far && Math.abs(moved) < 4) return;
      pressed = { x: event.clientX, far: true };
      drawn.drag?.(moved);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (pressed && !pressed.far) drawn.click(event.offsetX, event.offsetY);
      pressed = undefined;
    });
    canvas.addEventListener("wheel", (event) => { if (drawn.wheel?.(event, event.offsetX) === true) event.preventDefault(); }, { passive: false });
    canvas.addEventListener("keydown", (event) => { if (drawn.key(event)) event.preventDefault(); });
  }
}

/** Words at an axis; `align` and the baseline are those of a canvas. */
export function words(context: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string, align: CanvasTextAlign, baseline: CanvasTextBaseline = "middle"): void {
  context.fillStyle = colour;
  context.textAlign = align;
  context.textBaseline = baseline;
  context.fillText(text, x, y);
}

/** A straight line, sharp where it is upright or level. */
export function line(context: CanvasRenderingContext2D, from: readonly [number, number], to: readonly [number, number], colour: string, width = 1): void {
  const sharp = (value: number): number => (width === 1 ? Math.round(value) + 0.5 : value);
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  if (from[0] === to[0] || from[1] === to[1]) {
    context.moveTo(sharp(from[0]), sharp(from[1]));
    context.lineTo(sharp(to[0]), sharp(to[1]));
  } else {
    context.moveTo(...from);
    context.lineTo(...to);
  }
  context.stroke();
}
