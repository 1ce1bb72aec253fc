/** Findings at the nodes that they are about: those that the daemon has marked. */

import type { Location, Mark } from "../../../../shared_schema/generated/wire.js";
import { type Entry, type Library, relatedTo } from "./library.js";
import { indexOfNames, ROLE_OP } from "./table.js";

export type Severity = "error" | "warning" | "information" | "hint";

export interface NodeFinding {
  readonly rule: string;
  readonly severity: Severity;
  readonly message: string;
  readonly place: Location;
  /** The operation's overload, where the finding is about one. */
  readonly op: string | null;
  /** Where else the same is told. */
  readonly also: readonly Location[];
}

const ORDER: readonly Severity[] = ["error", "warning", "information", "hint"];

/**
 * Findings by node of one graph: at the nodes that the daemon has named for them, or what those became in this graph. A finding that is about
 * no operation (a graph break, a capture that ended) is at the value of its expression.
 */
export function findingsOf(library: Library, entry: Entry, findings: readonly NodeFinding[]): ReadonlyMap<number, readonly NodeFinding[]> {
  const found = new Map<number, NodeFinding[]>();
  for (const finding of findings) {
    for (const node of nodesOf(library, entry, finding)) {
      const known = found.get(node);
      if (known) known.push(finding);
      else found.set(node, [finding]);
    }
  }
  for (const all of found.values()) all.sort((left, right) => ORDER.indexOf(left.severity) - ORDER.indexOf(right.severity));
  return found;
}

function nodesOf(library: Library, entry: Entry, finding: NodeFinding): Iterable<number> {
  const places = new Set([finding.place, ...finding.also].map(keyOf));
  const marks = library.marks[entry.save].filter(({ rule, place }) => rule === finding.rule && places.has(keyOf(place)));
  // A later stage may have a graph of that name with other nodes, which the marks of the earlier one do not know.
  const own = new Set(marks.flatMap((mark) => (mark.graph === entry.table.name ? named(entry, mark) : [])));
  if (own.size > 0) return own;
  const others = library.entries.filter(({ save, table }) => save === entry.save && marks.some(({ graph }) => graph === table.name));
  for (const other of others) {
    const nodes = marks.flatMap((mark) => (mark.graph === other.table.name ? named(other, mark) : []));
    const became = relatedTo(library, other.id, nodes).nodes.get(entry.id);
    if (became) return became;
  }
  return finding.op === null ? valueAt(entry, keyOf(finding.place)) : [];
}

function named({ table }: Entry, { nodes }: Mark): number[] {
  const index = indexOfNames(table);
  return nodes.flatMap((name) => index.get(name) ?? []);
}

/** The last operation of an expression, which gives its value. */
function valueAt({ table }: Entry, key: string): number[] {
  for (let node = table.count - 1; node >= 0; node -= 1) {
    const place = table.roles[node] === ROLE_OP ? table.places[table.placeOf[node] ?? -1] : undefined;
    if (place && keyOf(place) === key) return [node];
  }
  return [];
}

function keyOf({ path, range: { start, end } }: Location): string {
  return `${start.line}:${start.character}-${end.line}:${end.character} ${path}`;
}

/** Those that are at no node of any graph: what stopped a capture, or is about the file. */
export function unplaced(library: Library, findings: readonly NodeFinding[]): NodeFinding[] {
  return findings.filter((finding) => library.entries.every((entry) => findingsOf(library, entry, [finding]).size === 0));
}

export function worst(findings: readonly NodeFinding[]): Severity | undefined {
  return findings[0]?.severity;
}
