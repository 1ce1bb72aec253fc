/** Draws a scene with a pen: open scopes, wires, boxes. What is outside of the window is not drawn, what is too small has no text. */

import { ancestorsOf, type Item } from "../model/hierarchy.js";
import { css, inkOn, type Level, levelColour, SIGNS } from "../../shared/heat.js";
import { type Colouring, dtypeColour, isMetric, kernelColour, kindOf } from "../looks/colours.js";
import { HEADER } from "../layout/arrange.js";
import { Coverage } from "./coverage.js";
import type { Pen, View } from "./pens.js";
import { differenceColour, type Differences, differenceSigns } from "./differences.js";
import type { Scene } from "./scene.js";
import type { Theme } from "./theme.js";

/** Closer than this, boxes have texts. */
export const READABLE = 0.32;
const DETAILED = 0.5;
/** Lower than this many pixels a box is its colour and nothing else. */
const LOW = 3;
/** Room for the title of a scope that is partly out of sight on the left. */
const NARROWEST = 140;

export function paint(pen: Pen, scene: Scene, theme: Theme, view: View, colouring: Colouring): void {
  const { visible, layout } = scene;
  if (!visible || !layout) return;
  const selected = scene.selected === undefined ? -1 : scene.boxOf(scene.selected);
  const { boxes } = layout;
  const painter = new Painter(pen, scene, theme, view.zoom, colouring, selected);
  const [closed, pinned]: [number[], number[]] = [[], []];
  const coverage = new Coverage(view);
  const hidden = (x: number, y: number, width: number, height: number): boolean => width * view.zoom < 1 && height * view.zoom < 1 && !coverage.take(x, y);
  for (let box = 1; box < visible.items.length; box += 1) {
    const [x, y, width, height] = [boxes[box * 4] ?? 0, boxes[box * 4 + 1] ?? 0, boxes[box * 4 + 2] ?? 0, boxes[box * 4 + 3] ?? 0];
    if (x > view.right || y > view.bottom || x + width < view.left || y + height < view.top) continue;
    if (visible.open[box] === 1) {
      if (height * view.zoom >= LOW && painter.scope(box, x, y, width, height, view)) pinned.push(box);
    } else if (painter.isMarked(box) || !hidden(x, y, width, height)) closed.push(box);
  }
  painter.wires(view);
  for (const box of closed) painter.box(box, boxes[box * 4] ?? 0, boxes[box * 4 + 1] ?? 0, boxes[box * 4 + 2] ?? 0, boxes[box * 4 + 3] ?? 0);
  for (const box of pinned.reverse()) painter.pinned(box, boxes[box * 4] ?? 0, boxes[box * 4 + 1] ?? 0, boxes[box * 4 + 2] ?? 0, boxes[box * 4 + 3] ?? 0, view);
  pen.fade(1);
}

/** The header of a tall scope stays in sight while one scrolls through it, below those of the scopes around it. */
export function headerTop(scene: Scene, item: Item, y: number, height: number, top: number): number {
  const depth = ancestorsOf(scene.hierarchy, item).length - 1;
  return Math.max(y, Math.min(top + depth * HEADER, y + height - HEADER));
}

/** … and beside what one has scrolled past. */
export function headerLeft(x: number, width: number, left: number): number {
  return Math.max(x, Math.min(left, x + width - NARROWEST));
}

class Painter {
  constructor(
    private readonly pen: Pen,
    private readonly scene: Scene,
    private readonly theme: Theme,
    private readonly zoom: number,
    private readonly colouring: Colouring,
    private readonly selected: number,
  ) {}

  /** True where the header has to be drawn on top of all that is in the scope (`pinned`). */
  scope(box: number, x: number, y: number, width: number, height: number, view: View): boolean {
    const { pen, scene, theme, zoom } = this;
    const item = scene.visible?.items[box] ?? 0;
    const line = box === this.selected ? theme.accent : theme.line;
    pen.fade(1);
    pen.box(x, y, width, height, zoom < READABLE ? 0 : 8, theme.scope, line, (box === this.selected ? 2 : 1) / Math.min(1, zoom));
    if (zoom < READABLE) return false;
    if (headerTop(scene, item, y, height, view.top) > y) return true;
    this.header(item, headerLeft(x, width, view.left), y, true);
    return false;
  }

  /** The header of a scope that begins above the window. */
  pinned(box: number, x: number, y: number, width: number, height: number, view: View): void {
    const { pen, scene, theme } = this;
    const item = scene.visible?.items[box] ?? 0;
    const top = headerTop(scene, item, y, height, view.top);
    pen.fade(1);
    pen.box(x + 1, top, width - 2, HEADER, 0, theme.scope, "", 0);
    pen.box(x + 1, top + HEADER - 1, width - 2, 1, 0, theme.line, "", 0);
    this.header(item, headerLeft(x, width, view.left), top, true);
  }

  /** Wires of what is selected come last, so that they are on top. */
  wires(view: View): void {
    const { pen, theme, zoom, selected } = this;
    const layout = this.scene.layout;
    if (!layout) return;
    const { pieces, sources, targets } = layout;
    const coverage = new Coverage(view);
    pen.fade(this.scene.matching ? 0.4 : 1);
    const width = 1.2 / Math.max(0.4, Math.min(1, zoom));
    const touching: number[] = [];
    for (let piece = 0; piece < sources.length; piece += 1) {
      const [x1, y1, x2, y2] = [pieces[piece * 4] ?? 0, pieces[piece * 4 + 1] ?? 0, pieces[piece * 4 + 2] ?? 0, pieces[piece * 4 + 3] ?? 0];
      if (Math.min(x1, x2) > view.right || Math.max(x1, x2) < view.left || y1 > view.bottom || y2 < view.top) continue;
      if ((y2 - y1) * zoom < 1 && Math.abs(x1 - x2) * zoom < 1 && !coverage.take(x1, y1)) continue;
      if (selected >= 0 && (sources[piece] === selected || targets[piece] === selected)) touching.push(piece);
      else pen.wire(x1, y1, x2, y2, theme.wire, width, zoom > READABLE && targets[piece] !== -1);
    }
    pen.fade(1);
    for (const piece of touching) pen.wire(pieces[piece * 4] ?? 0, pieces[piece * 4 + 1] ?? 0, pieces[piece * 4 + 2] ?? 0, pieces[piece * 4 + 3] ?? 0, theme.accent, width * 1.6, zoom > READABLE && targets[piece] !== -1);
    if (zoom >= READABLE) this.stubs(view, layout.stubs);
  }

  /** Ends of wires that are too long to draw. Above a box stands where the value comes from. */
  private stubs(view: View, stubs: Float32Array): void {
    const { pen, scene, theme } = this;
    for (let at = 0; at < stubs.length; at += 4) {
      const [x, y, other, above] = [stubs[at] ?? 0, stubs[at + 1] ?? 0, stubs[at + 2] ?? 0, stubs[at + 3] ?? 0];
      if (x > view.right || x < view.left - 200 || y > view.bottom || y < view.top) continue;
      pen.wire(x, above ? y - 10 : y, x, above ? y : y + 8, theme.wire, 1.2, above === 1);
      const item = scene.visible?.items[other];
      if (above && item !== undefined && this.zoom >= DETAILED) pen.text(x + 6, y - 4, scene.label(item).title, "plain", theme.pale);
    }
  }

  /** Whether a box says something that must not be lost among others, however small it is. */
  isMarked(box: number): boolean {
    return box === this.selected || this.scene.isMarked(box);
  }

  box(box: number, x: number, y: number, width: number, height: number): void {
    const { pen, scene, theme, zoom } = this;
    const item = scene.visible?.items[box] ?? 0;
    if (height * zoom < LOW && !this.isMarked(box)) {
      pen.fade(scene.matching || scene.changes ? 0.45 : 1);
      pen.box(x, y, Math.max(width, 1 / zoom), Math.max(height, 1 / zoom), 0, this.heatColour(box) ?? (scene.scope(item) ? theme.pale : this.colourOf(item)), "", 0);
      return;
    }
    const scope = scene.scope(item);
    const differences = scene.differences[box];
    const lit = scene.related.has(box) || box === this.selected;
    const faded = !lit && (scene.matching?.has(box) === false || (scene.changes !== undefined && !differences));
    pen.fade(faded ? 0.45 : 1);
    const line = this.lineOf(box, differences);
    const lineWidth = (line === theme.line ? 1 : 2) / Math.min(1, Math.max(0.3, zoom));
    const radius = zoom < READABLE ? 0 : scope ? 8 : 5;
    if (scope && scope.times > 1 && zoom >= READABLE) {
      pen.box(x + 6, y + 6, width, height, radius, theme.box, theme.line, 1);
      pen.box(x + 3, y + 3, width, height, radius, theme.box, theme.line, 1);
    }
    const hot = this.heatColour(box);
    pen.box(x, y, width, height, radius, hot ?? theme.box, line, lineWidth);
    if (lit) pen.box(x, y, width, height, radius, `${theme.accent}28`, "", 0);
    if (!scope && !isMetric(this.colouring)) pen.box(x + 1, y + (zoom < READABLE ? 1 : 4), zoom < READABLE ? width - 2 : 3, zoom < READABLE ? height - 2 : height - 8, zoom < READABLE ? 0 : 1.5, this.colourOf(item), "", 0);
    if (zoom < READABLE) return;
    const [text, pale] = this.inks(box);
    this.header(item, x, y, false, text, pale);
    this.badge(box, x + width, y);
    this.sign(box, x, y);
    if (zoom < DETAILED) return;
    const label = scene.label(item);
    let line0 = y + 18 + 15;
    if (label.line !== "") {
      pen.text(x + (scope ? 28 : 12), line0, label.line, scope ? "plain" : "mono", pale);
      line0 += 14;
    }
    if (differences) {
      const signs = differenceSigns(differences, scope !== undefined);
      const colour = differenceColour(differences, theme);
      if (scope) pen.text(x + width - 8 - scene.textWidth(signs, "mono"), y + 33, signs, "mono", colour);
      else pen.text(x + width - 12, y + 18, signs, "title", colour);
    }
    for (const stub of label.stubs) {
      pen.text(x + 12, line0, stub, "mono", pale);
      line0 += 14;
    }
  }

  private header(item: number, x: number, y: number, open: boolean, text = this.theme.text, pale = this.theme.pale): void {
    const { pen, scene, theme } = this;
    const scope = scene.scope(item);
    const { title, beside } = scene.label(item);
    let left = x + 12;
    if (scope) {
      pen.box(x + 9, y + 8, 11, 11, 2, "", pale, 1);
      pen.wire(x + 14.5, open ? y + 13.5 : y + 11, x + 14.5, open ? y + 13.5 : y + 16, pale, 1.2, false);
      pen.box(x + 12, y + 13, 5, 1, 0, pale, "", 0);
      left = x + 28;
    }
    pen.text(left, y + 18, title, "title", text);
    left += scene.textWidth(title, "title") + 8;
    if (beside !== "") {
      pen.text(left, y + 18, beside, "plain", pale);
      left += scene.textWidth(beside, "plain") + 8;
    }
    if (scope && scope.times > 1) pen.text(left, y + 18, `× ${scope.times}`, "title", text === theme.text ? theme.accent : text);
  }

  private badge(box: number, right: number, y: number): void {
    const { pen, scene, theme } = this;
    const severity = scene.severities[box];
    if (!severity) return;
    const text = String(scene.counts[box] ?? 0);
    const width = scene.textWidth(text, "title") + 10;
    const colour = severity === "error" ? theme.error : severity === "warning" ? theme.warning : theme.information;
    pen.box(right - width + 6, y - 7, width, 16, 8, colour, theme.background, 1.5);
    pen.text(right - width + 11, y + 5, text, "title", theme.background);
  }

  /** The sign of a box's heat, at its other corner. */
  private sign(box: number, x: number, y: number): void {
    const { pen, scene, theme } = this;
    const heat = scene.heat[box];
    if (!heat || !isMetric(this.colouring)) return;
    pen.box(x - 7, y - 7, 16, 16, 8, theme.background, theme.pale, 1);
    pen.text(x + 1 - scene.textWidth(SIGNS[heat.level], "title") / 2, y + 5, SIGNS[heat.level], "title", theme.text);
  }

  /** The coldest level has a sign alone. */
  private heatOf(box: number): Level | undefined {
    const level = isMetric(this.colouring) ? this.scene.heat[box]?.level : undefined;
    return level === 0 ? undefined : level;
  }

  private heatColour(box: number): string | undefined {
    const level = this.heatOf(box);
    return level === undefined ? undefined : css(levelColour(level, this.theme.brightness));
  }

  /** What texts in a box are written in: more and less important ones. */
  private inks(box: number): readonly [string, string] {
    const level = this.heatOf(box);
    if (level === undefined) return [this.theme.text, this.theme.pale];
    const ink = inkOn(levelColour(level, this.theme.brightness));
    return [ink, ink];
  }

  private lineOf(box: number, differences: Differences | undefined): string {
    const { scene, theme } = this;
    if (box === this.selected || scene.related.has(box)) return theme.accent;
    if (scene.matching?.has(box)) return theme.match;
    return differences ? differenceColour(differences, theme) : theme.line;
  }

  private colourOf(node: number): string {
    const { table } = this.scene.entry;
    const { palette, kinds, pale } = this.theme;
    if (isMetric(this.colouring)) return pale;
    if (this.colouring === "operation") return kinds[kindOf(table, node) ?? "other"];
    const colour = this.colouring === "dtype" ? dtypeColour(table, node) : kernelColour(table, node);
    return palette[colour ?? -1] ?? pale;
  }
}
