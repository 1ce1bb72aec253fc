/** The memory of a run as what is drawn and listed: bands one above the other, and what is alive at one moment. Pure. */

import type { MemoryDocument, MemoryPiece } from "../../../shared_schema/generated/wire.js";

export type By = "kind" | "module";

/** One layer of the drawing. `group` numbers its colour; `saved` has what only the backward pass still needs. */
export interface Band {
  /** A kind, or the dotted path of a module; "" for what no module made. */
  readonly name: string;
  readonly group: number;
  readonly saved: boolean;
  /** Bytes while each operation runs. */
  readonly amounts: Float64Array;
}

/** Memory as it is at one moment: pieces of one kind, type and maker together. */
export interface Held {
  readonly piece: MemoryPiece;
  readonly saved: boolean;
  readonly count: number;
  readonly bytes: number;
  /** The operation before which the first of them was made, and how many have run when the last one is gone. */
  readonly first: number;
  readonly end: number;
}

export const SAVED = "saved";
/** More modules than these could not be told apart by their colours. */
export const MOST_MODULES = 12;

/** The operations that there are to draw: no more than the document has places of, whatever it counts. */
export function operationsIn({ operations, operation_places: places }: MemoryDocument): number {
  return Math.max(0, Math.min(operations, places.length));
}

export function bandsOf(shown: MemoryDocument, by: By): Band[] {
  if (by === "kind") return shown.kinds.map(({ kind, bytes }, group) => ({ name: kind, group, saved: kind === SAVED, amounts: Float64Array.from(bytes) }));
  const names = modulesIn(shown);
  const held = names.map(() => new Float64Array(operationsIn(shown)));
  const saved = names.map(() => new Float64Array(operationsIn(shown)));
  for (const piece of shown.pieces) {
    const group = names.findIndex((name) => isWithin(piece.module, name));
    add(held[group], piece.first, piece.let_go, piece.bytes);
    add(saved[group], piece.let_go, piece.end, piece.bytes);
  }
  return names.flatMap((name, group) =>
    [held, saved].flatMap((sums, at) => {
      const amounts = summed(sums[group] ?? new Float64Array());
      return amounts.some((value) => value > 0) ? [{ name, group, saved: at === 1, amounts }] : [];
    }));
}

/**
 * Modules to tell apart, the innermost first where one is within another. Whichever has most is opened, again and again, as long as there are
 * colours; what is the parent's own, or in none of them, stays with it.
 */
export function modulesIn(shown: MemoryDocument): string[] {
  const weights = new Map<string, number>();
  for (const { module, bytes, first, end } of shown.pieces) {
    const weight = bytes * Math.max(0, Math.min(end, operationsIn(shown)) - Math.max(first, 0));
    weights.set(module, (weights.get(module) ?? 0) + weight);
  }
  const all = [...weights.keys()];
  const weightOf = (name: string): number => all.reduce((sum, module) => sum + (isWithin(module, name) ? (weights.get(module) ?? 0) : 0), 0);
  const found = new Set<string>([""]);
  for (const closed = new Set<string>(); ; ) {
    const next = [...found].filter((name) => !closed.has(name)).sort((one, other) => weightOf(other) - weightOf(one))[0];
    if (next === undefined) break;
    closed.add(next);
    const inner = [...new Set(all.flatMap((module) => (isWithin(module, next) && module !== next ? [childOf(module, next)] : [])))];
    if (inner.length === 0 || found.size + inner.length > MOST_MODULES) continue;
    for (const name of inner) found.add(name);
  }
  const own = (name: string): boolean => all.some((module) => isWithin(module, name) && ![...found].some((other) => other.length > name.length && isWithin(other, name) && isWithin(module, other)));
  return [...found].filter(own).sort((one, other) => depthOf(other) - depthOf(one) || one.localeCompare(other, "en", { numeric: true }));
}

function isWithin(module: string, name: string): boolean {
  return name === "" || module === name || module.startsWith(`${name}.`);
}

function childOf(module: string, parent: string): string {
  const rest = module.slice(parent === "" ? 0 : parent.length + 1);
  return (parent === "" ? "" : `${parent}.`) + (rest.split(".", 1)[0] ?? "");
}

const depthOf = (name: string): number => (name === "" ? 0 : name.split(".").length);

/** Notes where an amount begins and ends; `summed` makes amounts of that. */
function add(changes: Float64Array | undefined, first: number, end: number, bytes: number): void {
  if (!changes) return;
  const [from, to] = [Math.max(first, 0), Math.min(end, changes.length)];
  if (from >= to) return;
  changes[from] = (changes[from] ?? 0) + bytes;
  if (to < changes.length) changes[to] = (changes[to] ?? 0) - bytes;
}

function summed(changes: Float64Array): Float64Array {
  let sum = 0;
  return changes.map((change) => (sum += change));
}

/** All bytes while each operation runs. */
export function totalsOf(bands: readonly Band[], operations: number): Float64Array {
  const totals = new Float64Array(operations);
  for (const { amounts } of bands) amounts.forEach((value, at) => { totals[at] = (totals[at] ?? 0) + value; });
  return totals;
}

/** What is alive while an operation runs, the largest first. */
export function heldAt(shown: MemoryDocument, operation: number): Held[] {
  const found = new Map<string, Held>();
  for (const piece of shown.pieces) {
    if (Math.max(piece.first, 0) > operation || operation >= piece.end) continue;
    const saved = operation >= piece.let_go;
    const key = JSON.stringify([piece.kind, saved, piece.name, piece.place, piece.shape, piece.dtype, piece.place < 0 ? piece.module : ""]);
    const { count = 0, bytes = 0, first = piece.first, end = piece.end } = found.get(key) ?? {};
    found.set(key, { piece, saved, count: count + 1, bytes: bytes + piece.bytes, first: Math.min(first, piece.first), end: Math.max(end, piece.end) });
  }
  return [...found.values()].sort((one, other) => other.bytes - one.bytes);
}

/** Steps of a scale of bytes from nothing to `most`: powers of two, about `count` of them. */
export function byteTicks(most: number, count: number): number[] {
  if (!(most > 0)) return [0];
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(most / Math.max(1, count))));
  return Array.from({ length: Math.floor(most / step) + 1 }, (_none, at) => at * step);
}
