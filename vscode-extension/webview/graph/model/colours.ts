/**
 * What the colour of a node says: which kind of operation it is, its data type, or the kernel that computes it. A colour is a number here;
 * `view/theme.ts` knows how it looks. Data types and kernels get theirs in a fixed order, so that a picture is the same each time.
 */

import { type Category, categoryOf } from "./labels.js";
import { dtypesIn } from "./search.js";
import { type GraphTable, ROLE_OP, shortType, word } from "./table.js";

/** What the colour of a box's edge says. */
export type Colouring = "operation" | "dtype" | "kernel";

/** How many colours there are beside the one that says nothing. */
export const COLOURS = 7;

/** The kinds of operations that have a colour of their own: those that there are in a graph, in this order. */
export const CATEGORIES: readonly Category[] = ["product", "reduction", "shape", "conversion", "random", "other"];

export function categoriesIn(table: GraphTable): Category[] {
  const found = new Set<Category>();
  const seen = new Set<number>();
  table.roles.forEach((role, node) => {
    const code = table.ops.codes[node] ?? 0;
    if (role !== ROLE_OP || seen.has(code)) return;
    seen.add(code);
    found.add(categoryOf(word(table.ops, node)));
  });
  return CATEGORIES.filter((category) => found.has(category));
}

const dtypeRanks = new WeakMap<GraphTable, ReadonlyMap<string, number>>();
const kernelRanks = new WeakMap<GraphTable, ReadonlyMap<number, number>>();

/** Which of the colours a node's data type has, the most frequent first; undefined for none, and for those that come after the last colour. */
export function dtypeColour(table: GraphTable, node: number): number | undefined {
  let ranks = dtypeRanks.get(table);
  if (!ranks) dtypeRanks.set(table, (ranks = new Map(dtypesIn(table).slice(0, COLOURS).map(([dtype], rank) => [dtype, rank]))));
  return ranks.get(shortType(word(table.dtypes, node)));
}

/** Which of the colours a node's (first) kernel has; they come again after the last. Undefined where it is in no kernel. */
export function kernelColour(table: GraphTable, node: number): number | undefined {
  const { offsets, values } = table.kernels;
  const first = offsets[node] ?? 0;
  if (first === (offsets[node + 1] ?? 0)) return undefined;
  const rank = kernelsOf(table).get(values[first] ?? 0);
  return rank === undefined ? undefined : rank % COLOURS;
}

/** Kernels in the order in which nodes name them. */
export function kernelsOf(table: GraphTable): ReadonlyMap<number, number> {
  let ranks = kernelRanks.get(table);
  if (!ranks) {
    const made = new Map<number, number>();
    for (const code of table.kernels.values) if (!made.has(code)) made.set(code, made.size);
    kernelRanks.set(table, (ranks = made));
  }
  return ranks;
}
