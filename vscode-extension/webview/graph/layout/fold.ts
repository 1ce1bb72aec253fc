/**
 * Makes a tree of modules small enough to read: identical siblings become one scope "× N", scopes with a single child give way
 * to it, and scopes with too many children are split into parts.
 *
 * Two siblings are identical where their operations, shapes, data types and inner edges are, whatever their names.
 */

import { type Hierarchy, isScope, type Item, nodesBelow, type Scope, scopeAt } from "../model/hierarchy.js";
import { topological } from "./order.js";
import { type GraphTable, ROLE_OP, row } from "../model/table.js";

/** A scope with more children than this is split into parts of at most `PART`. */
const MOST_CHILDREN = 300;
const PART = 200;
/** Siblings that are no list (`layer.0`, `layer.1`) fold only if they are worth it: query, key and value stay apart. */
const WORTH_FOLDING = 8;
/** Operations whose arguments count through the graph (which of its random seeds), as do those of all IR (names of buffers). */
const NUMBERED = "lookup_seed";

/** Folds in place and returns the same hierarchy. */
export function fold(hierarchy: Hierarchy): Hierarchy {
  const hashes = structureOf(hierarchy);
  const known = hierarchy.scopes.length;
  for (let id = 0; id < known; id += 1) foldRepeats(hierarchy, id, hashes);
  joinLonely(hierarchy);
  for (let id = 0; id < hierarchy.scopes.length; id += 1) split(hierarchy, id);
  return hierarchy;
}

/** For each scope a hash of all that is in it. Linear in nodes × depth. */
function structureOf(hierarchy: Hierarchy): string[] {
  const { table, scopes, scopeOf } = hierarchy;
  const tokens = tokensOf(table);
  const [one, two] = [new Uint32Array(scopes.length), new Uint32Array(scopes.length)];
  const mix = (scope: number, value: number): void => {
    one[scope] = Math.imul((one[scope] ?? 0) ^ value, 0x01000193) >>> 0;
    two[scope] = (Math.imul((two[scope] ?? 0) ^ value, 0x85ebca6b) + 0x9e3779b9) >>> 0;
  };
  const depths = depthsOf(scopes);
  const deepest = Math.max(0, ...depths) + 1;
  /** How many nodes of a scope came before a node, for each scope around it: `places[node × deepest + depth of the scope]`. */
  const places = new Int32Array(table.count * deepest);
  const sizes = new Int32Array(scopes.length);
  for (let node = 0; node < table.count; node += 1) {
    const home = scopeOf[node] ?? -1;
    if (home < 0) continue;
    const own = tokens[node] ?? 0;
    const inputs = row(table.inputs, node);
    for (let scope = scopes[home], below = 0; scope; scope = scopes[scope.parent], below += 1) {
      const depth = depths[scope.id] ?? 0;
      const place = sizes[scope.id] ?? 0;
      sizes[scope.id] = place + 1;
      places[node * deepest + depth] = place;
      mix(scope.id, own);
      mix(scope.id, below);
      for (const input of inputs) {
        const from = scopeOf[input] ?? -1;
        if (from < 0) mix(scope.id, tokens[input] ?? 0);
        else mix(scope.id, isInside(scopes, depths, from, scope.id) ? place - (places[input * deepest + depth] ?? 0) : OUTSIDE);
      }
    }
  }
  return scopes.map((_scope, id) => `${one[id] ?? 0}:${two[id] ?? 0}`);
}

const OUTSIDE = 0x7fffffff;

/** Parents have smaller ids than their children here: nothing was folded yet. */
function depthsOf(scopes: readonly Scope[]): Int32Array {
  const depths = new Int32Array(scopes.length);
  for (const { id, parent } of scopes) depths[id] = parent < 0 ? 0 : (depths[parent] ?? 0) + 1;
  return depths;
}

function isInside(scopes: readonly Scope[], depths: Int32Array, scope: number, around: number): boolean {
  let id = scope;
  while ((depths[id] ?? 0) > (depths[around] ?? 0)) id = scopes[id]?.parent ?? 0;
  return id === around;
}

/** For each node a hash of what it is. The op of an input or parameter is its name in some graphs, and does not count. */
function tokensOf(table: GraphTable): Uint32Array {
  const { ops, shapes, dtypes, details, roles } = table;
  const numbered = ops.words.map((op) => table.kind === "ir" || op.includes(NUMBERED));
  const tokens = new Uint32Array(table.count);
  for (let node = 0; node < table.count; node += 1) {
    const isOp = roles[node] === ROLE_OP;
    const op = ops.codes[node] ?? 0;
    let token = (roles[node] ?? 0) + 1;
    for (const code of [isOp ? op : 0, shapes.codes[node], dtypes.codes[node], isOp && numbered[op] !== true ? details.codes[node] : 0]) {
      token = (Math.imul(token ^ (code ?? 0), 0x9e3779b1) + 0x7f4a7c15) >>> 0;
    }
    tokens[node] = token;
  }
  return tokens;
}

function foldRepeats(hierarchy: Hierarchy, id: number, hashes: readonly string[]): void {
  const { scopes, table } = hierarchy;
  const parent = scopes[id];
  if (!parent) return;
  const runs = runsOf(hierarchy, parent, hashes).filter((run) => !wouldBeCyclic(hierarchy, parent, run));
  for (const run of runs) {
    if (run.length === parent.children.length && id !== 0) {
      parent.kind = "repeat";
      parent.times = run.length;
      continue;
    }
    const members = run.map((item) => scopeAt(hierarchy, item)).filter((scope) => scope !== undefined);
    const folded: Scope = {
      id: scopes.length, kind: "repeat", parent: id, label: spanText(members), path: parent.path, children: run,
      times: run.length, nodes: members.reduce((sum, scope) => sum + scope.nodes, 0),
    };
    scopes.push(folded);
    for (const member of members) member.parent = folded.id;
    const gone = new Set(run);
    parent.children = parent.children.flatMap((item) => (item === run[0] ? [table.count + folded.id] : gone.has(item) ? [] : [item]));
  }
}

function spanText(members: readonly Scope[]): string {
  return `${members[0]?.label ?? ""}–${members.at(-1)?.label ?? ""}`;
}

/** Children next to each other with the same hash, two or more. */
function runsOf(hierarchy: Hierarchy, parent: Scope, hashes: readonly string[]): Item[][] {
  const runs: Item[][] = [];
  let run: Item[] = [];
  let last = "";
  for (const item of [...parent.children, -1]) {
    const scope = item < 0 ? undefined : scopeAt(hierarchy, item);
    const worth = scope !== undefined && (/^\d+$/u.test(scope.label) || scope.nodes >= WORTH_FOLDING);
    const hash = worth ? (hashes[scope.id] ?? "") : "";
    if (hash === "" || hash !== last) {
      if (run.length > 1) runs.push(run);
      run = [];
    }
    if (hash !== "") run.push(item);
    last = hash;
  }
  return runs;
}

/** Whether a sibling outside of the run needs a part of it and is needed by another part. */
function wouldBeCyclic(hierarchy: Hierarchy, parent: Scope, run: readonly Item[]): boolean {
  if (run.length === parent.children.length) return false;
  const members = new Set(run);
  const after = siblingEdges(hierarchy, parent);
  const reached = new Set<Item>();
  const waiting = run.flatMap((item) => (after.get(item) ?? []).filter((next) => !members.has(next)));
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    if (members.has(item)) return true;
    if (reached.has(item)) continue;
    reached.add(item);
    for (const next of after.get(item) ?? []) waiting.push(next);
  }
  return false;
}

/** For each child of a scope the children that read it. */
function siblingEdges(hierarchy: Hierarchy, parent: Scope, turned = false): Map<Item, Item[]> {
  const childOf = new Map<number, Item>();
  for (const child of parent.children) for (const node of nodesBelow(hierarchy, child)) childOf.set(node, child);
  const edges = new Map<Item, Item[]>();
  const seen = new Set<string>();
  for (const [node, to] of childOf) {
    for (const input of row(hierarchy.table.inputs, node)) {
      const from = childOf.get(input);
      const key = `${from ?? ""}>${to}`;
      if (from === undefined || from === to || seen.has(key)) continue;
      seen.add(key);
      const [source, target] = turned ? [to, from] : [from, to];
      const known = edges.get(source);
      if (known) known.push(target);
      else edges.set(source, [target]);
    }
  }
  return edges;
}

/** A scope with one child gives way to it: a module that is one operation is drawn as that operation. */
function joinLonely(hierarchy: Hierarchy): void {
  const { scopes, table, scopeOf } = hierarchy;
  for (let id = scopes.length - 1; id > 0; id -= 1) {
    const scope = scopes[id];
    const child = scope?.children.length === 1 ? scope.children[0] : undefined;
    const parent = scopes[scope?.parent ?? -1];
    if (!scope || child === undefined || !parent) continue;
    const only = scopeAt(hierarchy, child);
    if (only) {
      only.label = `${scope.label}.${only.label}`;
      only.parent = parent.id;
    } else scopeOf[child] = parent.id;
    parent.children = parent.children.map((item) => (item === table.count + id ? child : item));
    scope.children = [];
  }
}

function split(hierarchy: Hierarchy, id: number): void {
  const { scopes, table, scopeOf } = hierarchy;
  const scope = scopes[id];
  if (!scope || scope.children.length <= MOST_CHILDREN) return;
  const ordered = inOrder(hierarchy, scope);
  const parts = Math.ceil(ordered.length / PART);
  const size = Math.ceil(ordered.length / parts);
  scope.children = [];
  for (let start = 0; start < ordered.length; start += size) {
    const children = ordered.slice(start, start + size);
    const part: Scope = {
      id: scopes.length, kind: "part", parent: id, label: `${start + 1}–${start + children.length}`, path: scope.path, children, times: 1,
      nodes: children.reduce((sum, item) => sum + (scopeAt(hierarchy, item)?.nodes ?? 1), 0),
    };
    scopes.push(part);
    scope.children.push(table.count + part.id);
    for (const item of children) {
      const inner = scopeAt(hierarchy, item);
      if (inner) inner.parent = part.id;
      else scopeOf[item] = part.id;
    }
  }
  if (scope.children.length > MOST_CHILDREN) split(hierarchy, id);
}

function inOrder(hierarchy: Hierarchy, scope: Scope): Item[] {
  const { children } = scope;
  if (children.every((item) => !isScope(hierarchy, item))) return children;
  const index = new Map(children.map((item, at) => [item, at]));
  const before = siblingEdges(hierarchy, scope, true);
  const needs = (at: number): number[] => (before.get(children[at] ?? -1) ?? []).map((item) => index.get(item) ?? 0);
  return topological(children.length, needs).map((at) => children[at] ?? 0);
}
