/**
 * A layered layout of one scope by itself, in linear time: rows by longest path, graph order kept, no search for fewer crossings.
 *
 * A wire over several rows runs through lanes, narrow places kept free in each row between, which all wires of one value share.
 * A wire over too many rows is not drawn: both of its ends become stubs.
 *
 * Everything that the result depends on is in its `signature`, a list of numbers, so that equal scopes can be told by it:
 *   1 for the whole graph; how many boxes, incoming ports and outgoing ports; width and height of each box; for each wire the cells
 *   at its two ends, how far from their middles it is attached, and which port of the first it comes out of (-1 for none).
 * Cells are numbered: boxes, incoming ports, outgoing ports.
 */

import { topological } from "./order.js";
import { type Cell, LANE, sweep } from "./rows.js";

export const HEADER = 26;
const PADDING = 14;
const ROW_GAP = 26;
/** Longest wire in rows; shorter in scopes with many boxes, where lanes would take all the room. */
const LONGEST = 24;
const LONGEST_IN_CROWD = 6;
const CROWD = 400;
/** A box that ends this much above its row's end is short beside the others. */
const SHORT = 24;

/** A scope, arranged. Positions are from its left top corner; boxes by number in the scope, wires by number among the scope's. */
export interface Inside {
  readonly signature: Float64Array;
  readonly width: number;
  readonly height: number;
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Where the ports stand in the border: incoming ones, then outgoing ones. */
  readonly portX: Float32Array;
  /** x1, y1, x2, y2 of each piece, the wire that it is of, and the box at its end (-1 for none). */
  readonly pieces: Float32Array;
  readonly pieceWires: Int32Array;
  readonly pieceTargets: Int32Array;
  /** For each wire that is not drawn, x and y of where it would begin and end. */
  readonly stubs: Float32Array;
  readonly stubWires: Int32Array;
}

interface Joint {
  readonly from: number;
  readonly to: number;
  readonly fromOffset: number;
  readonly toOffset: number;
  readonly fromPort: number;
}

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly fromOffset: number;
  readonly toOffset: number;
  readonly wire: number;
}

/** The cells of a scope in rows, and the pieces of wires between them. */
interface Rows {
  readonly cells: Cell[];
  readonly rows: number[][];
  readonly pieces: readonly Piece[];
  /** Wires that are not drawn. */
  readonly hidden: readonly number[];
}

export function signatureLength(boxes: number, wires: number): number {
  return 4 + boxes * 2 + wires * 5;
}

export function arrange(signature: Float64Array): Inside {
  const [whole = 0, boxes = 0, incoming = 0, outgoing = 0] = signature;
  const joints: Joint[] = [];
  for (let at = signatureLength(boxes, 0); at < signature.length; at += 5) {
    const [from = 0, to = 0, fromOffset = 0, toOffset = 0, fromPort = -1] = signature.subarray(at, at + 5);
    joints.push({ from, to, fromOffset, toOffset, fromPort });
  }
  const { cells, rows, pieces, hidden } = rowsOf(signature, joints, boxes, incoming, outgoing);
  const width = sweep(cells, rows) + 2 * PADDING;
  for (const cell of cells) cell.x += PADDING;
  const header = whole === 1 ? 0 : HEADER;
  const [rowTop, rowHeight] = [new Float64Array(rows.length), new Float64Array(rows.length)];
  let y = header;
  rows.forEach((row, index) => {
    const height = row.reduce((tallest, cell) => Math.max(tallest, cells[cell]?.height ?? 0), 0);
    rowTop[index] = y;
    rowHeight[index] = height;
    const outside = index === 0 || index >= rows.length - 2;
    y += height + (row.length === 0 ? 0 : outside && height === 0 ? 12 : gapBelow(cells, row));
  });
  const height = Math.max(y, HEADER) - (whole === 1 ? ROW_GAP : 0);
  const isLane = (index: number): boolean => index >= boxes + incoming + outgoing;
  const upper = (index: number): number => {
    if (index >= boxes && index < boxes + incoming) return HEADER;
    return index >= boxes && !isLane(index) ? height : (rowTop[cells[index]?.row ?? 0] ?? 0);
  };
  const lower = (index: number): number => upper(index) + (index < boxes ? (cells[index]?.height ?? 0) : isLane(index) ? (rowHeight[cells[index]?.row ?? 0] ?? 0) : 0);
  const middle = (index: number): number => cells[index]?.x ?? 0;
  const [drawn, pieceWires, pieceTargets]: [number[], number[], number[]] = [[], [], []];
  for (const { from, to, fromOffset, toOffset, wire } of pieces) {
    const x = middle(from) + fromOffset;
    let start = lower(from);
    const row = cells[from]?.row ?? 0;
    const end = (rowTop[row] ?? 0) + (rowHeight[row] ?? 0);
    if (from < boxes && end - start > SHORT) { // down beside the taller boxes of its row, not across them
      drawn.push(x, start, x, end);
      pieceWires.push(wire);
      pieceTargets.push(-1);
      start = end;
    }
    drawn.push(x, start, middle(to) + toOffset, upper(to));
    pieceWires.push(wire);
    pieceTargets.push(to < boxes ? to : -1);
    if (!isLane(to) || lower(to) === upper(to)) continue;
    drawn.push(middle(to), upper(to), middle(to), lower(to));
    pieceWires.push(wire);
    pieceTargets.push(-1);
  }
  const own = cells.slice(0, boxes);
  return {
    signature, width, height,
    x: Float32Array.from(own, (cell) => cell.x - cell.width / 2),
    y: Float32Array.from(own, (_cell, index) => upper(index)),
    portX: Float32Array.from(cells.slice(boxes, boxes + incoming + outgoing), (cell) => cell.x),
    pieces: Float32Array.from(drawn), pieceWires: Int32Array.from(pieceWires), pieceTargets: Int32Array.from(pieceTargets),
    stubs: Float32Array.from(hidden.flatMap((wire) => {
      const { from = 0, to = 0 } = joints[wire] ?? {};
      return [middle(from), lower(from), middle(to), upper(to)];
    })),
    stubWires: Int32Array.from(hidden),
  };
}

/** Gives each cell its row, and long wires their lanes. */
function rowsOf(signature: Float64Array, joints: readonly Joint[], boxes: number, incoming: number, outgoing: number): Rows {
  const cells: Cell[] = [];
  const add = (box: number, port: number, width: number, height: number, row: number): number => {
    cells.push({ width, height, box, port, row, x: 0, above: [], below: [] });
    return cells.length - 1;
  };
  for (let box = 0; box < boxes; box += 1) add(box, -1, signature[4 + box * 2] ?? 0, signature[5 + box * 2] ?? 0, 0);
  const last = rank(joints, cells);
  for (let port = 0; port < incoming + outgoing; port += 1) add(-1, port, LANE, 0, port < incoming ? 0 : last + 1);
  const pieces: Piece[] = [];
  const hidden: number[] = [];
  const lanes = new Map<string, number>();
  const longest = boxes > CROWD ? LONGEST_IN_CROWD : LONGEST;
  const join = (from: number, to: number, fromOffset: number, toOffset: number, wire: number): void => {
    const [above, below] = [cells[from], cells[to]];
    if (!above || !below) return;
    above.below.push({ cell: to, theirs: toOffset, mine: fromOffset });
    below.above.push({ cell: from, theirs: fromOffset, mine: toOffset });
    pieces.push({ from, to, fromOffset, toOffset, wire });
  };
  joints.forEach(({ from, to, fromOffset, toOffset, fromPort }, wire) => {
    const [start, end] = [cells[from]?.row ?? 0, cells[to]?.row ?? 0];
    if (end <= start) return;
    if (end - start > longest) {
      hidden.push(wire);
      return;
    }
    let [at, atOffset] = [from, fromOffset];
    for (let row = start + 1; row < end; row += 1) {
      const key = `${from}:${fromPort}:${row}`;
      let lane = lanes.get(key);
      if (lane === undefined) {
        lane = add(-1, -1, LANE, 0, row);
        lanes.set(key, lane);
        join(at, lane, atOffset, 0, wire);
      }
      [at, atOffset] = [lane, 0];
    }
    join(at, to, atOffset, toOffset, wire);
  });
  const rows: number[][] = Array.from({ length: last + 2 }, () => []);
  cells.forEach((cell, index) => rows[cell.row]?.push(index));
  return { cells, rows, pieces, hidden };
}

/** Rows of boxes, from 1, by longest path. Returns the last row. */
function rank(joints: readonly Joint[], cells: Cell[]): number {
  const before: number[][] = cells.map(() => []);
  for (const { from, to } of joints) if (from < cells.length) before[to]?.push(from);
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
