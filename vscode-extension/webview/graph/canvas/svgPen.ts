/** Draws as SVG text. Names are escaped, so that HTML in them stays text. */

import type { Font, Fonts, Pen } from "./pens.js";

export class SvgPen implements Pen {
  private readonly parts: string[] = [];
  private alpha = 1;

  constructor(private readonly fonts: Fonts) {}

  box(x: number, y: number, width: number, height: number, radius: number, fill: string, line: string, lineWidth: number): void {
    const stroke = line === "" ? "" : ` stroke="${escape(line)}" stroke-width="${lineWidth}"`;
    this.add(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" rx="${radius}" fill="${fill === "" ? "none" : escape(fill)}"${stroke}`);
  }

  text(x: number, y: number, text: string, font: Font, colour: string): void {
    this.add(`<text x="${short(x)}" y="${short(y)}" class="${font}" fill="${escape(colour)}"`, escape(text));
  }

  wire(x1: number, y1: number, x2: number, y2: number, colour: string, width: number, arrow: boolean): void {
    const middle = short((y1 + y2) / 2);
    const head = arrow ? `M${short(x2 - 3.5)} ${short(y2 - 5)}L${short(x2)} ${short(y2)}L${short(x2 + 3.5)} ${short(y2 - 5)}` : "";
    this.add(`<path d="M${short(x1)} ${short(y1)}C${short(x1)} ${middle} ${short(x2)} ${middle} ${short(x2)} ${short(y2)}${head}" fill="none" stroke="${escape(colour)}" stroke-width="${width}"`);
  }

  fade(alpha: number): void {
    this.alpha = alpha;
  }

  /** The whole file. */
  file(width: number, height: number, background: string): string {
    const styles = Object.entries(this.fonts).map(([name, font]) => `.${name}{font:${font as string}}`).join("");
    const size = `width="${Math.ceil(width)}" height="${Math.ceil(height)}" viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}><style>${escape(styles)}</style><rect width="100%" height="100%" fill="${escape(background)}"/>\n${this.parts.join("\n")}\n</svg>\n`;
  }

  private add(open: string, inside?: string): void {
    const faded = this.alpha < 1 ? `${open} opacity="${this.alpha}"` : open;
    this.parts.push(inside === undefined ? `${faded}/>` : `${faded} xml:space="preserve">${inside}</text>`);
  }
}

function short(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** Text as XML; characters that XML has not are replaced. */
export function escape(text: string): string {
  return text
    .replace(/&/gu, "&amp;").replace(/</gu, "&lt;").replace(/>/gu, "&gt;").replace(/"/gu, "&quot;")
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
}
