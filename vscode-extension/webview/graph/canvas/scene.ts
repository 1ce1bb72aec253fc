/**
 * One graph as it stands on the screen: what is open, how it is laid out, what is marked. The panes change it, the painter reads it.
 *
 * Everything per box (findings, matches, differences) is counted once when it changes, never while drawing.
 */

import type { Level } from "../../shared/heat.js";
import type { Change, Diff } from "../diff/diff.js";
import { findingsOf, type NodeFinding, type Severity, worst } from "../model/findings.js";
import { fold } from "../layout/fold.js";
import { type Hierarchy, isScope, type Item, modulesOf, nodesBelow, type Scope, scopeAt } from "../model/hierarchy.js";
import { type Label, labelOf, sentenceOf } from "../looks/labels.js";
import type { Layout } from "../layout/layout.js";
import type { Entry, Library } from "../model/library.js";
import { joined, type Overlay } from "../looks/overlay.js";
import { row, usersOf } from "../model/table.js";
import { type Filter, matchesOf, NO_FILTER } from "../search/search.js";
import { eachVisible, type Skeleton, skeletonOf } from "../layout/skeleton.js";
import type { Visible } from "../layout/visible.js";
import type { Differences } from "./differences.js";
import type { Arranging } from "./layouts.js";
import { openAround, openUpTo } from "../layout/opening.js";
import { type Fonts, fontsOf } from "./pens.js";
import type { Theme } from "./theme.js";

/** Boxes that a graph starts with, and the most that "unfold all" opens. */
const AT_FIRST = 50;
const MOST_BOXES = 25_000;
/** More identical modules than these stay folded until somebody opens them. */
const FEW = 2;
const LONGEST_TEXT = 44;
/** Milliseconds of measuring texts after which the screen gets its turn. */
const PATIENCE = 8;
const ORDER: readonly (Severity | undefined)[] = ["error", "warning", "information", "hint"];

/** What a metric is for a box. */
export interface Heat {
  readonly level: Level;
  readonly text: string;
}

export class Scene {
  readonly hierarchy: Hierarchy;
  open: ReadonlySet<number>;
  visible: Visible | undefined;
  layout: Layout | undefined;
  findings: ReadonlyMap<number, readonly NodeFinding[]> = new Map();
  filter: Filter = NO_FILTER;
  /** Nodes that match the filter, in graph order; undefined where there is none. */
  matches: readonly number[] | undefined;
  selected: Item | undefined;
  changes: readonly Change[] | undefined;
  /** Per box. */
  severities: (Severity | undefined)[] = [];
  counts: number[] = [];
  differences: (Differences | undefined)[] = [];
  heat: (Heat | undefined)[] = [];
  related = new Set<number>();
  matching: ReadonlySet<number> | undefined;
  private overlay: Overlay | undefined;
  private relatedNodes: ReadonlySet<number> = new Set();
  private readonly labels = new Map<Item, Label>();
  private readonly sentences = new Map<Item, string>();
  private readonly skeleton: Skeleton;
  private readonly arranging: Arranging;
  /** By item, folded; 0 where it was not measured yet. */
  private readonly sizes: { readonly widths: Float32Array; readonly heights: Float32Array };
  /** Items that have been measured, and whose sizes the worker does not know yet. */
  private readonly untold: Item[] = [];
  private generation = 0;
  private fonts: Fonts;
  private readonly widths = new Map<string, number>();
  private readonly ruler = document.createElement("canvas").getContext("2d");

  constructor(
    private readonly library: Library,
    readonly entry: Entry,
    theme: Theme,
    arrange: (skeleton: Skeleton) => Arranging,
  ) {
    this.hierarchy = fold(modulesOf(entry.table));
    this.skeleton = skeletonOf(this.hierarchy);
    this.arranging = arrange(this.skeleton);
    const items = this.skeleton.count + this.hierarchy.scopes.length;
    this.sizes = { widths: new Float32Array(items), heights: new Float32Array(items) };
    this.open = openUpTo(this.hierarchy, AT_FIRST, ({ kind, times }) => kind !== "part" && times <= FEW);
    this.fonts = fontsOf(theme.font, theme.mono);
  }

  /** Lays out what is open. False where a newer request has overtaken this one. */
  async update(): Promise<boolean> {
    const generation = (this.generation += 1);
    if (!(await this.measureAll(() => generation === this.generation))) return false;
    const { visible, layout } = await this.arranging.arrange(this.open);
    if (generation !== this.generation) return false;
    [this.visible, this.layout] = [visible, layout];
    this.recount();
    return true;
  }

  /** The graph is not shown any more. */
  close(): void {
    this.generation += 1;
    this.arranging.close();
  }

  label(item: Item): Label {
    let label = this.labels.get(item);
    if (!label) {
      const { title, beside, line, stubs } = labelOf(this.hierarchy, this.entry.modules, item);
      label = { title: cut(title), beside: cut(beside), line: cut(line), stubs: stubs.map(cut) };
      this.labels.set(item, label);
    }
    return label;
  }

  /** Everything about an item in one sentence. */
  sentence(item: Item): string {
    let sentence = this.sentences.get(item);
    if (sentence === undefined) this.sentences.set(item, (sentence = sentenceOf(this.hierarchy, this.entry.modules, item)));
    return sentence;
  }

  scope(item: Item): Scope | undefined {
    return scopeAt(this.hierarchy, item);
  }

  isOpen(item: Item): boolean {
    const scope = this.scope(item);
    return scope !== undefined && (scope.id === 0 || this.open.has(scope.id));
  }

  toggle(item: Item): void {
    const scope = this.scope(item);
    if (!scope || scope.id === 0) return;
    const next = new Set(this.open);
    if (!next.delete(scope.id)) next.add(scope.id);
    this.open = next;
  }

  /** What is open, in words that mean the same after a new capture. */
  openPaths(): string[] {
    return [...this.open].map((id) => pathOf(this.hierarchy.scopes[id]));
  }

  openByPaths(paths: readonly string[]): void {
    const wanted = new Set(paths);
    this.open = new Set(this.hierarchy.scopes.flatMap((scope) => (scope.id === 0 || wanted.has(pathOf(scope)) ? [scope.id] : [])));
  }

  foldAll(): void {
    this.open = new Set([0]);
  }

  /** Opens as much as can be drawn; false where that is not all. */
  unfoldAll(budget = MOST_BOXES): boolean {
    this.open = openUpTo(this.hierarchy, budget);
    return this.hierarchy.scopes.every((scope) => scope.children.length === 0 || this.open.has(scope.id));
  }

  /** Opens what hides some items; true if anything was hidden. */
  show(items: Iterable<Item>): boolean {
    const before = this.open.size;
    this.open = openAround(this.hierarchy, this.open, items);
    return this.open.size !== before;
  }

  /** The box that stands for an item: its own, or the folded scope's around it. */
  boxOf(item: Item): number {
    const box = this.visible?.boxOfItem[item] ?? -1;
    if (box >= 0 || !this.visible) return box;
    const node = isScope(this.hierarchy, item) ? nodesBelow(this.hierarchy, item)[0] : this.readersOf(item)[0];
    return node === undefined ? -1 : (this.visible.boxOf[node] ?? -1);
  }

  /** The nodes where a node can be seen: itself, or for a stub those that read it. */
  readersOf(node: number): readonly number[] {
    const { scopeOf, table } = this.hierarchy;
    if (scopeOf[node] !== -1) return [node];
    return [...new Set(row(usersOf(table), node))].filter((reader) => scopeOf[reader] !== -1);
  }

  setFindings(findings: readonly NodeFinding[]): void {
    this.findings = findingsOf(this.library, this.entry, findings);
    this.setFilter(this.filter);
  }

  setFilter(filter: Filter): void {
    this.filter = filter;
    this.matches = matchesOf(this.entry.table, filter, this.findings);
    this.recount();
  }

  /** Draws a metric as heat; undefined for none. */
  setOverlay(overlay: Overlay | undefined): void {
    this.overlay = overlay;
    this.recount();
  }

  /** What a metric is for a box, a node or a scope. */
  heatOf(item: Item): Heat | undefined {
    const value = this.overlay && joined(this.overlay, nodesBelow(this.hierarchy, item));
    return this.overlay && value !== undefined ? { level: this.overlay.levelOf(value), text: this.overlay.textOf(value) } : undefined;
  }

  /** Whether a box says something that must not be lost among others, however small it is. */
  isMarked(box: number): boolean {
    return this.related.has(box) || this.matching?.has(box) === true || this.severities[box] !== undefined || this.differences[box] !== undefined;
  }

  /** Compares: this scene is one side of a diff. Opens the scopes with differences, as far as they can be drawn. */
  setDiff(diff: Diff | undefined, side: "left" | "right"): void {
    this.changes = side === "left" ? diff?.leftChanges : diff?.rightChanges;
    const { changes } = this;
    if (changes) {
      const touched = openAround(this.hierarchy, new Set(), this.changedNodes());
      this.open = openUpTo(this.hierarchy, AT_FIRST * 6, (scope) => touched.has(scope.id));
    }
    this.recount();
  }

  /** Nodes that differ from the other graph's, in graph order. */
  changedNodes(): number[] {
    return (this.changes ?? []).flatMap((change, node) => (change === "unchanged" ? [] : [node]));
  }

  /** Nodes to light up. */
  setRelated(nodes: ReadonlySet<number>): void {
    this.relatedNodes = nodes;
    this.related = new Set();
    for (const node of nodes) {
      for (const seen of this.visible ? this.readersOf(node) : []) this.related.add(this.visible?.boxOf[seen] ?? -1);
    }
  }

  setTheme(theme: Theme): void {
    this.fonts = fontsOf(theme.font, theme.mono);
    this.widths.clear();
    this.sizes.widths.fill(0);
  }

  textWidth(text: string, font: keyof Fonts): number {
    const key = `${font}${text}`;
    let width = this.widths.get(key);
    if (width === undefined) {
      if (this.ruler) this.ruler.font = this.fonts[font];
      this.widths.set(key, (width = this.ruler?.measureText(text).width ?? text.length * 7));
    }
    return width;
  }

  private recount(): void {
    const { visible } = this;
    if (!visible) return;
    const total = visible.items.length;
    this.severities = new Array<Severity | undefined>(total);
    this.counts = new Array<number>(total).fill(0);
    const told = new Map<number, Set<NodeFinding>>();
    for (const [node, all] of this.findings) {
      const box = visible.boxOf[node] ?? -1;
      if (box < 0) continue;
      const known = told.get(box) ?? new Set();
      told.set(box, known);
      for (const finding of all) known.add(finding); // one that is at several nodes is one
      this.counts[box] = known.size;
      const severity = worst(all);
      if (this.severities[box] === undefined || ORDER.indexOf(severity) < ORDER.indexOf(this.severities[box])) this.severities[box] = severity;
    }
    this.heat = this.heatOfBoxes(visible);
    this.matching = this.matches && new Set(this.matches.flatMap((node) => this.readersOf(node).map((seen) => visible.boxOf[seen] ?? -1)));
    this.differences = new Array<Differences | undefined>(total);
    this.changes?.forEach((change, node) => {
      const box = visible.boxOf[node] ?? -1;
      if (box < 0 || change === "unchanged") return;
      const known = this.differences[box] ?? { added: 0, removed: 0, changed: 0 };
      this.differences[box] = { ...known, [change]: known[change] + 1 };
    });
    this.setRelated(this.relatedNodes);
  }

  private heatOfBoxes({ items, boxOf }: Visible): (Heat | undefined)[] {
    const { overlay } = this;
    const heat = new Array<Heat | undefined>(items.length);
    if (!overlay) return heat;
    const values = new Float64Array(items.length).fill(-1);
    overlay.values.forEach((value, node) => {
      const box = boxOf[node] ?? -1;
      if (box >= 0 && value >= 0) values[box] = (values[box] ?? -1) < 0 ? value : overlay.join(values[box] ?? 0, value);
    });
    values.forEach((value, box) => { if (value >= 0) heat[box] = { level: overlay.levelOf(value), text: overlay.textOf(value) }; });
    return heat;
  }

  /** Measures what is on show for the first time; many texts in several goes, so that no frame is late. False where `wanted` says no meanwhile. */
  private async measureAll(wanted: () => boolean): Promise<boolean> {
    const { widths } = this.sizes;
    const fresh: Item[] = [];
    eachVisible(this.skeleton, this.open, (item) => { if (widths[item] === 0) fresh.push(item); });
    let began = performance.now();
    for (const item of fresh) {
      this.measure(item);
      if (performance.now() - began < PATIENCE) continue;
      await new Promise((done) => { setTimeout(done); });
      if (!wanted()) return false;
      began = performance.now();
    }
    this.tell();
    return true;
  }

  /** The worker learns what has been measured since it was last told, also by requests that were overtaken. */
  private tell(): void {
    if (this.untold.length === 0) return;
    const items = Int32Array.from(this.untold.splice(0));
    const { widths, heights } = this.sizes;
    this.arranging.measured({ items, widths: Float32Array.from(items, (item) => widths[item] ?? 0), heights: Float32Array.from(items, (item) => heights[item] ?? 0) });
  }

  private measure(item: Item): void {
    const label = this.label(item);
    const scope = this.scope(item);
    const title = this.textWidth(label.title, "title") + (label.beside === "" ? 0 : 8 + this.textWidth(label.beside, "plain"));
    const extra = scope ? 24 + (scope.times > 1 ? 12 + this.textWidth(`× ${scope.times}`, "title") : 0) : 6;
    const width = Math.max(title + extra, this.textWidth(label.line, "mono") + 6, ...label.stubs.map((stub) => this.textWidth(stub, "mono") + 6), 56) + 20;
    this.sizes.widths[item] = Math.ceil(width);
    this.untold.push(item);
    this.sizes.heights[item] = 28 + (label.line === "" ? 0 : 15) + label.stubs.length * 14;
  }
}

function pathOf(scope: Scope | undefined): string {
  return `${scope?.kind ?? ""} ${scope?.path ?? ""} ${scope?.label ?? ""}`;
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text;
}
