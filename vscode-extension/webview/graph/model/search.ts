/** Search and filters over one graph: which nodes match. Linear; strings that repeat are looked at once. */

import type { NodeFinding } from "./findings.js";
import { type GraphTable, shortType, word, type Words } from "./table.js";

export interface Filter {
  /** Words, all of which must be in the node's name, op, module, data type, shape or detail; case does not matter. */
  readonly text: string;
  readonly rules: ReadonlySet<string>;
  readonly dtypes: ReadonlySet<string>;
}

export const NO_FILTER: Filter = { text: "", rules: new Set(), dtypes: new Set() };

function isEmpty(filter: Filter): boolean {
  return filter.text.trim() === "" && filter.rules.size === 0 && filter.dtypes.size === 0;
}

/** Matching nodes in graph order; undefined where nothing is asked for. */
export function matchesOf(table: GraphTable, filter: Filter, findings: ReadonlyMap<number, readonly NodeFinding[]>): number[] | undefined {
  if (isEmpty(filter)) return undefined;
  const words = filter.text.toLowerCase().split(/\s+/u).filter((text) => text !== "");
  const tests = words.map((text) => [table.names, table.ops, table.modules, table.shapes, table.details, table.dtypes].map((column) => rowsWith(column, text)));
  const found: number[] = [];
  for (let node = 0; node < table.count; node += 1) {
    if (filter.dtypes.size > 0 && !filter.dtypes.has(shortType(word(table.dtypes, node)))) continue;
    if (filter.rules.size > 0 && !findings.get(node)?.some(({ rule }) => filter.rules.has(rule))) continue;
    if (tests.every((columns) => columns.some((test) => test(node)))) found.push(node);
  }
  return found;
}

function rowsWith(column: Words, text: string): (row: number) => boolean {
  const known = new Map<number, boolean>();
  return (row) => {
    const code = column.codes[row] ?? 0;
    let answer = known.get(code);
    if (answer === undefined) known.set(code, (answer = (column.words[code] ?? "").toLowerCase().includes(text)));
    return answer;
  };
}

const dtypes = new WeakMap<GraphTable, readonly (readonly [name: string, count: number])[]>();

/** The data types of a graph with the number of nodes that have each, most first. Counted once. */
export function dtypesIn(table: GraphTable): readonly (readonly [name: string, count: number])[] {
  const known = dtypes.get(table);
  if (known) return known;
  const { words, codes } = table.dtypes;
  const byCode = new Map<number, number>(); // `words` are those of the whole file
  for (const code of codes) byCode.set(code, (byCode.get(code) ?? 0) + 1);
  const counts = new Map<string, number>();
  for (const [code, count] of byCode) {
    const dtype = shortType(words[code] ?? "");
    if (dtype !== "") counts.set(dtype, (counts.get(dtype) ?? 0) + count);
  }
  const sorted = [...counts].sort((left, right) => right[1] - left[1]);
  dtypes.set(table, sorted);
  return sorted;
}

/** The rules found in a graph with the number of nodes at which each is. */
export function rulesIn(findings: ReadonlyMap<number, readonly NodeFinding[]>): [name: string, count: number][] {
  const counts = new Map<string, number>();
  for (const all of findings.values()) for (const rule of new Set(all.map((one) => one.rule))) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return [...counts].sort(([left], [right]) => left.localeCompare(right));
}
