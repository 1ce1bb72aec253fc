/** Compares whatever two graphs are asked for, in the direction in which they were made, and remembers the last answer. */

import { type Change, type Diff, diffOf } from "./diff.js";
import type { GraphTable } from "../model/table.js";

export interface Comparison {
  readonly diff: Diff;
  readonly left: GraphTable;
  readonly right: GraphTable;
}

let last: Comparison | undefined;

/** `left` counts as the older one: what only it has is removed. */
export function compare(left: GraphTable, right: GraphTable): Comparison {
  if (last?.left === left && last.right === right) return last;
  const backwards = left.madeFrom === right.name && left.name !== right.name;
  const diff = backwards ? turned(diffOf(right, left)) : diffOf(left, right);
  last = { diff, left, right };
  return last;
}

function turned({ left, right, leftChanges, rightChanges, counts }: Diff): Diff {
  const turn = (change: Change): Change => (change === "added" ? "removed" : change === "removed" ? "added" : change);
  return {
    left: right, right: left, leftChanges: rightChanges.map(turn), rightChanges: leftChanges.map(turn),
    counts: { ...counts, added: counts.removed, removed: counts.added },
  };
}
