/**
 * What a layout needs to know of a graph: which scope stands in which, and which node reads which. Numbers in typed arrays only, so
 * that the worker gets it once and quickly; what things are called and how they look stays in the page.
 */

import { type Hierarchy, isScope } from "../model/hierarchy.js";
import type { Lists } from "../model/table.js";

export interface Skeleton {
  /** Nodes. An item is a node, or `count` + the id of a scope. */
  readonly count: number;
  /** By scope: the scope around it (-1 for the whole graph), and the items in it. */
  readonly parents: Int32Array;
  readonly children: Lists;
  /** The scopes in use, outer ones first. */
  readonly order: Int32Array;
  /** The scope that a node stands in; -1 for stubs. */
  readonly scopeOf: Int32Array;
  readonly inputs: Lists;
}

export function skeletonOf(hierarchy: Hierarchy): Skeleton {
  const { table, scopes, scopeOf } = hierarchy;
  const offsets = new Uint32Array(scopes.length + 1);
  scopes.forEach((scope, id) => { offsets[id + 1] = (offsets[id] ?? 0) + scope.children.length; });
  const values = new Uint32Array(offsets.at(-1) ?? 0);
  scopes.forEach((scope, id) => { values.set(scope.children, offsets[id]); });
  const order = [0];
  for (const id of order) { // which grows meanwhile
    for (const child of scopes[id]?.children ?? []) if (isScope(hierarchy, child)) order.push(child - table.count);
  }
  return {
    count: table.count,
    parents: Int32Array.from(scopes, ({ parent }) => parent),
    children: { offsets, values },
    order: Int32Array.from(order),
    scopeOf,
    inputs: table.inputs,
  };
}

/** Calls back for each item that has a box where these scopes are open. Linear in those scopes. */
export function eachVisible({ count, parents, children, order }: Skeleton, open: ReadonlySet<number>, visit: (item: number) => void): void {
  const shown = new Uint8Array(parents.length);
  for (const id of order) {
    const parent = parents[id] ?? -1;
    if (parent >= 0 && !(shown[parent] === 1 && open.has(id))) continue;
    shown[id] = 1;
    if (parent < 0) visit(count + id);
    for (let at = children.offsets[id] ?? 0; at < (children.offsets[id + 1] ?? 0); at += 1) visit(children.values[at] ?? 0);
  }
}
