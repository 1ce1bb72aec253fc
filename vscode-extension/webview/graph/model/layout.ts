/**
 * A layered layout in linear time, for one problem of `visible.ts`: scopes from the inside outwards, rows by longest path, graph
 * order kept, no search for fewer crossings. Runs in a worker; needs nothing of the page.
 *
 * A wire over several rows runs through lanes, narrow places kept free in each row between, which all wires of one value share.
 * A wire over too many rows is not drawn: both of its ends become stubs.
 *
 * A fold changes one scope and the sizes of those around it. Every other scope is taken as it was arranged before.
 */

import { topological } from "./order.js";
import { type Cell, LANE, sweep } from "./rows.js";
import type { End, OpenScope, Problem, Wire } from "./visible.js";

export const HEADER = 26;
const PADDING = 14;
const ROW_GAP = 26;
/** Longest wire in rows; shorter in scopes with many boxes, where lanes would take all the room. */
const LONGEST = 24;
const LONGEST_IN_CROWD = 6;
const CROWD = 400;

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

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly fromOffset: number;
  readonly toOffset: number;
  /** Number of the wire that it is a piece of. */
  readonly wire: number;
  readonly arrow: boolean;
}

/** One scope by itself: nothing in it says where the scope stands or how boxes are numbered in the whole problem. */
interface Arranged {
  readonly cells: Cell[];
  readonly pieces: Piece[];
  readonly rowTop: Float64Array;
  readonly rowHeight: Float64Array;
  readonly hidden: { readonly from: number; readonly to: number }[];
  readonly width: number;
  readonly height: number;
}

/** Where a wire starts and ends within its scope: cells, and how far from their middles. */
interface Joint {
  readonly from: number;
  readonly to: number;
  readonly fromOffset: number;
  readonly toOffset: number;
  /** Number of the port that it comes out of, among those of the wires of the scope; -1 for none. */
  readonly fromPort: number;
}

interface Kept {
  readonly signature: Float64Array;
  readonly arranged: Arranged;
}

/** What was arranged before, by item of the scope. */
export type Memory = Map<number, Kept>;

const MOST_KEPT = 4_000;

interface Placed {
  readonly inside: Arranged;
  /** What moves a scope's content to the middle where the title is wider. */
  readonly shift: number;
}

/** @param memory what is known of earlier problems; it is added to. */
export function layoutOf(problem: Problem, memory: Memory = new Map()): Layout {
  if (memory.size > MOST_KEPT) memory.clear();
  const widths = problem.widths.slice();
  const heights = problem.heights.slice();
  /** Where a port stands, from the left of its scope. */
  const portX = new Float32Array(problem.ports.length);
  const sourceOf = sourcesOf(problem);
  const arranged = new Map<number, Placed>();
  for (const scope of problem.scopes) {
    const inside = remembered(scope, widths, heights, portX, memory, problem.items[scope.box] ?? 0);
    widths[scope.box] = Math.max(inside.width, problem.widths[scope.box] ?? 0);
    heights[scope.box] = inside.height;
    const shift = ((widths[scope.box] ?? 0) - inside.width) / 2;
    arranged.set(scope.box, { inside, shift });
    for (const cell of inside.cells) if (cell.port >= 0) portX[portOf(scope, cell)] = cell.x + shift;
  }
  return place(problem, arranged, sourceOf, widths, heights);
}

function portOf({ inPorts, outPorts }: OpenScope, { port }: Cell): number {
  return (port < inPorts.length ? inPorts[port] : outPorts[port - inPorts.length]) ?? -1;
}

function sourceOfWire(wire: Wire | undefined, sources: Int32Array): number {
  if (!wire) return -1;
  if (wire.from < 0) return sources[-1 - wire.from] ?? -1;
  return wire.fromPort >= 0 ? (sources[wire.fromPort] ?? -1) : wire.from;
}

/** The scope as it was arranged before, if nothing in it has changed; arranges it otherwise. */
function remembered(scope: OpenScope, widths: Float32Array, heights: Float32Array, portX: Float32Array, memory: Memory, item: number): Arranged {
  const joints = jointsOf(scope, widths, portX);
  const signature = signatureOf(scope, joints, widths, heights);
  const kept = memory.get(item);
  if (kept?.signature.length === signature.length && kept.signature.every((value, at) => value === signature[at])) return kept.arranged;
  const arranged = arrange(scope, joints, widths, heights);
  memory.set(item, { signature, arranged });
  return arranged;
}

function jointsOf(scope: OpenScope, widths: Float32Array, portX: Float32Array): Joint[] {
  const cellOf = new Map<End, number>();
  for (const end of scope.children) cellOf.set(end, cellOf.size);
  for (const port of scope.inPorts) cellOf.set(-1 - port, cellOf.size);
  for (const port of scope.outPorts) cellOf.set(-1 - port, cellOf.size);
  const ports = new Map<number, number>();
  const offset = (end: End, port: number): number => (end < 0 || port < 0 ? 0 : (portX[port] ?? 0) - (widths[end] ?? 0) / 2);
  return scope.wires.map(({ from, to, fromPort, toPort }) => {
    if (fromPort >= 0 && !ports.has(fromPort)) ports.set(fromPort, ports.size);
    return { from: cellOf.get(from) ?? -1, to: cellOf.get(to) ?? -1, fromOffset: offset(from, fromPort), toOffset: offset(to, toPort), fromPort: ports.get(fromPort) ?? -1 };
  });
}

/** Everything that the arrangement depends on. */
function signatureOf({ box, children, inPorts, outPorts }: OpenScope, joints: readonly Joint[], widths: Float32Array, heights: Float32Array): Float64Array {
  const signature = new Float64Array(4 + children.length * 2 + joints.length * 5);
  signature.set([Number(box === 0), children.length, inPorts.length, outPorts.length]);
  let at = 4;
  for (const child of children) {
    signature[at++] = widths[child] ?? 0;
    signature[at++] = heights[child] ?? 0;
  }
  for (const { from, to, fromOffset, toOffset, fromPort } of joints) {
    signature[at++] = from;
    signature[at++] = to;
    signature[at++] = fromOffset;
    signature[at++] = toOffset;
    signature[at++] = fromPort;
  }
  return signature;
}

/** For each port the box that its value comes from: followed through the wires, outermost scopes last. */
function sourcesOf(problem: Problem): Int32Array {
  const source = new Int32Array(problem.ports.length).fill(-1);
  for (const scope of problem.scopes) {
    for (const wire of scope.wires) if (wire.to < 0) source[-1 - wire.to] = sourceOfWire(wire, source);
  }
  for (const scope of [...problem.scopes].reverse()) {
    for (const wire of scope.wires) if (wire.toPort >= 0) source[wire.toPort] = sourceOfWire(wire, source);
  }
  return source;
}

function arrange(scope: OpenScope, joints: readonly Joint[], widths: Float32Array, heights: Float32Array): Arranged {
  const cells: Cell[] = [];
  const add = (box: number, port: number, width: number, height: number, row: number): number => {
    cells.push({ width, height, box, port, row, x: 0, above: [], below: [] });
    return cells.length - 1;
  };
  scope.children.forEach((box, child) => add(child, -1, widths[box] ?? 0, heights[box] ?? 0, 0));
  const boxes = cells.length;
  const last = rank(joints, cells);
  scope.inPorts.forEach((_port, at) => add(-1, at, LANE, 0, 0));
  scope.outPorts.forEach((_port, at) => add(-1, scope.inPorts.length + at, LANE, 0, last + 1));
  const pieces: Piece[] = [];
  const hidden: { from: number; to: number }[] = [];
  const lanes = new Map<string, number>();
  const longest = boxes > CROWD ? LONGEST_IN_CROWD : LONGEST;
  const join = (from: number, to: number, fromOffset: number, toOffset: number, wire: number, arrow: boolean): void => {
    const [upper, lower] = [cells[from], cells[to]];
    if (!upper || !lower) return;
    upper.below.push({ cell: to, theirs: toOffset, mine: fromOffset });
    lower.above.push({ cell: from, theirs: fromOffset, mine: toOffset });
    pieces.push({ from, to, fromOffset, toOffset, wire, arrow });
  };
  joints.forEach(({ from, to, fromOffset, toOffset, fromPort }, wire) => {
    const [start, end] = [cells[from]?.row ?? 0, cells[to]?.row ?? 0];
    if (from < 0 || to < 0 || end <= start) return;
    if (end - start > longest) {
      hidden.push({ from, to });
      return;
    }
    let [at, atOffset] = [from, fromOffset];
    for (let row = start + 1; row < end; row += 1) {
      const key = `${from}:${fromPort}:${row}`;
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = add(-1, -1, LANE, 0, row);
        lanes.set(key, lane);
        join(at, lane, atOffset, 0, wire, false);
      }
      [at, atOffset] = [lane, 0];
    }
    join(at, to, atOffset, toOffset, wire, to < boxes);
  });
  const rows: number[][] = Array.from({ length: last + 2 }, () => []);
  cells.forEach((cell, index) => rows[cell.row]?.push(index));
  const width = sweep(cells, rows);
  const inner = scope.box !== 0;
  let y = inner ? HEADER : 0;
  const [rowTop, rowHeight] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  rows.forEach((row, index) => {
    const height = row.reduce((tallest, cell) => Math.max(tallest, cells[cell]?.height ?? 0), 0);
    rowTop[index] = y;
    rowHeight[index] = height;
    const outside = index === 0 || index >= last;
    y += height + (row.length === 0 ? 0 : outside && height === 0 ? 12 : gapBelow(cells, row));
  });
  for (const cell of cells) cell.x += PADDING;
  return { cells, pieces, rowTop, rowHeight, hidden, width: width + 2 * PADDING, height: Math.max(y, HEADER) - (inner ? 0 : ROW_GAP) };
}

/** Rows of boxes, from 1, by longest path. Returns the last row. */
function rank(joints: readonly Joint[], cells: Cell[]): number {
  const before: number[][] = cells.map(() => []);
  for (const { from, to } of joints) if (from >= 0 && from < cells.length) before[to]?.push(from);
  let last = 0;
  for (const index of topological(cells.length, (cell) => before[cell] ?? [])) {
    const cell = cells[index];
    if (!cell) continue;
    cell.row = 1;
    for (const need of before[index] ?? []) cell.row = Math.max(cell.row, (cells[need]?.row ?? 0) + 1);
    last = Math.max(last, cell.row);
  }
  return last;
}

/** Room for the curves below a row: more where they run far sideways. */
function gapBelow(cells: readonly Cell[], row: readonly number[]): number {
  let far = 0;
  for (const index of row) {
    const cell = cells[index];
    for (const { cell: other, theirs, mine } of cell?.below ?? []) far = Math.max(far, Math.abs((cells[other]?.x ?? 0) + theirs - (cell?.x ?? 0) - mine));
  }
  return ROW_GAP + Math.min(54, far / 9);
}

/** From positions within scopes to positions in the whole graph. */
function place(problem: Problem, arranged: ReadonlyMap<number, Placed>, sourceOf: Int32Array, widths: Float32Array, heights: Float32Array): Layout {
  const count = problem.items.length;
  const boxes = new Float32Array(count * 4);
  const [pieces, sources, targets, stubs]: [number[], number[], number[], number[]] = [[], [], [], []];
  boxes.set([0, 0, widths[0] ?? 0, heights[0] ?? 0], 0);
  for (const scope of [...problem.scopes].reverse()) {
    const { inside, shift } = arranged.get(scope.box) ?? {};
    if (!inside || shift === undefined) continue;
    const [left, top] = [(boxes[scope.box * 4] ?? 0) + shift, boxes[scope.box * 4 + 1] ?? 0];
    const boxOf = (cell: Cell): number => scope.children[cell.box] ?? -1;
    const bottom = top + (heights[scope.box] ?? 0);
    const upper = (cell: Cell): number => cell.port >= 0 ? (cell.port < scope.inPorts.length ? top + HEADER : bottom) : top + (inside.rowTop[cell.row] ?? 0);
    const lower = (cell: Cell): number => upper(cell) + (cell.box < 0 ? (cell.port < 0 ? (inside.rowHeight[cell.row] ?? 0) : 0) : cell.height);
    for (const cell of inside.cells) {
      if (cell.box >= 0) boxes.set([left + cell.x - cell.width / 2, upper(cell), cell.width, cell.height], boxOf(cell) * 4);
    }
    for (const piece of inside.pieces) {
      const [from, to] = [inside.cells[piece.from], inside.cells[piece.to]];
      if (!from || !to) continue;
      pieces.push(left + from.x + piece.fromOffset, lower(from), left + to.x + piece.toOffset, upper(to));
      const source = sourceOfWire(scope.wires[piece.wire], sourceOf);
      sources.push(source);
      targets.push(piece.arrow ? boxOf(to) : -1);
      if (to.box < 0 && to.port < 0 && (inside.rowHeight[to.row] ?? 0) > 0) {
        pieces.push(left + to.x, upper(to), left + to.x, lower(to));
        sources.push(source);
        targets.push(-1);
      }
    }
    for (const { from, to } of inside.hidden) {
      const [start, end] = [inside.cells[from], inside.cells[to]];
      if (!start || !end) continue;
      stubs.push(left + start.x, lower(start), boxOf(end), 0, left + end.x, upper(end), boxOf(start), 1);
    }
  }
  return {
    boxes,
    pieces: Float32Array.from(pieces),
    sources: Int32Array.from(sources),
    targets: Int32Array.from(targets),
    stubs: Float32Array.from(stubs),
  };
}
