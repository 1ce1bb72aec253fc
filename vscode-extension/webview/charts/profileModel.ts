/** What steps of a run took, as parts of one step and as rows of a table. Pure. */

import type { ExpressionTime, KernelTime, Location, RunProfileDocument, StepTime } from "../../../shared_schema/generated/wire.js";

/** A part of the step: an expression in one direction, all smaller ones together, or the time in which nothing computed. */
export interface Part {
  readonly kind: "expression" | "rest" | "idle";
  readonly row: ExpressionTime | undefined;
  /** Numbers its colour: both directions of an expression have the same. */
  readonly group: number;
  /** The part in the step, and in the whole width, which is more than the step where kernels run beside each other. */
  readonly share: number;
  readonly width: number;
}

export type ProfileBy = "expression" | "kernel" | "gap";
export type ProfileColumn = "time" | "spread" | "share" | "calls" | "bound" | "over" | "name";

export interface ProfileRow {
  readonly name: string;
  /** What hovering adds: the kernels behind an expression, or the modules around it. */
  readonly detail: string;
  readonly backward: boolean;
  readonly time: StepTime;
  readonly bound: number | null;
  readonly places: readonly Location[];
}

/** More could not be told apart by their colours. */
export const MOST_PARTS = 6;

/** The longest expressions first, then what is left of the computing, then the time in which nothing computed. */
export function partsOf({ expressions, idle }: RunProfileDocument): Part[] {
  const groups = new Map<string, number>();
  const groupOf = (row: ExpressionTime): number => {
    const key = keyOf(row);
    if (!groups.has(key)) groups.set(key, groups.size);
    return groups.get(key) ?? 0;
  };
  const shown = expressions.filter((row) => row.time.share > 0 && (groups.size < MOST_PARTS || groups.has(keyOf(row))) && groupOf(row) < MOST_PARTS);
  const rest = sumOf(expressions) - sumOf(shown);
  const parts: Omit<Part, "width">[] = shown.map((row) => ({ kind: "expression", row, group: groupOf(row), share: row.time.share }));
  if (rest > 1e-6) parts.push({ kind: "rest", row: undefined, group: MOST_PARTS, share: rest });
  if (idle && idle.share > 0) parts.push({ kind: "idle", row: undefined, group: MOST_PARTS + 1, share: idle.share });
  const whole = parts.reduce((all, { share }) => all + share, 0);
  return parts.map((part) => ({ ...part, width: part.share / whole }));
}

export function profileRows(shown: RunProfileDocument, by: ProfileBy): ProfileRow[] {
  switch (by) {
    case "expression":
      return shown.expressions.map((row) => ({ name: nameOfExpression(row), detail: kernelsOf(row), backward: row.backward, time: row.time, bound: row.bound_seconds, places: placesOf(row) }));
    case "kernel":
      return shown.kernels.map((row) => ({ name: row.name, detail: behind(row), backward: row.backward, time: row.time, bound: row.bound_seconds, places: row.places }));
    case "gap":
      return shown.gaps.map((gap) => ({ name: gap.after, detail: gap.before, backward: false, time: gap.time, bound: null, places: [gap.after_place, gap.before_place].filter((place) => place !== null) }));
  }
}

/** What the source, a stack or a module says; "" where none does. */
export function nameOfExpression(row: ExpressionTime): string {
  return row.text !== "" ? row.text : row.function;
}

/** `aten::addmm ×12, aten::relu`. */
export function kernelsOf({ kernels }: ExpressionTime): string {
  return Object.entries(kernels).map(([name, count]) => (count > 1 ? `${name} ×${String(count)}` : name)).join(", ");
}

export function placesOf({ path, range }: Pick<ExpressionTime, "path" | "range">): Location[] {
  return path !== null && range !== null ? [{ path, range }] : [];
}

/** How many times as long as its bound; undefined where there is none, or where a kernel around it has all of it. */
export function overBound({ time, bound }: ProfileRow): number | undefined {
  return bound === null || bound === 0 ? undefined : time.seconds / bound;
}

export function sortedProfile(rows: readonly ProfileRow[], column: ProfileColumn, descending: boolean): ProfileRow[] {
  const compared = (one: ProfileRow, other: ProfileRow): number =>
    column === "name" ? one.name.localeCompare(other.name, "en", { numeric: true }) : numberOf(one, column) - numberOf(other, column);
  return [...rows].sort((one, other) => (descending ? compared(other, one) : compared(one, other)));
}

function numberOf(row: ProfileRow, column: Exclude<ProfileColumn, "name">): number {
  switch (column) {
    case "time":
      return row.time.seconds;
    case "spread":
      return row.time.high - row.time.low;
    case "share":
      return row.time.share;
    case "calls":
      return row.time.calls;
    case "bound":
      return row.bound ?? -1;
    case "over":
      return overBound(row) ?? -1;
  }
}

function keyOf(row: ExpressionTime): string {
  return row.range === null ? row.function : `${row.path ?? ""}:${String(row.range.start.line)}:${String(row.range.start.character)}:${String(row.range.end.line)}:${String(row.range.end.character)}`;
}

function sumOf(rows: readonly ExpressionTime[]): number {
  return rows.reduce((all, { time: { share } }) => all + share, 0);
}

function behind({ functions, modules }: KernelTime): string {
  return [...functions, ...modules].join(", ");
}
