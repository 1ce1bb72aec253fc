/** The drawing of a roofline: a slope for the memory, a ceiling for each rate, and a dot for each expression below them, as large as its share of the bound. */

import { inThousands } from "../shared/figures.js";
import { t } from "../shared/words.js";
import { type Drawn, type Frame, line, Plot, type Theme, words } from "./plot.js";
import { decades, type Dot, type Extent, extentOf } from "./rooflineModel.js";
import type { RooflineDocument } from "../../../shared_schema/generated/wire.js";

export interface RooflineEvents {
  /** A dot is looked at, or none; `chosen` where it was clicked or confirmed. */
  at(dot: Dot | undefined, chosen: boolean, focus: boolean): void;
}

const [SMALLEST, LARGEST] = [3.5, 22];

export class RooflineChart implements Drawn {
  readonly plot: Plot;
  private readonly extent: Extent;
  private at = -1;

  constructor(private readonly shown: RooflineDocument, private readonly dots: readonly Dot[], private readonly events: RooflineEvents) {
    this.extent = extentOf(shown, dots);
    this.plot = new Plot(t("Expressions below the roofs of the accelerator. Arrow keys go from one to the next, the largest share first, Enter to its code; the table below says the same as text."), this, 56);
  }

  /** Marks a dot, or none. */
  mark(dot: Dot | undefined): void {
    this.at = dot ? this.dots.indexOf(dot) : -1;
    this.plot.refresh();
  }

  paint(context: CanvasRenderingContext2D, frame: Frame, theme: Theme): void {
    const { left, right, bottom, top } = this.extent;
    for (const power of decades(left, right, (frame.right - frame.left) / 52)) {
      const x = this.x(10 ** power, frame);
      line(context, [x, frame.top], [x, frame.bottom], theme.line);
      words(context, inIntensity(power), x, frame.bottom + 12, theme.pale, "center");
    }
    for (const power of decades(bottom, top, (frame.bottom - frame.top) / 30)) {
      const y = this.y(10 ** power, frame);
      line(context, [frame.left, y], [frame.right, y], theme.line);
      words(context, inThousands(10 ** power), frame.left - 6, y, theme.pale, "right");
    }
    words(context, t("FLOP/s"), frame.left + 4, frame.top + 4, theme.pale, "left");
    words(context, t("FLOP for each byte"), frame.right, frame.bottom + 26, theme.pale, "right");
    this.paintRoofs(context, frame, theme);
    [...this.dots].reverse().forEach((dot) => { this.paintDot(context, frame, theme, dot, dot === this.dots[this.at]); });
  }

  hover(x: number, y: number): void {
    const dot = this.dotAt(x, y);
    this.plot.point(dot !== undefined);
    if (dot) this.events.at(dot, false, false);
  }

  click(x: number, y: number): void {
    const dot = this.dotAt(x, y);
    this.mark(dot);
    this.events.at(dot, dot !== undefined, false);
  }

  key(event: KeyboardEvent): boolean {
    if (this.dots.length === 0) return false;
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Home") this.at = 0;
    else if (event.key === "End") this.at = this.dots.length - 1;
    else if (step !== undefined) this.at = Math.max(0, Math.min(this.dots.length - 1, this.at + step));
    else if (event.key !== "Enter") return false;
    this.plot.refresh();
    this.events.at(this.dots[this.at], event.key === "Enter", event.key === "Enter");
    return true;
  }

  private x(intensity: number, { left, right }: Frame): number {
    return left + (Math.log(intensity / this.extent.left) / Math.log(this.extent.right / this.extent.left)) * (right - left);
  }

  private y(rate: number, { top, bottom }: Frame): number {
    return bottom - (Math.log(rate / this.extent.bottom) / Math.log(this.extent.top / this.extent.bottom)) * (bottom - top);
  }

  private paintRoofs(context: CanvasRenderingContext2D, frame: Frame, theme: Theme): void {
    const { bytes_per_second: bandwidth, ceilings } = this.shown;
    const [highest] = ceilings;
    if (bandwidth != null && highest) {
      const ridge = highest.operations_per_second / bandwidth;
      const from = Math.max(this.extent.left, this.extent.bottom / bandwidth);
      line(context, [this.x(from, frame), this.y(from * bandwidth, frame)], [this.x(ridge, frame), this.y(highest.operations_per_second, frame)], theme.text, 1.5);
    }
    let lowest = -Infinity; // where the words of the ceiling above end
    for (const { operations_per_second: rate, formats } of ceilings) {
      const y = this.y(rate, frame);
      const start = bandwidth == null ? frame.left : this.x(rate / bandwidth, frame);
      context.globalAlpha = 0.8;
      line(context, [start, y], [frame.right, y], theme.text);
      context.globalAlpha = 1;
      const place = Math.max(y - 7, lowest + 12);
      words(context, `${formats.join(", ")} · ${inThousands(rate)}`, frame.right - 2, place, theme.text, "right");
      lowest = place;
    }
  }

  private paintDot(context: CanvasRenderingContext2D, frame: Frame, theme: Theme, dot: Dot, marked: boolean): void {
    context.beginPath();
    context.arc(this.x(dot.intensity, frame), this.y(dot.rate, frame), radiusOf(dot), 0, 2 * Math.PI);
    context.fillStyle = roofColour(dot.row.cost.limited_by ?? "launch", theme);
    context.globalAlpha = 0.7;
    if (!dot.row.backward) context.fill(); // the backward pass has rings
    context.globalAlpha = 1;
    context.strokeStyle = marked ? theme.accent : dot.row.backward ? context.fillStyle : theme.background;
    context.lineWidth = marked ? 3 : dot.row.backward ? 2 : 1;
    context.stroke();
  }

  /** The smallest of the dots there: it lies above the others. */
  private dotAt(x: number, y: number): Dot | undefined {
    const { frame } = this.plot;
    return [...this.dots].reverse().find((dot) => Math.hypot(this.x(dot.intensity, frame) - x, this.y(dot.rate, frame) - y) <= radiusOf(dot) + 3);
  }
}

/** Areas are as large as shares. */
function radiusOf({ share }: Dot): number {
  return Math.max(SMALLEST, LARGEST * Math.sqrt(share));
}

export function roofColour(roof: string, { palette, pale }: Theme): string {
  return (roof === "memory" ? palette[0] : roof === "compute" ? palette[1] : undefined) ?? pale;
}

/** `0.01`, `1`, `1 k`. */
function inIntensity(power: number): string {
  return power < 0 ? (10 ** power).toFixed(Math.min(-power, 100)) : inThousands(10 ** power);
}
