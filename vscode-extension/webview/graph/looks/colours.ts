/**
 * What the colour of a node says: which kind of operation it is, its data type, or the kernel that computes it. A colour is a number here;
 * `view/theme.ts` knows how it looks. Data types and kernels get theirs in a fixed order, so that a picture is the same each time.
 */

import type { OperationKind } from "../../../../shared_schema/generated/wire.js";
import { dtypesIn } from "../search/search.js";
import { type GraphTable, KINDS, shortType, word } from "../model/table.js";

/** What is measured of nodes, and can be drawn as heat. */
export type Metric = "bytes" | "flops" | "bound" | "error";
/** What the colour of a box says. */
export type Colouring = "operation" | "dtype" | "kernel" | Metric;

const METRICS: ReadonlySet<Colouring> = new Set<Metric>(["bytes", "flops", "bound", "error"]);

export function isMetric(colouring: Colouring): colouring is Metric {
  return METRICS.has(colouring);
}

/** How many colours there are beside the one that says nothing. */
export const COLOURS = 7;

/** The kinds of operations that there are in a graph, in the order of `KINDS`. */
export function kindsIn(table: GraphTable): OperationKind[] {
  const found = new Set(table.kinds);
  return KINDS.filter((_kind, code) => found.has(code));
}

/** The kind of a node; undefined where it computes nothing. */
export function kindOf(table: GraphTable, node: number): OperationKind | undefined {
  return KINDS[table.kinds[node] ?? -1];
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
