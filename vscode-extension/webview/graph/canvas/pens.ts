/** What a picture is drawn with: on a canvas for the screen and PNG (`canvasPen.ts`), as SVG text for a file (`svgPen.ts`). */

export type Font = "title" | "plain" | "mono";

export interface Fonts {
  readonly title: string;
  readonly plain: string;
  readonly mono: string;
}

export function fontsOf(font: string, mono: string): Fonts {
  return { title: `600 12px ${font}`, plain: `11px ${font}`, mono: `11px ${mono}` };
}

export interface Pen {
  box(x: number, y: number, width: number, height: number, radius: number, fill: string, line: string, lineWidth: number): void;
  text(x: number, y: number, text: string, font: Font, colour: string): void;
  /** A wire from top to bottom; `arrow` ends it in a head. */
  wire(x1: number, y1: number, x2: number, y2: number, colour: string, width: number, arrow: boolean): void;
  fade(alpha: number): void;
}

/** The part of the drawing that is looked at, and how closely. */
export interface View {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly zoom: number;
}
