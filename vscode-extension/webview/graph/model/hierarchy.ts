/**
 * The modules of one graph as a tree of scopes that fold, drawn from the dotted path of each node. Linear in the graph.
 *
 * A module that runs several times becomes several scopes wherever one scope would make the folded graph cyclic: every
 * item has a level, and an edge between siblings always goes from a lower to a higher one. Parameters, buffers, constants and
 * (where there are many) inputs are stubs: they are shown at the nodes that read them and never take part in the layout.
 */

import { type GraphTable, ROLE_INPUT, ROLE_OP, ROLE_OUTPUT, row, word } from "./table.js";

/** An item is a node (its index) or a scope (`count` of the table + the scope's id). */
export type Item = number;

export type ScopeKind =
  /** A module, or the whole graph. */
  | "module"
  /** Identical siblings, folded as one: "× 12". */
  | "repeat"
  /** A part of a scope that has too many children to be drawn at once. */
  | "part";

export interface Scope {
  readonly id: number;
  kind: ScopeKind;
  parent: number;
  /** What it is called below its parent: `layer.3`. */
  label: string;
  /** The module's dotted path. */
  path: string;
  children: Item[];
  /** How many identical children a `repeat` has; 1 otherwise. */
  times: number;
  /** Nodes below it, at any depth. */
  nodes: number;
}

export interface Hierarchy {
  readonly table: GraphTable;
  /** By id; the first is the whole graph. */
  readonly scopes: Scope[];
  /** The scope that a node stands in; -1 for stubs. */
  readonly scopeOf: Int32Array;
}

/** More inputs than these are stubs, and an output that reads more nodes is left out. */
const MOST_INPUTS = 12;
const MOST_OUTPUTS = 8;

interface Building extends Scope {
  level: number;
  read: boolean;
  readonly depth: number;
  readonly open: Map<string, Building>;
}

/** Builds the scopes as the modules say; `fold.ts` folds what repeats and splits what is too large. */
export function modulesOf(table: GraphTable): Hierarchy {
  const shown = shownNodes(table);
  const scopeOf = new Int32Array(table.count).fill(-1);
  const levels = new Int32Array(table.count);
  const read = new Uint8Array(table.count);
  const scopes: Building[] = [];
  const create = (parent: Building | undefined, segment: string, level: number): Building => {
    const path = parent && parent.path !== "" ? `${parent.path}.${segment}` : segment;
    const scope: Building = {
      id: scopes.length, kind: "module", parent: parent?.id ?? -1, label: segment, path, children: [], times: 1, nodes: 0,
      level, read: false, depth: (parent?.depth ?? -1) + 1, open: new Map(),
    };
    scopes.push(scope);
    parent?.children.push(table.count + scope.id);
    parent?.open.set(segment, scope);
    return scope;
  };
  const root = create(undefined, "", 0);
  /** The child of `scope` in which a node stands: a scope, or undefined for the node itself. */
  const within = (node: number, scope: Building): Building | undefined => {
    let at = scopes[scopeOf[node] ?? 0];
    while (at && at.depth > scope.depth + 1) at = scopes[at.parent];
    return at === scope ? undefined : at;
  };
  const segments = new Map<string, readonly string[]>();
  const pathOf = (node: number): readonly string[] => {
    const path = table.roles[node] === ROLE_OP ? word(table.modules, node) : "";
    let known = segments.get(path);
    if (!known) segments.set(path, (known = path === "" ? [] : path.split(".")));
    return known;
  };
  for (let node = 0; node < table.count; node += 1) {
    if (!shown[node]) continue;
    let inside = [...row(table.inputs, node)].filter((input) => scopeOf[input] !== -1);
    let scope = root;
    /** The highest level among the siblings that are read, other than `besides`; they count as read. */
    const highest = (besides: Building | undefined): number => {
      let found = -1;
      for (const input of inside) {
        const sibling = within(input, scope);
        if (sibling && sibling === besides) continue;
        found = Math.max(found, sibling ? sibling.level : (levels[input] ?? 0));
        if (sibling) sibling.read = true;
        else read[input] = 1;
      }
      return found;
    };
    for (const segment of pathOf(node)) {
      const known = scope.open.get(segment);
      const level = highest(known);
      let next = known;
      if (!next) next = create(scope, segment, level + 1);
      else if (level >= next.level) {
        if (next.read) next = create(scope, segment, Math.max(level, highest(undefined)) + 1);
        else next.level = level + 1;
      }
      const joined = next;
      inside = inside.filter((input) => within(input, scope) === joined);
      scope = joined;
    }
    levels[node] = highest(undefined) + 1;
    scopeOf[node] = scope.id;
    scope.children.push(node);
    for (let up: Building | undefined = scope; up; up = scopes[up.parent]) up.nodes += 1;
  }
  return { table, scopes: scopes.map(plain), scopeOf };
}

function plain({ id, kind, parent, label, path, children, times, nodes }: Building): Scope {
  return { id, kind, parent, label, path, children, times, nodes };
}

/** Which nodes are drawn as boxes. In a graph without operations all are, so that there is something to see. */
function shownNodes(table: GraphTable): Uint8Array {
  const shown = new Uint8Array(table.count);
  let [inputs, operations] = [0, 0];
  for (const role of table.roles) {
    if (role === ROLE_INPUT) inputs += 1;
    if (role === ROLE_OP) operations += 1;
  }
  if (operations === 0) return shown.fill(1);
  for (let node = 0; node < table.count; node += 1) {
    const role = table.roles[node];
    const few = role === ROLE_INPUT ? inputs <= MOST_INPUTS : role === ROLE_OUTPUT && row(table.inputs, node).length <= MOST_OUTPUTS;
    shown[node] = Number(role === ROLE_OP || few);
  }
  return shown;
}

export function isScope(hierarchy: Hierarchy, item: Item): boolean {
  return item >= hierarchy.table.count;
}

export function scopeAt(hierarchy: Hierarchy, item: Item): Scope | undefined {
  const id = item - hierarchy.table.count;
  return id < 0 ? undefined : hierarchy.scopes[id]; // asked for every row and box: looking up a negative index is slow
}

/** The scopes around an item, outermost first; the whole graph is the first. */
export function ancestorsOf(hierarchy: Hierarchy, item: Item): Scope[] {
  const found: Scope[] = [];
  let id = isScope(hierarchy, item) ? (scopeAt(hierarchy, item)?.parent ?? -1) : (hierarchy.scopeOf[item] ?? -1);
  while (id >= 0) {
    const scope = hierarchy.scopes[id];
    if (!scope) break;
    found.push(scope);
    id = scope.parent;
  }
  return found.reverse();
}

/** All nodes below an item, in no particular order. */
export function nodesBelow(hierarchy: Hierarchy, item: Item): number[] {
  const found: number[] = [];
  const waiting = [item];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const scope = scopeAt(hierarchy, next);
    if (scope) for (const child of scope.children) waiting.push(child);
    else found.push(next);
  }
  return found;
}
