/**
 * All that is loaded: the graphs, kernels and listings of one target's stages, perhaps of two saves, and how their nodes belong
 * together. A node is followed from graph to graph: `origins` up and down, `forward` across, `kernels` at the end.
 */

import type { DeviceSpecs, Kernel, KernelBuild, Listing, Location, Mark } from "../../../../shared_schema/generated/wire.js";
import type { Document } from "./columns.js";
import type { Whole } from "./specs.js";
import { type GraphTable, indexOfNames, namesIn, nameOf, ownName, placeOf, ROLE_OP, row } from "./table.js";

/** Which save a graph is of. */
export type Save = "now" | "before";

export interface Entry {
  /** Unique among all: `now/0.forward`. */
  readonly id: string;
  readonly save: Save;
  readonly stage: string;
  readonly table: GraphTable;
  readonly modules: Readonly<Record<string, string>>;
}

export interface Library {
  readonly target: string;
  readonly path: string;
  readonly entries: readonly Entry[];
  /** Of the newer save only. */
  readonly kernels: readonly Whole<Kernel>[];
  readonly listings: readonly Required<Listing>[];
  /** What kernels ask of the accelerator, of the newer save only. */
  readonly specs: readonly Whole<DeviceSpecs>[];
  readonly notes: readonly string[];
  /** Which nodes findings are about. */
  readonly marks: Readonly<Record<Save, readonly Mark[]>>;
}

/** Documents of one target, stage by stage. A graph that two stages hold is taken from the later one. */
export function libraryOf(now: readonly Document[], before: readonly Document[] = []): Library {
  const entries: Entry[] = [];
  for (const [save, documents] of [["now", now], ["before", before]] as const) {
    const byName = new Map<string, Entry>();
    for (const { graphs, modules, stage } of documents) {
      for (const table of graphs) byName.set(table.name, { id: `${save}/${table.name}`, save, stage, table, modules });
    }
    entries.push(...byName.values());
  }
  const first = now[0];
  return {
    target: first?.target ?? "",
    path: first?.path ?? "",
    entries,
    kernels: now.flatMap((document) => document.kernels),
    listings: now.flatMap((document) => document.listings),
    specs: now.flatMap(({ specs }) => specs ?? []),
    notes: [...new Set(now.flatMap((document) => document.notes))],
    marks: { now: now.flatMap(({ marks }) => marks), before: before.flatMap(({ marks }) => marks) },
  };
}

/** The same library with what some kernels were compiled to. */
export function withBuilds(library: Library, builds: readonly Whole<KernelBuild>[]): Library {
  const kernels = library.kernels.map((kernel) => {
    const build = builds.find((one) => one.kernel === kernel.name && one.graph === kernel.graph);
    return build ? { ...kernel, build } : kernel;
  });
  return { ...library, kernels };
}

/** Nodes by the id of their graph. */
export type Selection = ReadonlyMap<string, ReadonlySet<number>>;

/** What belongs to some nodes of one graph: nodes of all graphs of the same save, themselves included. Names of kernels come along. */
export function relatedTo(library: Library, id: string, nodes: Iterable<number>): { nodes: Selection; kernels: ReadonlySet<string> } {
  const start = library.entries.find((entry) => entry.id === id);
  const found = new Map<string, Set<number>>();
  if (!start) return { nodes: found, kernels: new Set() };
  found.set(id, new Set(nodes));
  const same = library.entries.filter((entry) => entry.save === start.save);
  const waiting = [start];
  for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
    const here = found.get(entry.id) ?? new Set<number>();
    for (const other of same) {
      if (found.has(other.id)) continue;
      const there = step(entry, other, here);
      if (!there) continue;
      found.set(other.id, there);
      waiting.push(other);
    }
  }
  return { nodes: found, kernels: kernelsOf(library, found) };
}

/** The nodes of one graph that belong directly to some of another; undefined where none do: another way may lead there. */
function step(from: Entry, to: Entry, nodes: ReadonlySet<number>): Set<number> | undefined {
  const [one, other] = [from.table, to.table];
  let found: Set<number> | undefined;
  if (one.madeFrom === other.name) found = above(one, other, nodes);
  else if (other.madeFrom === one.name) found = below(other, one, nodes);
  else if (one.kind === "backward" && other.kind === "forward") found = named(one, one.forward, nodes, other);
  else if (one.kind === "forward" && other.kind === "backward") found = naming(other, other.forward, nodes, one);
  return found && found.size > 0 ? found : undefined;
}

const known = new WeakMap<GraphTable, { readonly above: GraphTable; readonly origins: readonly (readonly number[])[] }>();

/**
 * By node the nodes of the graph above that it was made from. What a compiler's pass has put in names nothing that is there; it belongs
 * to what is at the same expression; and an input or parameter belongs to what is the same to the model.
 */
function originsIn(table: GraphTable, other: GraphTable): readonly (readonly number[])[] {
  const before = known.get(table);
  if (before?.above === other) return before.origins;
  const index = indexOfNames(other);
  let places: Map<string, number[]> | undefined;
  let own: Map<string, number[]> | undefined;
  const origins = Array.from({ length: table.count }, (_value, node) => {
    const found = namesIn(table, table.origins, node).flatMap((name) => index.get(name) ?? []);
    if (found.length > 0) return found;
    const place = table.roles[node] === ROLE_OP ? placeOf(table, node) : undefined;
    if (place) return (places ??= nodesBy(other, (one) => keyOfPlace(other, one))).get(keyOf(place)) ?? [];
    return (own ??= nodesBy(other, (one) => ownName(other, one))).get(ownName(table, node)) ?? [];
  });
  known.set(table, { above: other, origins });
  return origins;
}

/** Nodes by some key; those whose key is "" are left out. */
function nodesBy(table: GraphTable, keyOfNode: (node: number) => string): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (let node = 0; node < table.count; node += 1) {
    const key = keyOfNode(node);
    const here = found.get(key);
    if (here) here.push(node);
    else if (key !== "") found.set(key, [node]);
  }
  return found;
}

function keyOfPlace(table: GraphTable, node: number): string {
  const place = table.roles[node] === ROLE_OP ? placeOf(table, node) : undefined;
  return place ? keyOf(place) : "";
}

function keyOf({ path, range: { start, end } }: Location): string {
  return `${start.line}:${start.character}-${end.line}:${end.character} ${path}`;
}

function above(table: GraphTable, other: GraphTable, nodes: ReadonlySet<number>): Set<number> {
  const origins = originsIn(table, other);
  return new Set([...nodes].flatMap((node) => origins[node] ?? []));
}

function below(table: GraphTable, other: GraphTable, nodes: ReadonlySet<number>): Set<number> {
  return new Set(originsIn(table, other).flatMap((origins, node) => (origins.some((origin) => nodes.has(origin)) ? [node] : [])));
}

function named(table: GraphTable, lists: GraphTable["origins"], nodes: ReadonlySet<number>, other: GraphTable): Set<number> {
  const index = indexOfNames(other);
  const found = new Set<number>();
  for (const node of nodes) {
    for (const name of namesIn(table, lists, node)) {
      const target = index.get(name);
      if (target !== undefined) found.add(target);
    }
  }
  return found;
}

function naming(table: GraphTable, lists: GraphTable["origins"], nodes: ReadonlySet<number>, other: GraphTable): Set<number> {
  const wanted = new Set([...nodes].map((node) => nameOf(other, node)));
  const codes = new Set<number>();
  const { words } = table.names;
  for (const code of new Set(lists.values)) if (wanted.has(words[code] ?? "")) codes.add(code);
  const found = new Set<number>();
  for (let node = 0; codes.size > 0 && node < table.count; node += 1) if (row(lists, node).some((code) => codes.has(code))) found.add(node);
  return found;
}

function kernelsOf(library: Library, nodes: Selection): Set<string> {
  const found = new Set<string>();
  for (const { id, save, table } of library.entries) {
    if (save !== "now") continue;
    const here = nodes.get(id) ?? new Set<number>();
    for (const node of here) for (const kernel of namesIn(table, table.kernels, node)) found.add(kernel);
    for (const kernel of library.kernels) {
      if (kernel.graph !== table.name || found.has(kernel.name)) continue;
      const index = indexOfNames(table);
      if (kernel.nodes.some((name) => here.has(index.get(name) ?? -1))) found.add(kernel.name);
    }
  }
  return found;
}

/** The nodes that a kernel computes, and all that belongs to them. */
export function relatedToKernel(library: Library, kernel: Whole<Kernel>): Selection {
  const entry = library.entries.find(({ save, table }) => save === "now" && table.name === kernel.graph);
  if (!entry) return new Map();
  const index = indexOfNames(entry.table);
  const nodes = kernel.nodes.flatMap((name) => index.get(name) ?? []);
  return relatedTo(library, entry.id, nodes).nodes;
}

/** The nodes of one graph whose expression is the smallest around a position of the source. */
export function nodesAt(table: GraphTable, path: string, line: number, character: number): Set<number> {
  let best = Infinity;
  const wanted = new Set<number>();
  table.places.forEach((place, index) => {
    if (place.path !== path || !holds(place, line, character)) return;
    const size = (place.range.end.line - place.range.start.line) * 10_000 + place.range.end.character - place.range.start.character;
    if (size < best) wanted.clear();
    if (size <= best) wanted.add(index);
    best = Math.min(best, size);
  });
  const found = new Set<number>();
  for (let node = 0; wanted.size > 0 && node < table.count; node += 1) {
    const place = placeOf(table, node);
    if (place && wanted.has(table.placeOf[node] ?? -1)) found.add(node);
  }
  return found;
}

function holds({ range: { start, end } }: Location, line: number, character: number): boolean {
  const after = line > start.line || (line === start.line && character >= start.character);
  return after && (line < end.line || (line === end.line && character <= end.character));
}
