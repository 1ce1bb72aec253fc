/**
 * What differs between two graphs: nodes that are unchanged, changed, added or removed.
 *
 * Two saves are compared by sequence, as lines of text are: what is unique in both and in the same order is an anchor
 * (patience diff), what lies between anchors is compared again with weaker keys. A pair is unchanged if operation, type,
 * arguments and the partners of the inputs are. Where one graph was made from the other, `origins` say which nodes belong together,
 * and no guess is made. Close to linear: a node takes part in at most a few rounds of hashing and one search for the longest increasing
 * subsequence (n log n).
 */

import { type GraphTable, indexOfNames, namesIn, ownName, ROLE_OP, ROLE_OUTPUT, row, word } from "../model/table.js";

export type Change = "unchanged" | "changed" | "added" | "removed";

export interface Diff {
  /** For each node of the left (older) graph its partner in the right one, -1 for none; and the other way round. */
  readonly right: Int32Array;
  readonly left: Int32Array;
  readonly leftChanges: readonly Change[];
  readonly rightChanges: readonly Change[];
  readonly counts: Readonly<Record<Change, number>>;
}

export function diffOf(left: GraphTable, right: GraphTable): Diff {
  const partner = { right: new Int32Array(left.count).fill(-1), left: new Int32Array(right.count).fill(-1) };
  const staged = right.madeFrom === left.name && left.name !== right.name;
  if (staged) pairByOrigins(left, right, partner);
  else for (const key of [exactKey, placeKey, looseKey, movedKey]) pairBySequence(keysOf(left, key), keysOf(right, key), partner);
  const leftChanges: Change[] = [];
  const rightChanges = new Array<Change>(right.count).fill("added");
  const counts = { unchanged: 0, changed: 0, added: 0, removed: 0 };
  const came = staged ? originsIn(left, right) : undefined;
  for (let node = 0; node < left.count; node += 1) {
    const other = partner.right[node] ?? -1;
    const change = other >= 0 ? (same(left, node, right, other, partner.right) ? "unchanged" : "changed") : came?.used.has(node) === true ? "changed" : "removed";
    leftChanges.push(change);
    if (other >= 0) rightChanges[other] = change;
    if (change !== "unchanged" || other >= 0) counts[change] += 1;
  }
  for (let node = 0; node < right.count; node += 1) {
    if ((partner.left[node] ?? -1) >= 0) continue;
    if (came?.users.has(node) === true) rightChanges[node] = "changed";
    else counts.added += 1;
  }
  return { right: partner.right, left: partner.left, leftChanges, rightChanges, counts };
}

interface Partners {
  readonly right: Int32Array;
  readonly left: Int32Array;
}

/** Everything but the inputs. */
function exactKey(table: GraphTable, node: number): string {
  return [looseKey(table, node), word(table.dtypes, node), word(table.shapes, node), word(table.details, node)].join("\u0000");
}

function placeKey(table: GraphTable, node: number): string {
  return [looseKey(table, node), word(table.details, node)].join("\u0000");
}

function looseKey(table: GraphTable, node: number): string {
  return [table.roles[node], word(table.ops, node), word(table.modules, node)].join("\u0000");
}

/** The same operation on the same type in another module, or a parameter of another name: a module that was renamed. */
function movedKey(table: GraphTable, node: number): string {
  const op = table.roles[node] === ROLE_OP ? word(table.ops, node) : "";
  return [table.roles[node], op, word(table.dtypes, node), word(table.shapes, node)].join("\u0000");
}

function keysOf(table: GraphTable, key: (table: GraphTable, node: number) => string): string[] {
  return Array.from({ length: table.count }, (_value, node) => key(table, node));
}

/** Pairs nodes that have no partner yet: between every two neighbouring pairs, and never across one. */
function pairBySequence(left: readonly string[], right: readonly string[], partner: Partners): void {
  const spans: [number, number, number, number][] = [];
  let [fromLeft, fromRight] = [0, 0];
  for (let node = 0; node <= left.length; node += 1) {
    const other = node === left.length ? right.length : (partner.right[node] ?? -1);
    if (other < fromRight) continue; // no pair, or (a stage made from another) one out of order
    spans.push([fromLeft, node, fromRight, other]);
    [fromLeft, fromRight] = [node + 1, other + 1];
  }
  for (let span = spans.pop(); span; span = spans.pop()) {
    let [start, end, otherStart, otherEnd] = span;
    const pair = (one: number, other: number): void => {
      partner.right[one] = other;
      partner.left[other] = one;
    };
    while (start < end && otherStart < otherEnd && left[start] === right[otherStart]) pair(start++, otherStart++);
    while (start < end && otherStart < otherEnd && left[end - 1] === right[otherEnd - 1]) pair(--end, --otherEnd);
    if (start === end || otherStart === otherEnd) continue;
    const anchors = anchorsIn(left, right, start, end, otherStart, otherEnd);
    if (anchors.length === 0) {
      pairGreedily(left, right, [start, end, otherStart, otherEnd], pair);
      continue;
    }
    for (const [one, other] of anchors) {
      pair(one, other);
      spans.push([start, one, otherStart, other]);
      [start, otherStart] = [one + 1, other + 1];
    }
    spans.push([start, end, otherStart, otherEnd]);
  }
}

/** Keys that are there once on each side, in the longest common order. */
function anchorsIn(left: readonly string[], right: readonly string[], start: number, end: number, otherStart: number, otherEnd: number): [number, number][] {
  const once = new Map<string, number>(); // the only position, or -1 where there are several
  for (let node = start; node < end; node += 1) once.set(left[node] ?? "", once.has(left[node] ?? "") ? -1 : node);
  const there = new Map<string, number>();
  for (let node = otherStart; node < otherEnd; node += 1) there.set(right[node] ?? "", there.has(right[node] ?? "") ? -1 : node);
  const pairs: [number, number][] = [];
  for (const [key, one] of once) {
    const other = there.get(key) ?? -1;
    if (one >= 0 && other >= 0) pairs.push([one, other]);
  }
  pairs.sort(([one], [other]) => one - other);
  return longestIncreasing(pairs);
}

function longestIncreasing(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  pairs.forEach(([, value], index) => {
    let [low, high] = [0, tails.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] ?? 0]?.[1] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1] ?? -1;
    tails[low] = index;
  });
  const found: [number, number][] = [];
  for (let index = tails.at(-1) ?? -1; index >= 0; index = before[index] ?? -1) {
    const pair = pairs[index];
    if (pair) found.push(pair);
  }
  return found.reverse();
}

/** No key is unique: the first of a kind goes with the first of its kind behind the last pair. */
function pairGreedily(left: readonly string[], right: readonly string[], span: readonly [number, number, number, number], pair: (one: number, other: number) => void): void {
  const [start, end, otherStart, otherEnd] = span;
  const positions = new Map<string, number[]>();
  for (let other = otherEnd - 1; other >= otherStart; other -= 1) {
    const key = right[other] ?? "";
    const known = positions.get(key);
    if (known) known.push(other);
    else positions.set(key, [other]);
  }
  let last = otherStart - 1;
  for (let one = start; one < end; one += 1) {
    const waiting = positions.get(left[one] ?? "");
    let other = waiting?.pop();
    while (other !== undefined && other <= last) other = waiting?.pop();
    if (other === undefined) continue;
    pair(one, other);
    last = other;
  }
}

/** One node that became one node is a pair. */
function pairByOrigins(left: GraphTable, right: GraphTable, partner: Partners): void {
  const index = indexOfNames(left);
  const children = new Map<number, number[]>();
  for (let node = 0; node < right.count; node += 1) {
    for (const name of namesIn(right, right.origins, node)) {
      const from = index.get(name);
      if (from === undefined) continue;
      const known = children.get(from);
      if (known) known.push(node);
      else children.set(from, [node]);
    }
  }
  for (const [from, nodes] of children) {
    const [only] = nodes;
    if (nodes.length !== 1 || only === undefined || row(right.origins, only).length !== 1) continue;
    partner.right[from] = only;
    partner.left[only] = from;
  }
  pairOuter(left, right, partner);
}

/** Inputs, parameters and outputs have no origins; what they are to the model stays, or at least their names. */
function pairOuter(left: GraphTable, right: GraphTable, partner: Partners): void {
  const index = indexOfNames(right);
  const own = new Map<string, number>();
  for (let node = right.count - 1; node >= 0; node -= 1) own.set(ownName(right, node), node);
  own.delete("");
  const output = [...right.roles].lastIndexOf(ROLE_OUTPUT);
  for (let node = 0; node < left.count; node += 1) {
    if ((partner.right[node] ?? -1) >= 0) continue;
    const other = left.roles[node] === ROLE_OUTPUT ? output : (own.get(ownName(left, node)) ?? index.get(word(left.names, node)) ?? -1);
    if (other < 0 || (partner.left[other] ?? -1) >= 0 || left.roles[node] !== right.roles[other]) continue;
    partner.right[node] = other;
    partner.left[other] = node;
  }
}

function originsIn(left: GraphTable, right: GraphTable): { used: Set<number>; users: Set<number> } {
  const index = indexOfNames(left);
  const [used, users] = [new Set<number>(), new Set<number>()];
  for (let node = 0; node < right.count; node += 1) {
    for (const name of namesIn(right, right.origins, node)) {
      const from = index.get(name);
      if (from === undefined) continue;
      used.add(from);
      users.add(node);
    }
  }
  return { used, users };
}

function same(left: GraphTable, one: number, right: GraphTable, other: number, partner: Int32Array): boolean {
  if (exactKey(left, one) !== exactKey(right, other)) return false;
  const [inputs, others] = [row(left.inputs, one), row(right.inputs, other)];
  return inputs.length === others.length && inputs.every((input, at) => partner[input] === others[at]);
}
