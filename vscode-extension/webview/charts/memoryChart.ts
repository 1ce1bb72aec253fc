/** The drawing of the memory over a run: bands one above the other, saved ones hatched; the moment that is looked at and the peak are marked. */

import { amount } from "../shared/amounts.js";
import { numberText, t } from "../shared/words.js";
import { type Band, byteTicks, totalsOf } from "./memoryModel.js";
import { type Drawn, type Frame, line, Plot, type Theme, words } from "./plot.js";

export interface MemoryEvents {
  /** An operation is looked at; `chosen` where it was clicked or confirmed, `focus` where the editor gets the keyboard. */
  at(operation: number, chosen: boolean, focus: boolean): void;
}

export class MemoryChart implements Drawn {
  readonly plot: Plot;
  moment: number;
  private bands: readonly Band[] = [];
  private totals: Float64Array = new Float64Array();
  private from = 0;
  private to: number;

  constructor(private readonly operations: number, private readonly peak: number, private readonly events: MemoryEvents) {
    this.moment = peak;
    this.to = operations;
    this.plot = new Plot(t("Memory that is alive while each operation runs. Arrow keys go from operation to operation, P to the peak, Enter to the expression; the table below says the same as text."), this, 64);
  }

  show(bands: readonly Band[]): void {
    this.bands = bands;
    this.totals = totalsOf(bands, this.operations);
    this.plot.refresh();
  }

  look(operation: number, chosen = false, focus = false): void {
    this.moment = Math.max(0, Math.min(this.operations - 1, operation));
    const span = this.to - this.from;
    if (this.moment < this.from || this.moment >= this.to) this.range(this.moment - span / 2, span);
    this.plot.refresh();
    this.events.at(this.moment, chosen, focus);
  }

  paint(context: CanvasRenderingContext2D, frame: Frame, theme: Theme): void {
    const most = Math.max(1, ...this.columns(frame).map((operation) => this.totals[operation] ?? 0)) * 1.04;
    const y = (bytes: number): number => frame.bottom - ((frame.bottom - frame.top) * bytes) / most;
    for (const tick of byteTicks(most, 6)) {
      line(context, [frame.left, y(tick)], [frame.right, y(tick)], theme.line);
      words(context, amount(tick), frame.left - 6, y(tick), theme.pale, "right");
    }
    this.paintBands(context, frame, theme, y);
    this.paintMarks(context, frame, theme, y);
    const [first, last] = [Math.floor(this.from), Math.ceil(this.to) - 1];
    words(context, numberText(first), frame.left, frame.bottom + 14, theme.pale, "left");
    words(context, numberText(last), frame.right, frame.bottom + 14, theme.pale, "right");
    words(context, t("operations"), (frame.left + frame.right) / 2, frame.bottom + 14, theme.pale, "center");
  }

  hover(x: number): void {
    this.plot.point(this.operationAt(x) !== undefined);
  }

  click(x: number): void {
    const operation = this.operationAt(x);
    if (operation !== undefined) this.look(operation, true);
  }

  drag(moved: number): void {
    const { left, right } = this.plot.frame;
    this.range(this.from - (moved * (this.to - this.from)) / (right - left), this.to - this.from);
  }

  wheel(event: WheelEvent, x: number): boolean {
    if (event.ctrlKey || event.metaKey) this.zoom(Math.exp((event.deltaMode === 1 ? 18 : 1) * event.deltaY / 240), x);
    else if (this.to - this.from < this.operations && (event.shiftKey || event.deltaX !== 0)) this.drag(-(event.shiftKey ? event.deltaY : event.deltaX));
    else return false;
    return true;
  }

  key(event: KeyboardEvent): boolean {
    const far = event.shiftKey ? 10 : 1;
    switch (event.key) {
      case "ArrowLeft":
        this.look(this.moment - far);
        return true;
      case "ArrowRight":
        this.look(this.moment + far);
        return true;
      case "Home":
        this.look(0);
        return true;
      case "End":
        this.look(this.operations - 1);
        return true;
      case "p":
      case "P":
        this.look(this.peak);
        return true;
      case "Enter":
        this.look(this.moment, true, true);
        return true;
      case "+":
      case "-":
        this.zoom(event.key === "+" ? 0.5 : 2, this.x(this.moment + 0.5));
        return true;
      case "0":
        this.range(0, this.operations);
        return true;
      default:
        return false;
    }
  }

  /** Less than an operation for each few pixels is nothing to look at. */
  zoom(factor: number, x: number): void {
    const { left, right } = this.plot.frame;
    const at = this.from + ((x - left) / (right - left)) * (this.to - this.from);
    const span = Math.min(this.operations, Math.max(Math.min(8, this.operations), (this.to - this.from) * factor));
    this.range(at - ((at - this.from) / (this.to - this.from)) * span, span);
  }

  private range(from: number, span: number): void {
    this.from = Math.max(0, Math.min(this.operations - span, from));
    this.to = this.from + span;
    this.plot.refresh();
  }

  private x(operation: number): number {
    const { left, right } = this.plot.frame;
    return left + ((operation - this.from) / (this.to - this.from)) * (right - left);
  }

  private operationAt(x: number): number | undefined {
    const { left, right } = this.plot.frame;
    if (x < left || x > right) return undefined;
    return Math.min(this.operations - 1, Math.max(0, Math.floor(this.from + ((x - left) / (right - left)) * (this.to - this.from))));
  }

  /** For each pixel the operation there that has most, where there are several. */
  private columns({ left, right }: Frame): number[] {
    const each = (this.to - this.from) / (right - left);
    return Array.from({ length: Math.max(1, Math.ceil(right - left)) }, (_none, pixel) => {
      const [first, last] = [this.from + pixel * each, this.from + (pixel + 1) * each].map((value) => Math.min(this.operations - 1, Math.floor(value))) as [number, number];
      let found = first;
      for (let at = first; at <= last; at += 1) if ((this.totals[at] ?? 0) > (this.totals[found] ?? 0)) found = at;
      return found;
    });
  }

  private paintBands(context: CanvasRenderingContext2D, frame: Frame, theme: Theme, y: (bytes: number) => number): void {
    const columns = this.columns(frame);
    const below = new Float64Array(columns.length);
    for (const band of this.bands) {
      context.beginPath();
      columns.forEach((operation, pixel) => {
        const [low, high] = [below[pixel] ?? 0, (below[pixel] ?? 0) + (band.amounts[operation] ?? 0)];
        below[pixel] = high;
        if (high > low) context.rect(frame.left + pixel, y(high), 1, y(low) - y(high));
      });
      context.fillStyle = bandColour(band, theme);
      context.globalAlpha = bandAlpha(band);
      context.fill();
      context.globalAlpha = 1;
      if (band.saved) this.hatch(context, frame, theme);
    }
  }

  /** Lines over what is the current path, so that saved memory is known without its colour. */
  private hatch(context: CanvasRenderingContext2D, { left, right, top, bottom }: Frame, theme: Theme): void {
    context.save();
    context.clip();
    context.strokeStyle = theme.background;
    context.lineWidth = 1.5;
    context.beginPath();
    for (let at = left - (bottom - top); at < right; at += 6) {
      context.moveTo(at, bottom);
      context.lineTo(at + bottom - top, top);
    }
    context.stroke();
    context.restore();
  }

  private paintMarks(context: CanvasRenderingContext2D, { left, right, top, bottom }: Frame, theme: Theme, y: (bytes: number) => number): void {
    const peak = this.x(this.peak + 0.5);
    if (peak >= left && peak <= right) {
      context.setLineDash([4, 3]);
      line(context, [peak, top], [peak, bottom], theme.pale);
      context.setLineDash([]);
      const text = t("peak");
      const onRight = peak + context.measureText(text).width + 8 < right;
      words(context, text, peak + (onRight ? 4 : -4), top + 5, theme.text, onRight ? "left" : "right");
    }
    const now = this.x(this.moment + 0.5);
    if (now < left || now > right) return;
    line(context, [now, top], [now, bottom], theme.accent, 2);
    context.beginPath();
    context.arc(now, y(this.totals[this.moment] ?? 0), 3.5, 0, 2 * Math.PI);
    context.fillStyle = theme.accent;
    context.fill();
  }
}

/** The colour of a band: colours come again after seven, paler. */
export function bandColour({ group }: Band, theme: Theme): string {
  return theme.palette[group % theme.palette.length] ?? theme.pale;
}

export function bandAlpha({ group, saved }: Band): number {
  return (group >= 7 ? 0.5 : 0.85) * (saved ? 0.75 : 1);
}
