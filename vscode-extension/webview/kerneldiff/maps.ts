/**
 * Reads a `.maps` file: the TypeScript twin of `inductor_debug/kerneldiff/plots/error_maps.py`, where the format is described. Pure.
 * Content that is damaged or foreign is an error that says so.
 */

import { decode } from "@msgpack/msgpack";

export interface ErrorMap {
  readonly name: string;
  readonly shape: readonly number[];
  /** Cells along each dimension. */
  readonly bins: readonly number[];
  /** Elements of each dimension that a cell stands for. */
  readonly steps: readonly number[];
  /** The largest absolute error of each cell, row by row; infinite where only one side is finite. */
  readonly cells: Float32Array;
  readonly firstDecade: number;
  readonly binsPerDecade: number;
  readonly counts: Float64Array;
  readonly equal: number;
  readonly invalid: number;
}

export class MapsError extends Error {}

const FORMAT = "inductor-debug-diff-maps";
const SCHEMA = 1;

type Said = Readonly<Record<string, unknown>>;

/** @throws MapsError */
export function readMaps(content: ArrayBuffer | Uint8Array): ErrorMap[] {
  let said: unknown;
  try {
    said = decode(content);
  } catch {
    throw new MapsError("damaged");
  }
  if (!isMap(said) || said["format"] !== FORMAT || said["schema"] !== SCHEMA || !Array.isArray(said["outputs"])) throw new MapsError("foreign");
  return said["outputs"].map(readMap);
}

function readMap(said: unknown): ErrorMap {
  if (!isMap(said)) throw new MapsError("damaged");
  const [shape, bins, steps] = ["shape", "bins", "steps"].map((name) => sizes(said[name])) as [number[], number[], number[]];
  const cells = new Float32Array(aligned(said["cells"], 4));
  const total = bins.reduce((all, size) => all * size, 1);
  if (cells.length !== total || shape.length !== bins.length || steps.length !== bins.length) throw new MapsError("damaged");
  return {
    name: String(said["name"]),
    shape,
    bins,
    steps,
    cells,
    firstDecade: whole(said["first_decade"]),
    binsPerDecade: whole(said["bins_per_decade"]),
    counts: new Float64Array(aligned(said["counts"], 8)),
    equal: whole(said["equal"]),
    invalid: whole(said["invalid"]),
  };
}

/** One table of a map: that of the last two dimensions at a place in the others. */
export interface Slice {
  readonly rows: number;
  readonly columns: number;
  readonly cells: Float32Array;
}

/** Dimensions that have a slider. */
export function leadingOf(map: ErrorMap): number[] {
  return map.bins.slice(0, -2);
}

export function sliceOf(map: ErrorMap, at: readonly number[]): Slice {
  const { bins, cells } = map;
  const columns = bins.at(-1) ?? 1;
  const rows = bins.length > 1 ? (bins.at(-2) ?? 1) : 1;
  const place = leadingOf(map).reduce((index, size, dimension) => index * size + Math.min(at[dimension] ?? 0, size - 1), 0);
  return { rows, columns, cells: cells.subarray(place * rows * columns, (place + 1) * rows * columns) };
}

/** Where the largest error is: the place in the leading dimensions, so that one sees it first. */
export function worstSlice(map: ErrorMap): number[] {
  const size = (map.bins.at(-1) ?? 1) * (map.bins.length > 1 ? (map.bins.at(-2) ?? 1) : 1);
  let best = 0;
  map.cells.forEach((value, index) => { if (value > (map.cells[best] ?? 0)) best = index; });
  let place = Math.floor(best / Math.max(size, 1));
  return leadingOf(map).reduceRight<number[]>((found, bins) => {
    const at = place % bins;
    place = Math.floor(place / bins);
    return [at, ...found];
  }, []);
}

/** The elements of a dimension that a cell stands for: `7`, or `4–7`. */
export function elementsOf(map: ErrorMap, dimension: number, cell: number): string {
  const step = map.steps[dimension] ?? 1;
  const first = cell * step;
  const last = Math.min(first + step, map.shape[dimension] ?? 1) - 1;
  return last > first ? `${first}–${last}` : String(first);
}

/** The smallest and largest finite error that is not zero, over the whole map, so that slices can be compared. */
export function scaleOf(map: ErrorMap): { low: number; high: number } | undefined {
  let [low, high] = [Infinity, 0];
  for (const value of map.cells) {
    if (!(value > 0) || value === Infinity) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return high > 0 ? { low: Math.max(low, high * 1e-8), high: Math.max(high, low * 10) } : undefined;
}

function aligned(said: unknown, width: number): ArrayBuffer {
  if (!(said instanceof Uint8Array) || said.byteLength % width !== 0) throw new MapsError("damaged");
  return new Uint8Array(said).buffer;
}

function sizes(said: unknown): number[] {
  if (!Array.isArray(said)) throw new MapsError("damaged");
  return said.map((size) => {
    const value = whole(size);
    if (value < 0) throw new MapsError("damaged");
    return value;
  });
}

function whole(said: unknown): number {
  const value = typeof said === "bigint" ? Number(said) : said;
  if (typeof value !== "number" || !Number.isInteger(value)) throw new MapsError("damaged");
  return value;
}

function isMap(value: unknown): value is Said {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
