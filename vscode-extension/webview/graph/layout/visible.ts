/**
 * What is on show: a box for each item in an open scope, and the wires between boxes, as a problem for the layout.
 *
 * Boxes are numbered as a tree is written: a scope, then all that is in it. The first is the whole graph. A wire from one box to
 * another may leave and enter open scopes; at each border it passes a port. All wires of one box pass a border at the same port,
 * so that they share a trunk.
 *
 * This runs for every fold, over all that is open: numbers in typed arrays, no objects and no texts as keys.
 */

import { Numbers, Pairs } from "./numbers.js";
import type { Skeleton } from "./skeleton.js";

/** Boxes by number, and how to find them. */
export interface Boxes {
  readonly items: Int32Array;
  /** 1 for a scope that shows what is in it. */
  readonly open: Uint8Array;
  readonly parents: Int32Array;
  /** The number behind the last box that is in a box; behind itself for those that are not open. */
  readonly ends: Int32Array;
  /** Its number among the boxes beside it. */
  readonly places: Int32Array;
  /** The box of an item; -1 where it has none of its own. */
  readonly boxOfItem: Int32Array;
  /** The box that stands for a node: its own, or that of the folded scope around it; -1 for stubs. */
  readonly boxOf: Int32Array;
}

/** Pieces of wires within one scope each; those of the scope of box `b` are `offsets[b]` up to `offsets[b + 1]`. */
export interface Wires {
  readonly offsets: Uint32Array;
  /** A box, or -1 - the number of a port in the scope's own border. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** The port of an open box that the wire comes out of or goes into; -1 where the box is not open. */
  readonly fromPort: Int32Array;
  readonly toPort: Int32Array;
  /** The box that the value comes from, wherever it stands. */
  readonly value: Int32Array;
}

export interface Ports {
  /** The open box that has the port in its border, whether wires come in by it, and its number among those on the same side. */
  readonly box: Int32Array;
  readonly incoming: Uint8Array;
  readonly places: Int32Array;
  /** By box: how many there are on each side. */
  readonly inside: Int32Array;
  readonly outside: Int32Array;
}

export interface Visible extends Boxes {
  /** Which boxes a wire starts and ends at: pairs. */
  readonly links: Uint32Array;
}

export interface Problem extends Visible {
  readonly wires: Wires;
  readonly ports: Ports;
}

/** Lists that are filled anew for each fold. They are kept, because making and clearing away so much memory takes longer than filling it. */
export class Room {
  readonly seen = new Pairs();
  readonly known = new Pairs();
  readonly links = new Numbers();
  readonly items = new Numbers();
  readonly parents = new Numbers();
  readonly places = new Numbers();
  readonly ports = { box: new Numbers(), incoming: new Numbers(), places: new Numbers() };
  /** As they are found, and by scope. */
  readonly wires = { scope: new Numbers(), ...wireLists() };
  readonly sorted = wireLists();

  clear(): void {
    const lists = [this.ports, this.wires, this.sorted].flatMap((group): Numbers[] => Object.values(group));
    for (const list of [this.seen, this.known, this.links, this.items, this.parents, this.places, ...lists]) list.clear();
  }
}

function wireLists(): Readonly<Record<Exclude<keyof Wires, "offsets">, Numbers>> {
  return { from: new Numbers(), to: new Numbers(), fromPort: new Numbers(), toPort: new Numbers(), value: new Numbers() };
}

/** The problem holds until `room` is used again; what is in `Visible` stays. */
export function visibleOf(skeleton: Skeleton, open: ReadonlySet<number>, room = new Room()): Problem {
  room.clear();
  const boxes = boxesOf(skeleton, open, room);
  const routes = new Routes(boxes, room);
  const { links, seen } = room;
  const { offsets, values } = skeleton.inputs;
  for (let node = 0; node < skeleton.count; node += 1) {
    const to = boxes.boxOf[node] ?? -1;
    if (to < 0) continue;
    for (let at = offsets[node] ?? 0; at < (offsets[node + 1] ?? 0); at += 1) {
      const from = boxes.boxOf[values[at] ?? 0] ?? -1;
      if (from < 0 || from === to || !seen.add(from, to)) continue;
      links.push(from);
      links.push(to);
      routes.connect(from, to);
    }
  }
  return { ...boxes, links: new Uint32Array(links.all().buffer), wires: routes.wires(), ports: routes.ports() };
}

function boxesOf(skeleton: Skeleton, openScopes: ReadonlySet<number>, { items, parents, places }: Room): Boxes {
  const { count, parents: parentOf, children, order, scopeOf } = skeleton;
  const boxOfItem = new Int32Array(count + parentOf.length).fill(-1);
  const ends = new Int32Array(count + parentOf.length);
  const open = new Uint8Array(count + parentOf.length);
  const put = (item: number, parent: number, place: number): void => {
    const box = items.size;
    items.push(item);
    parents.push(parent);
    places.push(place);
    boxOfItem[item] = box;
    const scope = item - count;
    if (scope >= 0 && (box === 0 || openScopes.has(scope))) {
      open[box] = 1;
      const first = children.offsets[scope] ?? 0;
      for (let at = first; at < (children.offsets[scope + 1] ?? 0); at += 1) put(children.values[at] ?? 0, box, at - first);
    }
    ends[box] = items.size;
  };
  put(count, -1, 0);
  /** By scope: the box of the folded scope around all that is in it; -1 where it is in none. */
  const folded = new Int32Array(parentOf.length).fill(-1);
  for (const scope of order) {
    const outer = folded[parentOf[scope] ?? -1] ?? -1;
    const own = boxOfItem[count + scope] ?? -1;
    folded[scope] = outer >= 0 ? outer : open[own] === 1 ? -1 : own;
  }
  const boxOf = new Int32Array(count).fill(-1);
  for (let node = 0; node < count; node += 1) {
    const scope = scopeOf[node] ?? -1;
    if (scope < 0) continue;
    const around = folded[scope] ?? -1;
    boxOf[node] = around >= 0 ? around : (boxOfItem[node] ?? -1);
  }
  return { items: items.all(), open: open.slice(0, items.size), parents: parents.all(), ends: ends.slice(0, items.size), places: places.all(), boxOfItem, boxOf };
}

/** Cuts wires at the borders that they cross. Each pair of boxes may be connected once only. */
class Routes {
  private readonly inside: Int32Array;
  private readonly outside: Int32Array;
  private fresh = false;

  constructor(private readonly boxes: Boxes, private readonly room: Room) {
    this.inside = new Int32Array(boxes.items.length);
    this.outside = new Int32Array(boxes.items.length);
  }

  connect(from: number, to: number): void {
    const { parents, ends } = this.boxes;
    let target = to;
    let targetPort = -1;
    let outer = parents[target] ?? 0;
    while (from < outer || from >= (ends[outer] ?? 0)) {
      const port = this.port(outer, from, 1);
      this.wire(outer, -1 - port, target, -1, targetPort, from);
      if (!this.fresh) return; // the value comes in here already: so does all that leads here
      target = outer;
      targetPort = port;
      outer = parents[outer] ?? 0;
    }
    let source = from;
    let sourcePort = -1;
    for (let inner = parents[source] ?? 0; inner !== outer; inner = parents[inner] ?? 0) {
      const port = this.port(inner, from, 0);
      if (this.fresh) this.wire(inner, source, -1 - port, sourcePort, -1, from);
      source = inner;
      sourcePort = port;
    }
    this.wire(outer, source, target, sourcePort, targetPort, from);
  }

  ports(): Ports {
    const { box, incoming, places } = this.room.ports;
    return { box: box.view(), incoming: Uint8Array.from(incoming.view()), places: places.view(), inside: this.inside, outside: this.outside };
  }

  /** By scope, each scope's in the order in which they were found. */
  wires(): Wires {
    const { wires, sorted } = this.room;
    const scopes = wires.scope.view();
    const offsets = new Uint32Array(this.boxes.items.length + 1);
    for (const scope of scopes) offsets[scope + 1] = (offsets[scope + 1] ?? 0) + 1;
    for (let box = 0; box + 1 < offsets.length; box += 1) offsets[box + 1] = (offsets[box + 1] ?? 0) + (offsets[box] ?? 0);
    const next = offsets.slice();
    const places = new Uint32Array(scopes.length);
    for (let wire = 0; wire < scopes.length; wire += 1) {
      const scope = scopes[wire] ?? 0;
      const place = next[scope] ?? 0;
      next[scope] = place + 1;
      places[wire] = place;
    }
    const inOrder = (name: keyof typeof sorted): Int32Array => {
      sorted[name].sort(wires[name], places);
      return sorted[name].view();
    };
    return { offsets, from: inOrder("from"), to: inOrder("to"), fromPort: inOrder("fromPort"), toPort: inOrder("toPort"), value: inOrder("value") };
  }

  /** The port by which the wires of one box cross a border; `fresh` says whether it is new. */
  private port(box: number, value: number, incoming: 0 | 1): number {
    const { known, ports } = this.room;
    const port = known.indexOf(box * 2 + incoming, value);
    this.fresh = port === ports.box.size;
    if (!this.fresh) return port;
    const side = incoming === 1 ? this.inside : this.outside;
    ports.box.push(box);
    ports.incoming.push(incoming);
    ports.places.push(side[box] ?? 0);
    side[box] = (side[box] ?? 0) + 1;
    return port;
  }

  private wire(scope: number, from: number, to: number, fromPort: number, toPort: number, value: number): void {
    const { wires } = this.room;
    wires.scope.push(scope);
    wires.from.push(from);
    wires.to.push(to);
    wires.fromPort.push(fromPort);
    wires.toPort.push(toPort);
    wires.value.push(value);
  }
}
