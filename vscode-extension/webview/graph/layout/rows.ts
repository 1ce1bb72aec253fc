/**
 * Where things stand within the rows of one scope. Positions follow the neighbours above and below: least squares under "no overlap" is
 * an isotonic regression, solved by pooling adjacent violators (Ayer and others, 1955).
 */

/** How wide a lane is: a place kept free in a row for a wire that runs through it. */
export const LANE = 8;
const GAP = 18;
const SWEEPS = 4;
/** Lanes and boxes pull each other only where nothing else does: otherwise every row would drift a little aside. */
const OTHER_PULL = 1e-6;
/** Higher than any node or folded scope: the box is an open scope. */
const OPEN_HEIGHT = 100;

/** A thing in a row: a box (number of the child), a port (number among the scope's ports, incoming ones first), or a lane. */
export interface Cell {
  readonly width: number;
  readonly height: number;
  readonly box: number;
  readonly port: number;
  row: number;
  x: number;
  readonly above: Neighbour[];
  readonly below: Neighbour[];
}

export interface Neighbour {
  readonly cell: number;
  /** Where the wire is attached, from the middle of the neighbour and of this cell. */
  readonly theirs: number;
  readonly mine: number;
}

/** Orders each row by what is above it, then moves cells towards their neighbours, downwards and upwards. `x` is a cell's middle. */
export function sweep(cells: Cell[], rows: number[][]): number {
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

/**
 * Open scopes stand on one axis: wires leave them elsewhere than they enter, and a stack of layers that are each put under the wire of the last
 * would run off to the side.
 */
function isOnAxis(cell: Cell | undefined): boolean {
  return cell !== undefined && cell.box >= 0 && cell.height > OPEN_HEIGHT;
}

function wished(cells: readonly Cell[], cell: Cell | undefined, side: "above" | "below"): number | undefined {
  if (isOnAxis(cell)) return 0;
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
