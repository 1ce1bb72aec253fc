/** Which scopes are to be open: as many as can be read, or those around something. */

import { ancestorsOf, type Hierarchy, isScope, type Item, type Scope } from "../model/hierarchy.js";

/** Scopes to open so that a graph shows as much as fits into a number of boxes: outer ones first. */
export function openUpTo(hierarchy: Hierarchy, budget: number, wanted: (scope: Scope) => boolean = () => true): Set<number> {
  const open = new Set<number>([0]);
  let boxes = hierarchy.scopes[0]?.children.length ?? 0;
  let waiting = [0];
  while (waiting.length > 0) {
    const next: number[] = [];
    for (const id of waiting) {
      for (const child of hierarchy.scopes[id]?.children ?? []) {
        const scope = isScope(hierarchy, child) ? hierarchy.scopes[child - hierarchy.table.count] : undefined;
        if (!scope || !wanted(scope) || boxes + scope.children.length > budget) continue;
        boxes += scope.children.length;
        open.add(scope.id);
        next.push(scope.id);
      }
    }
    waiting = next;
  }
  return open;
}

/** The open scopes with those around some items added. */
export function openAround(hierarchy: Hierarchy, open: ReadonlySet<number>, items: Iterable<Item>): Set<number> {
  const wider = new Set(open);
  for (const item of items) for (const scope of ancestorsOf(hierarchy, item)) wider.add(scope.id);
  return wider;
}
