/** What the page works out of a document before it draws: order, levels and words. Pure. */

import type { DiffBlame, DiffDocument, DiffError, DiffNode, Location } from "../../../shared_schema/generated/wire.js";

/** Where something stands; both are null where nobody knows. */
export type Placed = Pick<DiffNode, "path" | "range">;

/** What the daemon writes for an infinite number, which JSON does not have. */
export const INFINITE = "Infinity";

export type Column = "order" | "blame" | "op" | "isolated" | "ratio" | "accumulated" | "growth" | "replaced";

/** A node with what its place in the document and the blame say of it. */
export interface Ranked {
  readonly row: DiffNode;
  /** Its place in the order of the graph. */
  readonly order: number;
  /** 0 for the first that is blamed; undefined where it is not. */
  readonly blame: number | undefined;
}

export function rankedNodes(document: Pick<DiffDocument, "nodes" | "blame">): Ranked[] {
  const blamed = new Map<string, number>();
  document.blame.forEach((blame, index) => {
    for (const name of blame.nodes) if (!blamed.has(key(blame.graph, name))) blamed.set(key(blame.graph, name), index);
  });
  return document.nodes.map((row, order) => ({ row, order, blame: blamed.get(key(row.graph, row.node)) }));
}

const key = (graph: string, node: string): string => `${graph}\n${node}`;

/** Blames of one expression and operation together: a layer that is repeated says the same for each of its copies. */
export interface BlameGroup {
  readonly first: DiffBlame;
  /** Paths of the modules, the most blamed first. */
  readonly modules: readonly string[];
}

export function blameGroups(document: Pick<DiffDocument, "blame">): BlameGroup[] {
  const groups = new Map<string, DiffBlame[]>();
  for (const blame of document.blame) {
    const name = JSON.stringify([blame.op, blame.path, blame.range]);
    const known = groups.get(name);
    if (known) known.push(blame);
    else groups.set(name, [blame]);
  }
  return [...groups.values()].flatMap((blames) => (blames[0] ? [{ first: blames[0], modules: [...new Set(blames.map(({ module }) => module))].filter((module) => module !== "") }] : []));
}

/** By blame: those that are blamed, then by how much worse than to be expected their own error is, then by the error. */
export function sorted(nodes: readonly Ranked[], column: Column, descending: boolean): Ranked[] {
  const sign = descending ? -1 : 1;
  return [...nodes].sort((left, right) => {
    if (column === "op") return sign * left.row.op.localeCompare(right.row.op) || left.order - right.order;
    if (column === "blame") return byBlame(left, right) * -sign;
    return sign * compare(valueOf(left, column), valueOf(right, column)) || left.order - right.order;
  });
}

function byBlame(left: Ranked, right: Ranked): number {
  return (
    compare(left.blame ?? Infinity, right.blame ?? Infinity) ||
    compare(valueOf(right, "ratio"), valueOf(left, "ratio")) ||
    compare(valueOf(right, "isolated"), valueOf(left, "isolated")) ||
    left.order - right.order
  );
}

/** Infinities are equal to each other. */
function compare(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}

function valueOf({ row, order }: Ranked, column: Column): number {
  switch (column) {
    case "isolated":
      return relativeOf(row.isolated);
    case "accumulated":
      return relativeOf(row.accumulated);
    case "ratio":
      return numberOf(row.isolated?.anchored_ratio);
    case "growth":
      return numberOf(row.growth);
    case "replaced":
      return numberOf(row.replaced);
    case "order":
    case "blame":
    case "op":
      return order;
  }
}

/** The error as a multiple of the one to expect; undefined where nobody knows what was to be expected. */
export function multipleOf(error: DiffError | null): number | undefined {
  if (!error) return undefined;
  if (error.invalid || error.anchored_ratio === INFINITE) return Infinity;
  return typeof error.anchored_ratio === "number" ? error.anchored_ratio : undefined;
}

/** -1 for nothing measured, so that it comes last. */
export function relativeOf(error: DiffError | null): number {
  if (!error) return -1;
  return error.invalid || error.relative === null ? Infinity : error.relative;
}

function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  return value === INFINITE ? Infinity : -1;
}

export function placeOf({ path, range }: Placed): Location | undefined {
  return path !== null && range !== null ? { path, range } : undefined;
}

/** Three digits, whatever the size; a dash where there is nothing. */
export function short(value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (value === INFINITE) return "∞";
  if (typeof value === "string") return value;
  if (typeof value !== "number") return JSON.stringify(value);
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : String(value);
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
  return value.toExponential(1).replace("e+", "e");
}

/** `f32[8, 64]`. */
export function typeText(dtype: string, shape: readonly number[] | null): string {
  return shape ? `${dtype}[${shape.join(", ")}]` : dtype;
}

/** `aten.gelu` for `aten.gelu.default`. */
export function opText(op: string): string {
  return op.replace(/\.default$/u, "");
}
