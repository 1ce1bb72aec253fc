/** Pictures of what is open, as drawn: SVG and PNG. */

import type { Colouring } from "../looks/colours.js";
import { CanvasPen } from "./canvasPen.js";
import { paint } from "./painter.js";
import { fontsOf, type Pen } from "./pens.js";
import type { Scene } from "./scene.js";
import { SvgPen } from "./svgPen.js";
import type { Theme } from "./theme.js";

const MARGIN = 16;
/** The largest picture that browsers draw. */
const LARGEST = 16_000;
const MOST_PIXELS = 100_000_000;

export function svgOf(scene: Scene, theme: Theme, colouring: Colouring): string {
  const [width, height] = sizeOf(scene);
  const pen = new SvgPen(fontsOf(theme.font, theme.mono));
  paint(shifted(pen), scene, theme, everything(width, height), colouring);
  return pen.file(width + 2 * MARGIN, height + 2 * MARGIN, theme.background);
}

/** As sharp as can be, up to twice the size of the drawing on the screen. */
export async function pngOf(scene: Scene, theme: Theme, colouring: Colouring): Promise<Uint8Array> {
  const [width, height] = sizeOf(scene).map((size) => size + 2 * MARGIN) as [number, number];
  const scale = Math.min(2, LARGEST / width, LARGEST / height, Math.sqrt(MOST_PIXELS / (width * height)));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no canvas");
  context.scale(scale, scale);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width, height);
  context.translate(MARGIN, MARGIN);
  const pen = new CanvasPen(context, fontsOf(theme.font, theme.mono));
  paint(pen, scene, theme, { ...everything(width, height), zoom: Math.min(1, scale) }, colouring);
  pen.flush();
  const blob = await new Promise<Blob | null>((done) => { canvas.toBlob(done, "image/png"); });
  if (!blob) throw new Error("the picture is too large");
  return new Uint8Array(await blob.arrayBuffer());
}

function sizeOf(scene: Scene): [number, number] {
  return [scene.layout?.boxes[2] ?? 1, scene.layout?.boxes[3] ?? 1];
}

function everything(width: number, height: number): { left: number; top: number; right: number; bottom: number; zoom: number } {
  return { left: 0, top: 0, right: width, bottom: height, zoom: 1 };
}

/** The same pen with a margin. */
function shifted(pen: Pen): Pen {
  return {
    box: (x, y, ...rest) => { pen.box(x + MARGIN, y + MARGIN, ...rest); },
    text: (x, y, ...rest) => { pen.text(x + MARGIN, y + MARGIN, ...rest); },
    wire: (x1, y1, x2, y2, ...rest) => { pen.wire(x1 + MARGIN, y1 + MARGIN, x2 + MARGIN, y2 + MARGIN, ...rest); },
    fade: (alpha) => { pen.fade(alpha); },
  };
}
