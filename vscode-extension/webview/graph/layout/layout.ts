/**
 * Where everything stands: scopes are arranged from the inside outwards (`arrange.ts`), then all of them are put into one drawing.
 * Linear in what is open. Runs in a worker; needs nothing of the page.
 *
 * A fold changes one scope and the sizes of those around it. Every other scope is taken as it was arranged before.
 */

import { arrange, type Inside, signatureLength } from "./arrange.js";
import type { Problem } from "./visible.js";

/** Positions are absolute pixels; the whole graph starts at 0, 0. */
export interface Layout {
  /** x, y, width, height of each box. */
  readonly boxes: Float32Array;
  /** x1, y1, x2, y2 of each piece of a wire; pieces run downwards. */
  readonly pieces: Float32Array;
  /** The box where the value of a piece comes from, and the box that the piece ends at (-1 in the middle of a wire). */
  readonly sources: Int32Array;
  readonly targets: Int32Array;
  /** x, y of the stubs of wires that are not drawn, the box at the other end, and 1 where the stub is above its box. */
  readonly stubs: Float32Array;
}

/** By item: the room that it takes where it is not open. An open scope is at least as wide. */
export interface Sizes {
  readonly widths: Float32Array;
  readonly heights: Float32Array;
}

interface Kept {
  readonly inside: Inside;
  used: number;
}

/** What was arranged before, by item of the scope. Those that were not seen for a while are forgotten. */
export class Memory {
  private readonly kept = new Map<number, Kept>();
  private run = 0;

  get size(): number {
    return this.kept.size;
  }

  begin(): void {
    this.run += 1;
    if (this.kept.size <= MOST_KEPT) return;
    for (const [item, { used }] of this.kept) if (used < this.run - 1) this.kept.delete(item);
  }

  /** The scope as it was arranged before, if nothing that matters has changed; arranges it otherwise. */
  insideOf(item: number, signatures: Signatures, box: number): Inside {
    const kept = this.kept.get(item);
    const { length, same } = signatures.write(box, kept?.inside.signature);
    if (kept && same) {
      kept.used = this.run;
      return kept.inside;
    }
    const inside = arrange(signatures.signature.slice(0, length));
    this.kept.set(item, { inside, used: this.run });
    return inside;
  }
}

const MOST_KEPT = 4_000;
const NONE: Float64Array = new Float64Array(0);

/** @param memory what is known of earlier problems of the same graph; it is added to. */
export function layoutOf(problem: Problem, sizes: Sizes, memory: Memory = new Memory()): Layout {
  const count = problem.items.length;
  memory.begin();
  const [widths, heights] = [new Float32Array(count), new Float32Array(count)];
  for (let box = 0; box < count; box += 1) {
    widths[box] = sizes.widths[problem.items[box] ?? 0] ?? 0;
    heights[box] = sizes.heights[problem.items[box] ?? 0] ?? 0;
  }
  const insides = new Array<Inside | undefined>(count).fill(undefined);
  /** By box: what moves a scope's content to the middle where the title is wider. */
  const shifts = new Float32Array(count);
  const signatures = new Signatures(problem, widths, heights, insides, shifts);
  for (let box = count - 1; box >= 0; box -= 1) {
    if (problem.open[box] !== 1) continue;
    const inside = memory.insideOf(problem.items[box] ?? 0, signatures, box);
    insides[box] = inside;
    widths[box] = Math.max(inside.width, widths[box] ?? 0);
    heights[box] = inside.height;
    shifts[box] = ((widths[box] ?? 0) - inside.width) / 2;
  }
  return place(problem, insides, shifts, widths, heights);
}

/** Writes down everything that the arrangement of a scope depends on (`arrange.ts` says in which order). */
class Signatures {
  signature = new Float64Array(4_096);
  private at = 0;
  private known: Float64Array = NONE;
  private same = false;

  constructor(
    private readonly problem: Problem,
    private readonly widths: Float32Array,
    private readonly heights: Float32Array,
    private readonly insides: readonly (Inside | undefined)[],
    private readonly shifts: Float32Array,
  ) {}

  /** Returns how long it is, and whether it is the one that is known. */
  write(box: number, known: Float64Array = NONE): { length: number; same: boolean } {
    const { ends, wires, ports } = this.problem;
    const [first, last] = [wires.offsets[box] ?? 0, wires.offsets[box + 1] ?? 0];
    const end = ends[box] ?? 0;
    let children = 0;
    for (let child = box + 1; child < end; child = ends[child] ?? 0) children += 1;
    const incoming = ports.inside[box] ?? 0;
    const length = signatureLength(children, last - first);
    if (length > this.signature.length) this.signature = new Float64Array(length * 2);
    [this.at, this.known, this.same] = [0, known, known.length === length];
    this.put(Number(box === 0));
    this.put(children);
    this.put(incoming);
    this.put(ports.outside[box] ?? 0);
    for (let child = box + 1; child < end; child = ends[child] ?? 0) {
      this.put(this.widths[child] ?? 0);
      this.put(this.heights[child] ?? 0);
    }
    for (let wire = first; wire < last; wire += 1) {
      const from = wires.from[wire] ?? 0;
      const to = wires.to[wire] ?? 0;
      const fromPort = wires.fromPort[wire] ?? -1;
      this.put(this.cell(from, children, incoming));
      this.put(this.cell(to, children, incoming));
      this.put(this.offset(from, fromPort));
      this.put(this.offset(to, wires.toPort[wire] ?? -1));
      this.put(fromPort < 0 ? -1 : (ports.places[fromPort] ?? 0));
    }
    return { length, same: this.same };
  }

  private put(value: number): void {
    if (this.same && this.known[this.at] !== value) this.same = false;
    this.signature[this.at] = value;
    this.at += 1;
  }

  /** Cells are the boxes in the scope, then its ports, incoming ones first. */
  private cell(end: number, children: number, incoming: number): number {
    const { places, ports } = this.problem;
    if (end >= 0) return places[end] ?? 0;
    const port = -1 - end;
    return children + (ports.incoming[port] === 1 ? 0 : incoming) + (ports.places[port] ?? 0);
  }

  /** How far from the middle of an open box a wire is attached: where the box has the port. */
  private offset(end: number, port: number): number {
    if (end < 0 || port < 0) return 0;
    const { ports } = this.problem;
    const place = (ports.incoming[port] === 1 ? 0 : (ports.inside[end] ?? 0)) + (ports.places[port] ?? 0);
    return (this.insides[end]?.portX[place] ?? 0) + (this.shifts[end] ?? 0) - (this.widths[end] ?? 0) / 2;
  }
}

/** From positions within scopes to positions in the whole graph. */
function place({ items, open, ends, wires }: Problem, insides: readonly (Inside | undefined)[], shifts: Float32Array, widths: Float32Array, heights: Float32Array): Layout {
  let [pieceCount, stubCount] = [0, 0];
  for (const inside of insides) {
    pieceCount += inside?.pieceWires.length ?? 0;
    stubCount += inside?.stubWires.length ?? 0;
  }
  const boxes = new Float32Array(items.length * 4);
  const pieces = new Float32Array(pieceCount * 4);
  const sources = new Int32Array(pieceCount);
  const targets = new Int32Array(pieceCount);
  const stubs = new Float32Array(stubCount * 8);
  boxes[2] = widths[0] ?? 0;
  boxes[3] = heights[0] ?? 0;
  const children = new Int32Array(items.length);
  let [piece, stub] = [0, 0];
  for (let box = 0; box < items.length; box += 1) {
    const inside = insides[box];
    if (open[box] !== 1 || !inside) continue;
    const left = (boxes[box * 4] ?? 0) + (shifts[box] ?? 0);
    const top = boxes[box * 4 + 1] ?? 0;
    const first = wires.offsets[box] ?? 0;
    const end = ends[box] ?? 0;
    let place = 0;
    for (let child = box + 1; child < end; child = ends[child] ?? 0, place += 1) {
      boxes[child * 4] = left + (inside.x[place] ?? 0);
      boxes[child * 4 + 1] = top + (inside.y[place] ?? 0);
      boxes[child * 4 + 2] = widths[child] ?? 0;
      boxes[child * 4 + 3] = heights[child] ?? 0;
      children[place] = child;
    }
    const { pieces: own, pieceWires, pieceTargets } = inside;
    for (let at = 0; at < pieceWires.length; at += 1, piece += 1) {
      pieces[piece * 4] = left + (own[at * 4] ?? 0);
      pieces[piece * 4 + 1] = top + (own[at * 4 + 1] ?? 0);
      pieces[piece * 4 + 2] = left + (own[at * 4 + 2] ?? 0);
      pieces[piece * 4 + 3] = top + (own[at * 4 + 3] ?? 0);
      sources[piece] = wires.value[first + (pieceWires[at] ?? 0)] ?? -1;
      const target = pieceTargets[at] ?? -1;
      targets[piece] = target < 0 ? -1 : (children[target] ?? -1);
    }
    for (let own = 0; own < inside.stubWires.length; own += 1, stub += 8) {
      const wire = first + (inside.stubWires[own] ?? 0);
      stubs[stub] = left + (inside.stubs[own * 4] ?? 0);
      stubs[stub + 1] = top + (inside.stubs[own * 4 + 1] ?? 0);
      stubs[stub + 2] = Math.max(-1, wires.to[wire] ?? -1);
      stubs[stub + 4] = left + (inside.stubs[own * 4 + 2] ?? 0);
      stubs[stub + 5] = top + (inside.stubs[own * 4 + 3] ?? 0);
      stubs[stub + 6] = wires.value[wire] ?? -1;
      stubs[stub + 7] = 1;
    }
  }
  return { boxes, pieces, sources, targets, stubs };
}
