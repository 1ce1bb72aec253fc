/** How wrong each line computes, as levels of colour, and where the lines are after edits. Pure. */

import type { DiffDocument, NodeError } from "../webview/kerneldiff/document.js";

/** One line's largest error. */
export interface HeatLine {
  readonly line: number;
  /** The relative error; infinite for what is no number. */
  readonly error: number;
  /** The operation that has it, and its module. */
  readonly op: string;
  readonly module: string;
  /** 0 for the smallest errors of the comparison, `LEVELS - 1` for the largest. */
  readonly level: number;
}

export interface Heat {
  readonly lines: readonly HeatLine[];
  readonly low: number;
  readonly high: number;
  /** Whether the errors are those of single operations; otherwise of everything up to them. */
  readonly own: boolean;
}

export const LEVELS = 5;

/** The lines of a file that have an error, coloured by its logarithm between the smallest and the largest one. */
export function heatOf(document: DiffDocument, path: string): Heat {
  const own = document.nodes.some(({ isolated }) => isolated !== null);
  const worst = new Map<number, Omit<HeatLine, "level">>();
  for (const { path: where, range, isolated, accumulated, op, module } of document.nodes) {
    const error = sizeOf(own ? isolated : accumulated);
    if (where !== path || range === null || error === 0) continue;
    const { line } = range.start;
    if (error > (worst.get(line)?.error ?? 0)) worst.set(line, { line, error, op: op.replace(/\.default$/u, ""), module });
  }
  const finite = [...worst.values()].map(({ error }) => error).filter(Number.isFinite);
  const [low, high] = [Math.min(...finite, Infinity), Math.max(...finite, 0)];
  const levelOf = (error: number): number => {
    if (error === Infinity || high <= low) return LEVELS - 1;
    return Math.min(LEVELS - 1, Math.floor((Math.log(error / low) / Math.log(high / low)) * LEVELS));
  };
  const lines = [...worst.values()].map((line) => ({ ...line, level: levelOf(line.error) }));
  return { lines: lines.sort((left, right) => left.line - right.line), low: high > 0 ? low : 0, high, own };
}

function sizeOf(error: NodeError | null): number {
  if (!error) return 0;
  return error.invalid || error.relative === null ? Infinity : error.relative;
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
