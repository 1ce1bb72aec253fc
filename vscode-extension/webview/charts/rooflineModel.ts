/** What a target costs at least as dots below roofs and as rows of a table. Pure. */

import type { CostBound, CostDocument, ExpressionCost, Location, RooflineDocument } from "../../../shared_schema/generated/wire.js";
import { placeOf } from "./rowPlaces.js";

/** An expression that counts operations: operations for each byte that has to cross, and how many a second the bound allows. */
export interface Dot {
  readonly row: ExpressionCost;
  readonly intensity: number;
  readonly rate: number;
  readonly share: number;
}

export type By = "expression" | "line" | "module" | "operator";
export type Column = "name" | "bound" | "share" | "roof" | "operations" | "crossing" | "intensity";

export interface CostRow {
  readonly name: string;
  readonly detail: string;
  readonly backward: boolean;
  readonly cost: CostBound;
  readonly place: Location | undefined;
  /** The expression that a dot stands for, where the row is one. */
  readonly expression?: ExpressionCost;
}

/** Beyond this nothing is farther to the right: operands of such products stay on the chip. */
const MOST_INTENSE = 1e6;

/** The largest share first. What counts no operations, such as a copy, has no place below a roof. */
export function dotsOf({ cost }: RooflineDocument): Dot[] {
  return cost.expressions
    .flatMap((row) => {
      const { operations, seconds } = row.cost;
      return operations > 0 && seconds != null && seconds > 0 ? [{ row, intensity: intensityOf(row.cost), rate: operations / seconds, share: row.cost.share ?? 0 }] : [];
    })
    .sort((one, other) => other.share - one.share);
}

export function intensityOf({ operations, crossing_bytes: bytes }: CostBound): number {
  return Math.min(operations / Math.max(bytes, 1), MOST_INTENSE);
}

/** The part of the bound that no dot stands for. */
export function shareWithoutDots({ cost }: RooflineDocument, dots: readonly Dot[]): number {
  const sum = (rows: readonly { readonly cost: CostBound }[]): number => rows.reduce((all, row) => all + (row.cost.share ?? 0), 0);
  return Math.max(0, sum(cost.expressions) - sum(dots.map(({ row }) => row)));
}

export interface Extent {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

/** What the axes go from and to: all dots, and the ridges at which roofs turn. */
export function extentOf({ bytes_per_second: bandwidth, ceilings }: RooflineDocument, dots: readonly Dot[]): Extent {
  const rates = ceilings.map(({ operations_per_second: rate }) => rate);
  const ridges = bandwidth == null ? [] : rates.map((rate) => rate / bandwidth);
  const across = [...dots.map(({ intensity }) => intensity), ...ridges];
  const up = [...dots.map(({ rate }) => rate), ...rates];
  const around = (values: readonly number[], over: number): readonly [number, number] => (values.length > 0 ? [Math.min(...values) / 3, Math.max(...values) * over] : [0.1, 10]);
  const [left, right] = around(across, 6);
  const [bottom, top] = around(up, 2);
  return { left, right, bottom: Math.min(bottom, top / 100), top };
}

export function rowsOf(cost: CostDocument, by: By): CostRow[] {
  switch (by) {
    case "expression":
      return cost.expressions.map((row) => ({ name: row.text === "" ? nameOfOps(row) : row.text, detail: nameOfOps(row), backward: row.backward, cost: row.cost, place: placeOf(row), expression: row }));
    case "line":
      return cost.lines.map(({ path, line, cost: own }) => ({
        name: textOfLine(cost, path, line), detail: "", backward: false, cost: own, place: { path, range: { start: { line, character: 0 }, end: { line, character: 0 } } },
      }));
    case "module":
      return cost.modules.map(({ module, cost: own }) => ({ name: module === "" ? cost.target : module, detail: "", backward: false, cost: own, place: undefined }));
    case "operator":
      return cost.operators.map(({ op, cost: own }) => ({ name: op, detail: "", backward: false, cost: own, place: undefined }));
  }
}

/** `aten.addmm.default ×12, aten.view.default`. */
export function nameOfOps({ ops }: ExpressionCost): string {
  return Object.entries(ops).map(([op, count]) => (count > 1 ? `${op} ×${String(count)}` : op)).join(", ");
}

function textOfLine({ expressions }: CostDocument, path: string, line: number): string {
  const here = expressions.filter((row) => row.path === path && row.range?.start.line === line);
  return here.reduce((longest, { text }) => (text.length > longest.length ? text : longest), "");
}

export function sortedRows(rows: readonly CostRow[], column: Column, descending: boolean): CostRow[] {
  const compared = (one: CostRow, other: CostRow): number => {
    if (column === "name") return one.name.localeCompare(other.name, "en", { numeric: true });
    if (column === "roof") return (one.cost.limited_by ?? "").localeCompare(other.cost.limited_by ?? "", "en");
    return numberOf(one.cost, column) - numberOf(other.cost, column);
  };
  return [...rows].sort((one, other) => (descending ? compared(other, one) : compared(one, other)));
}

function numberOf(cost: CostBound, column: Exclude<Column, "name" | "roof">): number {
  switch (column) {
    case "bound":
      return cost.seconds ?? 0;
    case "share":
      return cost.share ?? 0;
    case "operations":
      return cost.operations;
    case "crossing":
      return cost.crossing_bytes;
    case "intensity":
      return intensityOf(cost);
  }
}

/** Powers of ten between two numbers, at most `most` of them. */
export function decades(low: number, high: number, most: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, most)));
  return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_none, at) => first + at * step);
}
