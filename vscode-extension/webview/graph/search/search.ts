/** Search and filters over one graph: which nodes match. Linear; strings that repeat are looked at once. */

import type { NodeFinding } from "../model/findings.js";
import { holds, parse, type Term } from "./query.js";
import { type GraphTable, KINDS, shortType, word, type Words } from "../model/table.js";

export interface Filter {
  /** In the language of `query.ts`. */
  readonly text: string;
  readonly rules: ReadonlySet<string>;
  readonly dtypes: ReadonlySet<string>;
}

export const NO_FILTER: Filter = { text: "", rules: new Set(), dtypes: new Set() };

type Test = (node: number) => boolean;
type Findings = ReadonlyMap<number, readonly NodeFinding[]>;

function isEmpty(filter: Filter): boolean {
  return filter.text.trim() === "" && filter.rules.size === 0 && filter.dtypes.size === 0;
}

/** Matching nodes in graph order; undefined where nothing is asked for, or what is asked for cannot be understood (`parse` says why). */
export function matchesOf(table: GraphTable, filter: Filter, findings: Findings): number[] | undefined {
  if (isEmpty(filter)) return undefined;
  const { terms, problem } = parse(filter.text);
  if (problem) return undefined;
  const tests = terms.map((term) => testOf(table, term, findings));
  const found: number[] = [];
  for (let node = 0; node < table.count; node += 1) {
    if (filter.dtypes.size > 0 && !filter.dtypes.has(shortType(word(table.dtypes, node)))) continue;
    if (filter.rules.size > 0 && !findings.get(node)?.some(({ rule }) => filter.rules.has(rule))) continue;
    if (tests.every((test) => test(node))) found.push(node);
  }
  return found;
}

function testOf(table: GraphTable, term: Term, findings: Findings): Test {
  const test = term.is === "amount" ? amountTest(table, term) : textTest(table, term, findings);
  return term.not ? (node) => !test(node) : test;
}

function amountTest(table: GraphTable, { quantity, sign, amount }: Extract<Term, { is: "amount" }>): Test {
  const value = quantity === "elements" ? elementsIn(table) : (node: number): number => table[quantity][node] ?? -1;
  return (node) => value(node) >= 0 && holds(sign, value(node), amount);
}

/** How many elements a node's value has; -1 where that is not known. */
function elementsIn(table: GraphTable): (node: number) => number {
  const { words, codes } = table.shapes;
  const known = new Map<number, number>();
  return (node) => {
    const code = codes[node] ?? 0;
    let elements = known.get(code);
    if (elements === undefined) {
      const sizes = dimensionsOf(words[code] ?? "");
      known.set(code, (elements = sizes?.every((size) => /^\d+$/u.test(size)) === true ? sizes.reduce((product, size) => product * Number(size), 1) : -1));
    }
    return elements;
  };
}

/** The sizes as they are written; undefined where the value is no single tensor. */
function dimensionsOf(shape: string): string[] | undefined {
  if (!shape.startsWith("[")) return undefined;
  return shape === "[]" ? [] : shape.slice(1, -1).split(", ");
}

function textTest(table: GraphTable, term: Exclude<Term, { is: "amount" }>, findings: Findings): Test {
  const agrees = (text: string): boolean => (term.is === "pattern" ? term.pattern.test(text) : text.toLowerCase().includes(term.text));
  const typed = (text: string): boolean => agrees(text) || agrees(shortType(text));
  switch (term.field) {
    case "any": {
      const columns = [...[table.names, table.ops, table.modules, table.shapes, table.details].map((column) => rowsWith(column, agrees)), rowsWith(table.dtypes, typed)];
      return (node) => columns.some((test) => test(node));
    }
    case "op":
      return rowsWith(table.ops, agrees);
    case "module":
      return rowsWith(table.modules, agrees);
    case "name":
      return rowsWith(table.names, agrees);
    case "dtype":
      return rowsWith(table.dtypes, term.is === "pattern" ? typed : (text) => text !== "" && [shortType(text), text.replace(/^torch\./u, "")].includes(term.text));
    case "shape":
      return rowsWith(table.shapes, (text) => (term.is === "text" && /^\d+$/u.test(term.text) ? dimensionsOf(text)?.includes(term.text) === true : agrees(text)));
    case "kind":
      return (node) => agrees(KINDS[table.kinds[node] ?? -1] ?? "");
    case "rule":
      return (node) => findings.get(node)?.some(({ rule }) => agrees(rule)) === true;
  }
}

function rowsWith(column: Words, agrees: (text: string) => boolean): Test {
  const known = new Map<number, boolean>();
  return (row) => {
    const code = column.codes[row] ?? 0;
    let answer = known.get(code);
    if (answer === undefined) known.set(code, (answer = agrees(column.words[code] ?? "")));
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
