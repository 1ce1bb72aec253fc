/**
 * What is on show: the open scopes, the boxes in them, and the wires between them, as a problem for the layout.
 *
 * A wire from one box to another may leave and enter open scopes; at each border it passes a port. A wire knows the box it
 * starts from, so that all wires of one value share a trunk.
 */

import { ancestorsOf, type Hierarchy, isScope, type Item, type Scope } from "./hierarchy.js";

/** An end of a wire within one scope: a box (number of the box), or a port in the scope's border (-1 - number of the port). */
export type End = number;

export interface Wire {
  readonly from: End;
  readonly to: End;
  /** The port of the open box that the wire comes out of or goes into; -1 where the box is no open scope. */
  readonly fromPort: number;
  readonly toPort: number;
}

export interface Port {
  /** The box of the open scope that has the port in its border. */
  readonly box: number;
  readonly incoming: boolean;
}

export interface OpenScope {
  /** The box of the scope; 0 for the whole graph. */
  readonly box: number;
  readonly children: number[];
  readonly wires: Wire[];
  readonly inPorts: number[];
  readonly outPorts: number[];
}

/** The problem. Boxes are numbered; the first is the whole graph. Sizes are those of boxes that are not open. */
export interface Problem {
  readonly items: Int32Array;
  readonly widths: Float32Array;
  readonly heights: Float32Array;
  /** Open scopes, inner ones before outer ones. */
  readonly scopes: OpenScope[];
  readonly ports: Port[];
  /** Which box a wire of the graph starts and ends at: pairs, for highlighting. */
  readonly links: Uint32Array;
}

export interface Visible extends Problem {
  /** The box that stands for a node: its own, or that of the folded scope around it; -1 for stubs. */
  readonly boxOf: Int32Array;
  readonly boxOfItem: ReadonlyMap<Item, number>;
}

export type Measure = (item: Item, open: boolean) => readonly [width: number, height: number];

/** Linear in the graph (its edges are looked at once), however little is open. */
export function visibleOf(hierarchy: Hierarchy, open: ReadonlySet<number>, measure: Measure): Visible {
  const { table, scopes, scopeOf } = hierarchy;
  const items: Item[] = [];
  const parents: number[] = [];
  const depths: number[] = [];
  const boxOfItem = new Map<Item, number>();
  const found: OpenScope[] = [];
  const openOf = new Map<number, OpenScope>();
  const closedBox = new Int32Array(scopes.length).fill(-1);
  const closeBelow = (scope: Scope, box: number): void => {
    const waiting = [scope];
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      closedBox[next.id] = box;
      for (const child of next.children) {
        const inner = isScope(hierarchy, child) ? scopes[child - table.count] : undefined;
        if (inner) waiting.push(inner);
      }
    }
  };
  const place = (item: Item, parent: number): void => {
    const box = items.length;
    items.push(item);
    parents.push(parent);
    depths.push((depths[parent] ?? -1) + 1);
    boxOfItem.set(item, box);
    const scope = isScope(hierarchy, item) ? scopes[item - table.count] : undefined;
    if (!scope) return;
    if (box !== 0 && !open.has(scope.id)) {
      closeBelow(scope, box);
      return;
    }
    const opened: OpenScope = { box, children: [], wires: [], inPorts: [], outPorts: [] };
    openOf.set(box, opened);
    for (const child of scope.children) {
      opened.children.push(items.length);
      place(child, box);
    }
    found.push(opened);
  };
  place(table.count, -1);
  const boxOf = new Int32Array(table.count).fill(-1);
  for (let node = 0; node < table.count; node += 1) {
    const scope = scopeOf[node] ?? -1;
    if (scope < 0) continue;
    const closed = closedBox[scope] ?? -1;
    boxOf[node] = closed >= 0 ? closed : (boxOfItem.get(node) ?? -1);
  }
  const routes = new Routes(openOf, parents, depths);
  const links: number[] = [];
  const seen = new Set<number>();
  const { offsets, values } = table.inputs; // no `row` here: it makes an object for every node
  for (let node = 0; node < table.count; node += 1) {
    const to = boxOf[node] ?? -1;
    if (to < 0) continue;
    for (let at = offsets[node] ?? 0; at < (offsets[node + 1] ?? 0); at += 1) {
      const from = boxOf[values[at] ?? 0] ?? -1;
      const key = from * items.length + to;
      if (from < 0 || from === to || seen.has(key)) continue;
      seen.add(key);
      links.push(from, to);
      routes.connect(from, to);
    }
  }
  const sizes = items.map((item, box) => measure(item, openOf.has(box)));
  return {
    items: Int32Array.from(items),
    widths: Float32Array.from(sizes, ([width]) => width),
    heights: Float32Array.from(sizes, ([, height]) => height),
    scopes: found,
    ports: routes.ports,
    links: Uint32Array.from(links),
    boxOf,
    boxOfItem,
  };
}

/** Cuts wires at the borders that they cross. */
class Routes {
  readonly ports: Port[] = [];
  private readonly known = new Map<string, number>();
  private readonly drawn = new Set<string>();

  constructor(
    private readonly open: ReadonlyMap<number, OpenScope>,
    private readonly parents: readonly number[],
    private readonly depths: readonly number[],
  ) {}

  connect(from: number, to: number): void {
    let [source, target] = [from, to];
    let [sourcePort, targetPort] = [-1, -1];
    const up = (box: number): number => this.parents[box] ?? 0;
    const depth = (box: number): number => this.depths[box] ?? 0;
    while (up(source) !== up(target)) {
      if (depth(source) >= depth(target)) {
        const outer = up(source);
        const port = this.port(outer, from, false);
        this.wire(outer, { from: source, to: -1 - port, fromPort: sourcePort, toPort: -1 });
        [source, sourcePort] = [outer, port];
      } else {
        const outer = up(target);
        const port = this.port(outer, from, true);
        this.wire(outer, { from: -1 - port, to: target, fromPort: -1, toPort: targetPort });
        [target, targetPort] = [outer, port];
      }
    }
    this.wire(up(source), { from: source, to: target, fromPort: sourcePort, toPort: targetPort });
  }

  private port(box: number, value: number, incoming: boolean): number {
    const key = `${box}:${value}:${incoming ? "in" : "out"}`;
    let port = this.known.get(key);
    if (port === undefined) {
      port = this.ports.length;
      this.ports.push({ box, incoming });
      this.known.set(key, port);
      const scope = this.open.get(box);
      (incoming ? scope?.inPorts : scope?.outPorts)?.push(port);
    }
    return port;
  }

  private wire(scope: number, wire: Wire): void {
    const key = `${scope}:${wire.from}:${wire.to}:${wire.fromPort}:${wire.toPort}`;
    if (this.drawn.has(key)) return;
    this.drawn.add(key);
    this.open.get(scope)?.wires.push(wire);
  }
}

/** Scopes to open so that a graph shows as much as fits into a number of boxes: outer ones first. */
export function openUpTo(hierarchy: Hierarchy, budget: number, wanted: (scope: Scope) => boolean = () => true): Set<number> {
  const open = new Set<number>([0]);
  let boxes = hierarchy.scopes[0]?.children.length ?? 0;
  let waiting = [0];
  while (waiting.length > 0) {
    const next: number[] = [];
    for (const id of waiting) {
      for (const child of hierarchy.scopes[id]?.children ?? []) {
        const scope = isScope(hierarchy, child) ? hierarchy.scopes[child - hierarchy.table.count] : undefined;
        if (!scope || !wanted(scope) || boxes + scope.children.length > budget) continue;
        boxes += scope.children.length;
        open.add(scope.id);
        next.push(scope.id);
      }
    }
    waiting = next;
  }
  return open;
}

/** The open scopes with those around some items added. */
export function openAround(hierarchy: Hierarchy, open: ReadonlySet<number>, items: Iterable<Item>): Set<number> {
  const wider = new Set(open);
  for (const item of items) for (const scope of ancestorsOf(hierarchy, item)) wider.add(scope.id);
  return wider;
}
