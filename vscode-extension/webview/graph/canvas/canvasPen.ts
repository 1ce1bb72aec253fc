/** Draws on a canvas. Wires of one style are gathered into one path, which is what makes many of them quick. */

import type { Font, Fonts, Pen } from "./pens.js";

export class CanvasPen implements Pen {
  private style = "";

  constructor(
    private readonly context: CanvasRenderingContext2D,
    private readonly fonts: Fonts,
  ) {}

  box(x: number, y: number, width: number, height: number, radius: number, fill: string, line: string, lineWidth: number): void {
    this.flush();
    const { context } = this;
    if (fill !== "") context.fillStyle = fill;
    if (line !== "") {
      context.strokeStyle = line;
      context.lineWidth = lineWidth;
    }
    if (radius === 0) { // no path: much quicker, and all that is left of a box that is small
      if (fill !== "") context.fillRect(x, y, width, height);
      if (line !== "") context.strokeRect(x, y, width, height);
      return;
    }
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
    if (fill !== "") context.fill();
    if (line !== "") context.stroke();
  }

  text(x: number, y: number, text: string, font: Font, colour: string): void {
    this.flush();
    this.context.font = this.fonts[font];
    this.context.fillStyle = colour;
    this.context.fillText(text, x, y);
  }

  wire(x1: number, y1: number, x2: number, y2: number, colour: string, width: number, arrow: boolean): void {
    const { context } = this;
    const style = `${colour} ${width}`;
    if (style !== this.style) {
      this.flush();
      this.style = style;
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
    }
    context.moveTo(x1, y1);
    const middle = (y1 + y2) / 2;
    if (Math.abs(x1 - x2) < 0.5) context.lineTo(x2, y2);
    else context.bezierCurveTo(x1, middle, x2, middle, x2, y2);
    if (!arrow) return;
    context.moveTo(x2 - 3.5, y2 - 5);
    context.lineTo(x2, y2);
    context.lineTo(x2 + 3.5, y2 - 5);
  }

  fade(alpha: number): void {
    this.flush();
    this.context.globalAlpha = alpha;
  }

  /** Wires of one style are one path; this draws those that are waiting. */
  flush(): void {
    if (this.style === "") return;
    this.style = "";
    this.context.stroke();
  }
}
