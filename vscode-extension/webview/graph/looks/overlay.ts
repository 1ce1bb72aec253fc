/**
 * One metric over a graph: its value at each node, and what that is for boxes, lines of source and the whole. The gutter, the drawing and its
 * minimap all show it on the scale of `shared/heat.ts`.
 */

import type { Location } from "../../../../shared_schema/generated/wire.js";
import { errorLevel, type Level, shareLevel } from "../../shared/heat.js";
import type { Metric } from "./colours.js";
import { bytesText, countText, type GraphTable, nameOf, ROLE_OP, secondsText, shortOp, word } from "../model/table.js";

/** What the last comparison of the target has measured. */
export interface Measured {
  readonly backend: string;
  readonly passes: boolean;
  readonly errors: readonly {
    readonly place: Location;
    readonly module: string;
    /** Of the error to expect; infinite for what is no number. */
    readonly multiple: number;
  }[];
}

export interface Overlay {
  readonly metric: Metric;
  /** By node; -1 where nobody knows. */
  readonly values: Float64Array;
  /** What several nodes are together. */
  readonly join: (one: number, other: number) => number;
  readonly levelOf: (value: number) => Level;
  readonly textOf: (value: number) => string;
}

/** What metrics that add up are of, and how they are written. */
const SUMMED: Readonly<Record<Exclude<Metric, "error">, { readonly of: (table: GraphTable) => Float64Array; readonly text: (value: number) => string }>> = {
  bytes: { of: ({ written }) => written, text: bytesText },
  flops: { of: ({ flops }) => flops, text: countText },
  bound: { of: ({ seconds }) => seconds, text: secondsText },
};

export function overlayOf(table: GraphTable, metric: Metric, measured?: Measured): Overlay {
  if (metric === "error") {
    const passes = measured?.passes ?? true;
    const textOf = (value: number): string => (value === Infinity ? "∞" : `${Number(value.toPrecision(2))}×`);
    return { metric, values: errorsOf(table, measured), join: Math.max, levelOf: (value) => errorLevel(value, passes), textOf };
  }
  const { of, text: amount } = SUMMED[metric];
  const values = Float64Array.from(of(table), (value, node) => (table.roles[node] === ROLE_OP ? value : -1));
  const whole = values.reduce((sum, value) => sum + Math.max(0, value), 0);
  const share = (value: number): string => (whole > 0 ? ` (${Number(((value / whole) * 100).toPrecision(2))} %)` : "");
  return { metric, values, join: (one, other) => one + other, levelOf: (value) => shareLevel(value, whole), textOf: (value) => amount(value) + share(value) };
}

function errorsOf(table: GraphTable, measured: Measured | undefined): Float64Array {
  const worst = new Map<string, number>();
  for (const { place, module, multiple } of measured?.errors ?? []) {
    for (const key of [keyOf(place, module), keyOf(place)]) worst.set(key, Math.max(worst.get(key) ?? 0, multiple));
  }
  return Float64Array.from({ length: table.count }, (_none, node) => {
    const place = table.roles[node] === ROLE_OP ? table.places[table.placeOf[node] ?? -1] : undefined;
    return place ? (worst.get(keyOf(place, word(table.modules, node))) ?? worst.get(keyOf(place)) ?? -1) : -1;
  });
}

function keyOf({ path, range: { start, end } }: Location, module?: string): string {
  return `${start.line}:${start.character}-${end.line}:${end.character} ${path}${module === undefined ? "" : ` ${module}`}`;
}

/** What some nodes are together; undefined where nothing is known of any. */
export function joined({ values, join }: Overlay, nodes: Iterable<number>): number | undefined {
  let all: number | undefined;
  for (const node of nodes) {
    const value = values[node] ?? -1;
    if (value >= 0) all = all === undefined ? value : join(all, value);
  }
  return all;
}

/** An operation of an expression, in all copies of a module that run it, with all that it comes to. */
export interface Ranked {
  /** The node that has most of it. */
  readonly node: number;
  readonly title: string;
  /** The module, with `*` for numbers of layers: a library's model is one expression of the user's. */
  readonly module: string;
  readonly place: Location | undefined;
  /** How many nodes they are. */
  readonly nodes: number;
  readonly value: number;
}

/** The expressions that have most of a metric. */
export interface Ranking {
  readonly metric: Metric;
  readonly rows: readonly (Ranked & { readonly level: Level; readonly text: string })[];
}

/** The expressions with the largest values. */
export function largest(table: GraphTable, overlay: Overlay, count: number): Ranked[] {
  return groups(table, overlay, (node, place) => `${word(table.ops, node)} ${patternOf(word(table.modules, node))} ${place ? keyOf(place) : ""}`)
    .filter(({ value }) => value > 0)
    .sort((left, right) => right.value - left.value || left.node - right.node)
    .slice(0, count);
}

/** A line of a file, as the gutter shows it. */
export interface HotLine {
  readonly path: string;
  readonly line: number;
  readonly level: Level;
  readonly text: string;
}

export function linesOf(table: GraphTable, overlay: Overlay): HotLine[] {
  const found = groups(table, overlay, (node, place) => (place ? `${place.range.start.line} ${place.path}` : `node ${node}`));
  return found.flatMap(({ place, value }) => (place ? [{ path: place.path, line: place.range.start.line, level: overlay.levelOf(value), text: overlay.textOf(value) }] : []));
}

function groups(table: GraphTable, overlay: Overlay, keyOfNode: (node: number, place: Location | undefined) => string): Ranked[] {
  const found = new Map<string, number[]>();
  overlay.values.forEach((value, node) => {
    if (value < 0) return;
    const key = keyOfNode(node, table.places[table.placeOf[node] ?? -1]);
    const known = found.get(key);
    if (known) known.push(node);
    else found.set(key, [node]);
  });
  return [...found.values()].map((nodes) => {
    const node = nodes.reduce((most, other) => ((overlay.values[other] ?? 0) > (overlay.values[most] ?? 0) ? other : most));
    const title = shortOp(word(table.ops, node)) || nameOf(table, node);
    return { node, title, module: patternOf(word(table.modules, node)), place: table.places[table.placeOf[node] ?? -1], nodes: nodes.length, value: joined(overlay, nodes) ?? 0 };
  });
}

/** `layer.*.mlp` for `layer.3.mlp`. */
function patternOf(module: string): string {
  return module.replace(/(?<=^|\.)\d+(?=\.|$)/gu, "*");
}
