/** How hot each line is, as levels of the scale that the graph and the comparison have, and where the lines are after edits. Pure. */

import { errorLevel, type Level } from "../../webview/shared/heat.js";
import type { DiffDocument } from "../../../shared_schema/generated/wire.js";
import { multipleOf } from "../../webview/kerneldiff/model.js";

/** One line and the largest error on it. */
export interface HeatLine {
  readonly line: number;
  readonly level: Level;
  /** What was measured: `3.2×`. */
  readonly amount: string;
  /** The operation that has it, and its module; "" where it is all that is on the line. */
  readonly op: string;
  readonly module: string;
}

/** The lines of a file of which a comparison knows how much larger the error is than was to be expected. */
export function heatOf(document: DiffDocument, path: string): HeatLine[] {
  const own = document.nodes.some(({ isolated }) => isolated !== null);
  const passes = document.verdict === "pass";
  const worst = new Map<number, { readonly multiple: number; readonly line: HeatLine }>();
  for (const { path: where, range, isolated, accumulated, op, module } of document.nodes) {
    const multiple = multipleOf(own ? isolated : accumulated);
    if (where !== path || range === null || multiple === undefined) continue;
    const { line } = range.start;
    if (multiple <= (worst.get(line)?.multiple ?? -1)) continue;
    worst.set(line, { multiple, line: { line, level: errorLevel(multiple, passes), amount: multipleText(multiple), op: op.replace(/\.default$/u, ""), module } });
  }
  return [...worst.values()].map(({ line }) => line).sort((left, right) => left.line - right.line);
}

function multipleText(multiple: number): string {
  return multiple === Infinity ? "∞" : `${Number(multiple.toPrecision(2))}×`;
}

/** One edit, in lines of the text before it. */
export interface LineEdit {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
  readonly text: string;
}

/** The lines after an edit. A line that was changed itself has no heat any more: nobody has measured it. */
export function afterEdit(lines: readonly HeatLine[], { startLine, startCharacter, endLine, endCharacter, text }: LineEdit): HeatLine[] {
  const delta = (text.match(/\r\n|\r|\n/gu)?.length ?? 0) - (endLine - startLine);
  const wholeLines = startCharacter === 0 && endCharacter === 0 && (text === "" || /[\r\n]$/u.test(text));
  return lines.flatMap((heat) => {
    if (heat.line < startLine) return [heat];
    if (heat.line > endLine || (wholeLines && heat.line === endLine)) return [{ ...heat, line: heat.line + delta }];
    return [];
  });
}
