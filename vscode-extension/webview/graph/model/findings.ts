/** Findings at the nodes that they are about: joined by the expression, and by the operation where the finding names one. */

import type { Location } from "../../../../shared_schema/generated/wire.js";
import { categoryOf } from "./labels.js";
import { type GraphTable, ROLE_OP, word } from "./table.js";

export type Severity = "error" | "warning" | "information" | "hint";

export interface NodeFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly place: Location;
  /** The operation's overload, where the finding is about one. */
  readonly op: string | null;
}

const ORDER: readonly Severity[] = ["error", "warning", "information", "hint"];

/**
 * Findings by node: at the finding's operation, if it is among the nodes of the expression; otherwise at what the compiler has made of it,
 * an operation of the same kind; otherwise at all nodes of the expression itself, and only where it has none at those of the expressions in it.
 */
export function findingsOf(table: GraphTable, findings: readonly NodeFinding[]): ReadonlyMap<number, readonly NodeFinding[]> {
  const nodesOf = new Map<number, number[]>();
  for (let node = 0; node < table.count; node += 1) {
    const place = table.placeOf[node] ?? -1;
    if (place < 0 || table.roles[node] !== ROLE_OP) continue;
    const known = nodesOf.get(place);
    if (known) known.push(node);
    else nodesOf.set(place, [node]);
  }
  const found = new Map<number, NodeFinding[]>();
  for (const finding of findings) {
    const nodes = [...nodesOf].flatMap(([place, all]) => (meets(table.places[place], finding.place) ? all : []));
    const named = nodes.filter((node) => finding.op !== null && word(table.ops, node) === finding.op);
    const exact = nodes.filter((node) => isSame(table.places[table.placeOf[node] ?? -1], finding.place));
    const kind = finding.op === null ? "other" : categoryOf(finding.op);
    const alike = kind === "other" ? [] : exact.filter((node) => categoryOf(word(table.ops, node)) === kind);
    for (const node of [named, alike, exact, nodes].find((some) => some.length > 0) ?? []) {
      const known = found.get(node);
      if (known) known.push(finding);
      else found.set(node, [finding]);
    }
  }
  for (const all of found.values()) all.sort((left, right) => ORDER.indexOf(left.severity) - ORDER.indexOf(right.severity));
  return found;
}

/** Whether an expression is the finding's or a part of it. */
function meets(place: Location | undefined, other: Location): boolean {
  if (place?.path !== other.path) return false;
  const [inner, outer] = [place.range, other.range];
  const starts = inner.start.line > outer.start.line || (inner.start.line === outer.start.line && inner.start.character >= outer.start.character);
  const ends = inner.end.line < outer.end.line || (inner.end.line === outer.end.line && inner.end.character <= outer.end.character);
  return starts && ends;
}

function isSame(place: Location | undefined, other: Location): boolean {
  return place !== undefined && meets(place, other) && meets(other, place);
}

/** Those that are at no expression of any graph: what stopped a capture, or is about the file. */
export function unplaced(tables: readonly GraphTable[], findings: readonly NodeFinding[]): NodeFinding[] {
  const places = new Set(tables.flatMap((table) => table.places));
  return findings.filter((finding) => ![...places].some((place) => meets(place, finding.place)));
}

export function worst(findings: readonly NodeFinding[]): Severity | undefined {
  return findings[0]?.severity;
}
