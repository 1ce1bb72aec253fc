/**
 * A layered layout in linear time, for one problem of `visible.ts`: scopes from the inside outwards, rows by longest path, graph
 * order kept, no search for fewer crossings. Runs in a worker; needs nothing of the page.
 *
 * A wire over several rows runs through lanes, narrow places kept free in each row between, which all wires of one value share.
 * A wire over too many rows is not drawn: both of its ends become stubs. Positions within a row follow the neighbours above and
 * below: least squares under "no overlap" is an isotonic regression, solved by pooling adjacent violators (Ayer and others, 1955).
 */

import { topological } from "./order.js";
import type { End, OpenScope, Problem, Wire } from "./visible.js";

export const HEADER = 26;
const PADDING = 14;
const GAP = 18;
const LANE = 8;
const ROW_GAP = 26;
/** Longest wire in rows; shorter in scopes with many boxes, where lanes would take all the room. */
const LONGEST = 24;
const LONGEST_IN_CROWD = 6;
const CROWD = 400;
const SWEEPS = 4;
/** Lanes and boxes pull each other only where nothing else does: otherwise every row would drift a little aside. */
const OTHER_PULL = 1e-6;

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

/** A thing in a row: a box, a port, or a lane. */
interface Cell {
  readonly width: number;
  readonly height: number;
  readonly box: number;
  readonly port: number;
  row: number;
  x: number;
  readonly above: Neighbour[];
  readonly below: Neighbour[];
}

interface Neighbour {
  readonly cell: number;
  /** Where the wire is attached, from the middle of the neighbour and of this cell. */
  readonly theirs: number;
  readonly mine: number;
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly fromOffset: number;
  readonly toOffset: number;
  readonly source: number;
  readonly arrow: boolean;
}

interface Arranged {
  readonly cells: Cell[];
  readonly pieces: Piece[];
  readonly rowTop: Float64Array;
  readonly rowHeight: Float64Array;
  readonly hidden: { readonly from: number; readonly to: number }[];
}

export function layoutOf(problem: Problem): Layout {
  const widths = problem.widths.slice();
  const heights = problem.heights.slice();
  /** Where a port stands, from the left of its scope. */
  const portX = new Float32Array(problem.ports.length);
  const sourceOf = sourcesOf(problem);
  const arranged = new Map<number, Arranged>();
  for (const scope of problem.scopes) {
    const inside = arrange(scope, widths, heights, portX, sourceOf);
    arranged.set(scope.box, inside.arranged);
    widths[scope.box] = Math.max(inside.width, problem.widths[scope.box] ?? 0);
    heights[scope.box] = inside.height;
    const shift = ((widths[scope.box] ?? 0) - inside.width) / 2;
    for (const cell of inside.arranged.cells) cell.x += shift;
    for (const cell of inside.arranged.cells) if (cell.port >= 0) portX[cell.port] = cell.x;
  }
  return place(problem, arranged, widths, heights);
}

/** For each port the box that its value comes from: followed through the wires, outermost scopes last. */
function sourcesOf(problem: Problem): Int32Array {
  const source = new Int32Array(problem.ports.length).fill(-1);
  const resolveFrom = (wire: Wire): number => (wire.from < 0 ? (source[-1 - wire.from] ?? -1) : wire.fromPort >= 0 ? (source[wire.fromPort] ?? -1) : wire.from);
  for (const scope of problem.scopes) {
    for (const wire of scope.wires) if (wire.to < 0) source[-1 - wire.to] = resolveFrom(wire);
  }
  for (const scope of [...problem.scopes].reverse()) {
    for (const wire of scope.wires) if (wire.toPort >= 0) source[wire.toPort] = resolveFrom(wire);
  }
  return source;
}

function arrange(
  scope: OpenScope, widths: Float32Array, heights: Float32Array, portX: Float32Array, sourceOf: Int32Array,
): { arranged: Arranged; width: number; height: number } {
  const cells: Cell[] = [];
  const cellOf = new Map<End, number>();
  const add = (box: number, port: number, width: number, height: number, row: number): number => {
    cells.push({ width, height, box, port, row, x: 0, above: [], below: [] });
    return cells.length - 1;
  };
  for (const box of scope.children) cellOf.set(box, add(box, -1, widths[box] ?? 0, heights[box] ?? 0, 0));
  const boxes = cells.length;
  const last = rank(scope, cells, cellOf);
  for (const port of scope.inPorts) cellOf.set(-1 - port, add(-1, port, LANE, 0, 0));
  for (const port of scope.outPorts) cellOf.set(-1 - port, add(-1, port, LANE, 0, last + 1));
  const offset = (end: End, port: number): number => (end < 0 || port < 0 ? 0 : (portX[port] ?? 0) - (widths[end] ?? 0) / 2);
  const pieces: Piece[] = [];
  const hidden: { from: number; to: number }[] = [];
  const lanes = new Map<string, number>();
  const longest = boxes > CROWD ? LONGEST_IN_CROWD : LONGEST;
  const join = (from: number, to: number, fromOffset: number, toOffset: number, source: number, arrow: boolean): void => {
    const [upper, lower] = [cells[from], cells[to]];
    if (!upper || !lower) return;
    upper.below.push({ cell: to, theirs: toOffset, mine: fromOffset });
    lower.above.push({ cell: from, theirs: fromOffset, mine: toOffset });
    pieces.push({ from, to, fromOffset, toOffset, source, arrow });
  };
  for (const wire of scope.wires) {
    const [from, to] = [cellOf.get(wire.from) ?? -1, cellOf.get(wire.to) ?? -1];
    const [start, end] = [cells[from]?.row ?? 0, cells[to]?.row ?? 0];
    if (from < 0 || to < 0 || end <= start) continue;
    const source = wire.from < 0 ? (sourceOf[-1 - wire.from] ?? -1) : wire.fromPort >= 0 ? (sourceOf[wire.fromPort] ?? -1) : wire.from;
    if (end - start > longest) {
      hidden.push({ from, to });
      continue;
    }
    let [at, atOffset] = [from, offset(wire.from, wire.fromPort)];
    for (let row = start + 1; row < end; row += 1) {
      const key = `${from}:${wire.fromPort}:${row}`;
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = add(-1, -1, LANE, 0, row);
        lanes.set(key, lane);
        join(at, lane, atOffset, 0, source, false);
      }
      [at, atOffset] = [lane, 0];
    }
    join(at, to, atOffset, offset(wire.to, wire.toPort), source, wire.to >= 0);
  }
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
  return { arranged: { cells, pieces, rowTop, rowHeight, hidden }, width: width + 2 * PADDING, height: Math.max(y, HEADER) - (inner ? 0 : ROW_GAP) };
}

/** Rows of boxes, from 1, by longest path. Returns the last row. */
function rank(scope: OpenScope, cells: Cell[], cellOf: ReadonlyMap<End, number>): number {
  const before: number[][] = cells.map(() => []);
  for (const wire of scope.wires) {
    const [from, to] = [cellOf.get(wire.from), cellOf.get(wire.to)];
    if (from !== undefined && to !== undefined) before[to]?.push(from);
  }
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

/** Orders each row by what is above it, then moves cells towards their neighbours, downwards and upwards. `x` is a cell's middle. */
function sweep(cells: Cell[], rows: number[][]): number {
  for (const row of rows) {
    const wish = new Map<number, number>();
    let last = 0; // what has nothing above it stays beside what came before it
    for (const index of row) wish.set(index, (last = wished(cells, cells[index], "above") ?? last));
    row.sort((left, right) => (wish.get(left) ?? 0) - (wish.get(right) ?? 0)); // stable: ties stay in graph order
    spread(cells, row, "above");
  }
  for (let pass = 1; pass < SWEEPS; pass += 1) {
    if (pass % 2 === 1) for (const row of [...rows].reverse()) spread(cells, row, "below");
    else for (const row of rows) spread(cells, row, "above");
  }
  let [left, right] = [Infinity, -Infinity];
  for (const cell of cells) {
    left = Math.min(left, cell.x - cell.width / 2);
    right = Math.max(right, cell.x + cell.width / 2);
  }
  if (left === Infinity) return 0;
  for (const cell of cells) cell.x -= left;
  return right - left;
}

function isLane(cell: Cell | undefined): boolean {
  return cell !== undefined && cell.box < 0 && cell.port < 0;
}

function wished(cells: readonly Cell[], cell: Cell | undefined, side: "above" | "below"): number | undefined {
  const neighbours = cell?.[side] ?? [];
  if (neighbours.length === 0) return undefined;
  let [sum, weight] = [0, 0];
  for (const { cell: other, theirs, mine } of neighbours) {
    const next = cells[other];
    const pull = isLane(next) === isLane(cell) ? 1 : OTHER_PULL;
    sum += ((next?.x ?? 0) + theirs - mine) * pull;
    weight += pull;
  }
  return sum / weight;
}

/** Puts the cells of one row, in their order, as near to where they wish to be as the widths allow. */
function spread(cells: readonly Cell[], row: readonly number[], side: "above" | "below"): void {
  const [sums, weights, counts]: [number[], number[], number[]] = [[], [], []];
  const starts = new Float64Array(row.length);
  let start = 0;
  let previous: Cell | undefined;
  row.forEach((index, at) => {
    const cell = cells[index];
    if (!cell) return;
    if (previous) start += (previous.width + cell.width) / 2 + (previous.box < 0 && cell.box < 0 ? LANE / 2 : GAP);
    previous = cell;
    starts[at] = start;
    const wish = wished(cells, cell, side);
    const weight = wish === undefined ? 0.01 : cell.box < 0 ? 3 : 1;
    sums.push(((wish ?? cell.x) - start) * weight);
    weights.push(weight);
    counts.push(1);
    while (sums.length > 1 && mean(sums, weights, -2) > mean(sums, weights, -1)) {
      for (const pool of [sums, weights, counts]) {
        const value = pool.pop() ?? 0;
        pool[pool.length - 1] = (pool.at(-1) ?? 0) + value;
      }
    }
  });
  let at = 0;
  counts.forEach((count, pool) => {
    for (let index = 0; index < count; index += 1, at += 1) {
      const cell = cells[row[at] ?? -1];
      if (cell) cell.x = (starts[at] ?? 0) + (sums[pool] ?? 0) / (weights[pool] ?? 1);
    }
  });
}

function mean(sums: readonly number[], weights: readonly number[], at: number): number {
  return (sums.at(at) ?? 0) / (weights.at(at) ?? 1);
}

/** From positions within scopes to positions in the whole graph. */
function place(problem: Problem, arranged: ReadonlyMap<number, Arranged>, widths: Float32Array, heights: Float32Array): Layout {
  const count = problem.items.length;
  const boxes = new Float32Array(count * 4);
  const [pieces, sources, targets, stubs]: [number[], number[], number[], number[]] = [[], [], [], []];
  boxes.set([0, 0, widths[0] ?? 0, heights[0] ?? 0], 0);
  for (const scope of [...problem.scopes].reverse()) {
    const inside = arranged.get(scope.box);
    if (!inside) continue;
    const [left, top] = [boxes[scope.box * 4] ?? 0, boxes[scope.box * 4 + 1] ?? 0];
    const bottom = top + (heights[scope.box] ?? 0);
    const upper = (cell: Cell): number => cell.port >= 0 ? (problem.ports[cell.port]?.incoming ? top + HEADER : bottom) : top + (inside.rowTop[cell.row] ?? 0);
    const lower = (cell: Cell): number => upper(cell) + (cell.box < 0 ? (cell.port < 0 ? (inside.rowHeight[cell.row] ?? 0) : 0) : cell.height);
    for (const cell of inside.cells) {
      if (cell.box >= 0) boxes.set([left + cell.x - cell.width / 2, upper(cell), cell.width, cell.height], cell.box * 4);
    }
    for (const piece of inside.pieces) {
      const [from, to] = [inside.cells[piece.from], inside.cells[piece.to]];
      if (!from || !to) continue;
      pieces.push(left + from.x + piece.fromOffset, lower(from), left + to.x + piece.toOffset, upper(to));
      sources.push(piece.source);
      targets.push(piece.arrow && to.box >= 0 ? to.box : -1);
      if (to.box < 0 && to.port < 0 && (inside.rowHeight[to.row] ?? 0) > 0) {
        pieces.push(left + to.x, upper(to), left + to.x, lower(to));
        sources.push(piece.source);
        targets.push(-1);
      }
    }
    for (const { from, to } of inside.hidden) {
      const [start, end] = [inside.cells[from], inside.cells[to]];
      if (!start || !end) continue;
      stubs.push(left + start.x, lower(start), end.box, 0, left + end.x, upper(end), start.box, 1);
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
