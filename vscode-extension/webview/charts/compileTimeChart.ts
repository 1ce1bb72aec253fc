/** The drawing of where compiling goes: pieces of the time, as wide as they took, each below what it is inside of. */

import { t } from "../shared/words.js";
import { depthOf, type Drawn as Piece, layOut, type Slab } from "./compileTimeModel.js";
import { type Drawn, type Frame, Plot, type Theme, words } from "./plot.js";

export interface CompileTimeEvents {
  /** A piece is looked at; `chosen` where it was clicked or confirmed and leads somewhere. */
  at(slab: Slab, chosen: boolean, focus: boolean): void;
}

const [HIGHEST, LOWEST] = [22, 11];
const [AROUND, TALLEST] = [46, 480];
const LEAST_WIDTH = 0.0008;
const SOLID: Readonly<Record<Slab["kind"], number>> = { target: 0, phase: 0.4, module: 0.22, expression: 0.5 };

export class CompileTimeChart implements Drawn {
  readonly plot: Plot;
  private focus: Slab;
  private at: Slab;
  private pieces: readonly Piece[] = [];

  constructor(private whole: Slab, private readonly events: CompileTimeEvents) {
    this.focus = whole;
    this.at = whole;
    this.plot = new Plot(t("Where compiling goes. Arrow keys go in and out and from piece to piece, Enter to the code or closer, Escape back out; the table below says the same as text."), this, 12);
    this.show(whole);
  }

  show(whole: Slab): void {
    this.whole = whole;
    this.at = whole;
    this.plot.element.style.height = `${Math.min(TALLEST, AROUND + HIGHEST * depthOf(whole))}px`;
    this.zoom(whole);
  }

  paint(context: CanvasRenderingContext2D, frame: Frame, theme: Theme): void {
    const height = this.height(frame);
    for (const piece of this.pieces) {
      const { slab, row } = piece;
      const [x, width] = this.across(piece, frame);
      const y = frame.top + row * height;
      context.fillStyle = partColour(slab.part, theme);
      context.globalAlpha = SOLID[slab.kind];
      context.fillRect(x, y, Math.max(1, width - 1), height - 1);
      context.globalAlpha = 1;
      if (slab === this.at || slab.kind === "target") {
        context.strokeStyle = slab === this.at ? theme.accent : theme.line;
        context.lineWidth = slab === this.at ? 2 : 1;
        context.strokeRect(x + 1, y + 1, Math.max(1, width - 3), height - 3);
      }
      const said = fitting(context, nameOf(slab), width - 10);
      if (said !== "") words(context, said, x + 5, y + height / 2, theme.text, "left");
    }
  }

  hover(x: number, y: number): void {
    const slab = this.slabAt(x, y);
    this.plot.point(slab !== undefined);
    if (slab) this.events.at(slab, false, false);
  }

  click(x: number, y: number): void {
    const slab = this.slabAt(x, y);
    if (slab) this.choose(slab, false);
  }

  key(event: KeyboardEvent): boolean {
    const next = this.stepped(event.key);
    if (event.key === "Enter") {
      this.choose(this.at, true);
      return true;
    }
    if (event.key === "Escape") {
      if (this.focus === this.whole) return false;
      this.at = this.focus;
      this.zoom(this.focus.outer ?? this.whole);
    } else if (next) this.at = next;
    else return next === null;
    if (!this.pieces.some(({ slab }) => slab === this.at)) this.zoom(this.at.outer ?? this.whole);
    this.plot.refresh();
    this.events.at(this.at, false, false);
    return true;
  }

  /** The piece that a key leads to; null where there is none, undefined where the key means nothing. */
  private stepped(key: string): Slab | null | undefined {
    const beside = this.at.outer?.inner ?? [this.at];
    const place = beside.indexOf(this.at);
    switch (key) {
      case "ArrowRight":
        return beside[place + 1] ?? null;
      case "ArrowLeft":
        return beside[place - 1] ?? null;
      case "ArrowDown":
        return this.at.inner[0] ?? null;
      case "ArrowUp":
        return this.at.outer ?? null;
      case "Home":
        return this.whole;
      default:
        return undefined;
    }
  }

  private choose(slab: Slab, focus: boolean): void {
    this.at = slab;
    if (slab.place === undefined) this.zoom(slab);
    this.plot.refresh();
    this.events.at(slab, true, focus);
  }

  private zoom(slab: Slab): void {
    this.focus = slab;
    this.pieces = layOut(slab, LEAST_WIDTH);
    this.plot.refresh();
  }

  private height({ top, bottom }: Frame): number {
    return Math.max(LOWEST, Math.min(HIGHEST, (bottom - top) / depthOf(this.whole)));
  }

  private across({ from, to }: Piece, { left, right }: Frame): [number, number] {
    return [left + from * (right - left), (to - from) * (right - left)];
  }

  private slabAt(x: number, y: number): Slab | undefined {
    const { frame } = this.plot;
    const row = Math.floor((y - frame.top) / this.height(frame));
    return this.pieces.find((piece) => {
      const [start, width] = this.across(piece, frame);
      return piece.row === row && x >= start && x < start + width;
    })?.slab;
  }
}

export function nameOf({ kind, name, detail, part, count }: Slab): string {
  if (kind === "phase") return `${part}: ${name}`;
  if (kind !== "module") return name.replace(/\s+/gu, " ");
  return count > 1 ? `${name}  ${detail} × ${String(count)}` : `${name}  ${detail}`.trim();
}

export function partColour(part: string, { palette, pale }: Theme): string {
  return { Dynamo: palette[0], AOTAutograd: palette[1], Inductor: palette[2] }[part] ?? pale;
}

/** As much of a text as fits; nothing where that is hardly anything. */
function fitting(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (width < 16) return "";
  const whole = context.measureText(text).width;
  if (whole <= width) return text;
  let length = Math.floor((text.length * width) / whole);
  while (length >= 2 && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return length < 2 ? "" : `${text.slice(0, length)}…`;
}
