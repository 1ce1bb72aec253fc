/** What charts of a run say of lines, for the gutter: what compiling them takes, what a step took in them, or takes at least. Pure. */

import type { Range } from "../../../shared_schema/generated/wire.js";
import type { Charts } from "../../webview/charts/messages.js";
import type { HotLine } from "../../webview/graph/looks/overlay.js";
import { inPercent, inSeconds } from "../../webview/shared/figures.js";
import { shareLevel } from "../../webview/shared/heat.js";
import type { DrawnHeat } from "../services/overlays.js";

/** Seconds at an expression; the place is null where there is none in the source. */
interface Timed {
  readonly path: string | null;
  readonly range: Range | null;
  readonly seconds: number;
}

/** The heat of charts; undefined of those that say of no line how long it takes. Parts are of all that each document is about. */
export function heatOfCharts(charts: Charts): DrawnHeat | undefined {
  switch (charts.kind) {
    case "memory":
      return undefined;
    case "compile-time":
      return heat("compile-time", charts.documents, ({ expressions, seconds }) => linesOf(expressions, seconds));
    case "profile":
      return heat("measured-time", charts.documents, ({ expressions, step }) => {
        const timed = expressions.map(({ path, range, time }) => ({ path, range, seconds: time.seconds }));
        return linesOf(timed, step?.seconds ?? 0);
      });
    case "roofline":
      return heat("bound", charts.documents.map(({ cost }) => cost), ({ lines, run }) =>
        lines.flatMap(({ path, line, cost: { seconds } }) => (seconds == null ? [] : [hotLine(path, line, seconds, run.total.seconds ?? 0)])));
  }
}

function heat<Document extends { readonly target: string }>(metric: DrawnHeat["metric"], documents: readonly Document[], of: (document: Document) => HotLine[]): DrawnHeat | undefined {
  const [first] = documents;
  const lines = documents.flatMap(of);
  return first && lines.length > 0 ? { target: first.target, metric, lines } : undefined;
}

/** What a line's expressions take together, which begin on it. */
function linesOf(expressions: readonly Timed[], whole: number): HotLine[] {
  const found = new Map<string, { readonly path: string; readonly line: number; readonly seconds: number }>();
  for (const { path, range, seconds } of expressions) {
    if (path === null || range === null) continue;
    const { line } = range.start;
    const key = `${line} ${path}`;
    found.set(key, { path, line, seconds: seconds + (found.get(key)?.seconds ?? 0) });
  }
  return [...found.values()].map(({ path, line, seconds }) => hotLine(path, line, seconds, whole));
}

function hotLine(path: string, line: number, seconds: number, whole: number): HotLine {
  const part = whole > 0 ? ` (${inPercent(seconds / whole)})` : "";
  return { path, line, level: shareLevel(seconds, whole), text: `${inSeconds(seconds)}${part}` };
}
