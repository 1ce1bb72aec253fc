/**
 * One graph in columns, as the page works with it: strings once, numbers in typed arrays, nodes by their index.
 *
 * An index is a node's place in the graph's own (topological) order. Nothing here changes after it was read.
 */

import type { GraphKind, Location, NodeRole, OperationKind } from "../../../../shared_schema/generated/wire.js";

/** What a node is to its graph; the order is that of the codes in `GraphTable.roles`. */
export const ROLES = ["input", "parameter", "buffer", "constant", "op", "output"] as const satisfies readonly NodeRole[];
/** What kind of work a node is; the order is that of the codes in `GraphTable.kinds`. */
export const KINDS = ["product", "reduction", "elementwise", "lookup", "layout", "conversion", "creation", "random", "other"] as const satisfies readonly OperationKind[];
export const ROLE_INPUT = 0;
export const ROLE_OP = 4;
export const ROLE_OUTPUT = 5;

/** For each row a list of numbers: those of row `i` are `values[offsets[i]]` up to `values[offsets[i + 1]]`. */
export interface Lists {
  readonly offsets: Uint32Array;
  readonly values: Uint32Array;
}

/** Strings that repeat: `words[codes[i]]`. */
export interface Words {
  readonly words: readonly string[];
  readonly codes: Uint32Array;
}

export interface GraphTable {
  readonly name: string;
  readonly kind: GraphKind;
  readonly madeFrom: string;
  readonly count: number;
  readonly names: Words;
  readonly ops: Words;
  readonly roles: Uint8Array;
  readonly inputs: Lists;
  /** `[8, 64]` or `[s0, 64]`; "" where the value is no single tensor. */
  readonly shapes: Words;
  /** "" where there is none. */
  readonly dtypes: Words;
  /** Bytes of the value; -1 where unknown. */
  readonly bytes: Float64Array;
  readonly details: Words;
  readonly modules: Words;
  readonly places: readonly Location[];
  /** Index into `places`; -1 where there is none. */
  readonly placeOf: Int32Array;
  /** Names (codes of `names.words`) of nodes of the graph that this one was made from, of the forward graph, and of kernels. */
  readonly origins: Lists;
  readonly forward: Lists;
  readonly kernels: Lists;
  /** Floating-point operations of all runs; -1 where unknown. */
  readonly flops: Float64Array;
  /** Bytes that all runs write, none for views; -1 where unknown. */
  readonly written: Float64Array;
  /** What all runs take at least on the accelerator; -1 where unknown. */
  readonly seconds: Float64Array;
  /** Codes of `KINDS`; -1 where the node computes nothing. */
  readonly kinds: Int8Array;
}

export function word(column: Words, row: number): string {
  return column.words[column.codes[row] ?? 0] ?? "";
}

/** The values of one row. */
export function row(lists: Lists, index: number): Uint32Array {
  return lists.values.subarray(lists.offsets[index] ?? 0, lists.offsets[index + 1] ?? 0);
}

export function placeOf(table: GraphTable, node: number): Location | undefined {
  const index = table.placeOf[node] ?? -1;
  return index < 0 ? undefined : table.places[index];
}

export function nameOf(table: GraphTable, node: number): string {
  return word(table.names, node);
}

/** What stays the same of an input or parameter from graph to graph: what it is to the model. "" where that is not known, and for operations. */
export function ownName(table: GraphTable, node: number): string {
  const role = table.roles[node] ?? ROLE_OP;
  const detail = word(table.details, node);
  return role === ROLE_OP || role === ROLE_OUTPUT || detail === "" ? "" : `${role} ${detail}`;
}

/** The names that a row of `origins`, `forward` or `kernels` holds. */
export function namesIn(table: GraphTable, lists: Lists, node: number): string[] {
  return [...row(lists, node)].map((code) => table.names.words[code] ?? "");
}

const indices = new WeakMap<GraphTable, ReadonlyMap<string, number>>();

/** Node indices by name; made when first asked for. */
export function indexOfNames(table: GraphTable): ReadonlyMap<string, number> {
  let known = indices.get(table);
  if (!known) {
    const made = new Map<string, number>();
    for (let node = 0; node < table.count; node += 1) made.set(nameOf(table, node), node);
    indices.set(table, (known = made));
  }
  return known;
}

const users = new WeakMap<GraphTable, Lists>();

/** Which nodes read a node: the inputs, turned round. Linear when first asked for. */
export function usersOf(table: GraphTable): Lists {
  let known = users.get(table);
  if (!known) users.set(table, (known = turnedRound(table)));
  return known;
}

function turnedRound(table: GraphTable): Lists {
  const { offsets: from, values } = table.inputs;
  const offsets = new Uint32Array(table.count + 1);
  for (const value of values) offsets[value + 1] = (offsets[value + 1] ?? 0) + 1;
  for (let node = 0; node < table.count; node += 1) offsets[node + 1] = (offsets[node + 1] ?? 0) + (offsets[node] ?? 0);
  const next = offsets.slice();
  const readers = new Uint32Array(values.length);
  for (let node = 0; node < table.count; node += 1) {
    for (let at = from[node] ?? 0; at < (from[node + 1] ?? 0); at += 1) {
      const value = values[at] ?? 0;
      const slot = next[value] ?? 0;
      readers[slot] = node;
      next[value] = slot + 1;
    }
  }
  return { offsets, values: readers };
}

const SHORT_TYPES: Readonly<Record<string, string>> = {
  float64: "f64", float32: "f32", float16: "f16", bfloat16: "bf16", int64: "i64", int32: "i32", int16: "i16", int8: "i8",
  uint8: "u8", uint16: "u16", uint32: "u32", uint64: "u64", bool: "b8", complex64: "c64", complex128: "c128",
};

/** `torch.float32` → `f32`; what is not known stays. */
export function shortType(dtype: string): string {
  const name = dtype.replace(/^torch\./u, "");
  return SHORT_TYPES[name] ?? name;
}

/** `f32[8, 64]`, or what is known of it. */
export function typeText(table: GraphTable, node: number): string {
  return `${shortType(word(table.dtypes, node))}${word(table.shapes, node)}`;
}

/** `aten._softmax.default` → `_softmax`, `torch.nn.functional.linear` → `linear`. */
export function shortOp(op: string): string {
  const overload = /^(?:aten|prims|prim|quantized|inductor|higher_order|[a-z_]\w*)\.(\w+)\.\w+$/u.exec(op);
  if (overload?.[1] !== undefined && !/^(?:torch|nn|builtins|operator|math)\./u.test(op)) return overload[1];
  return op.split(".").at(-1) ?? op;
}

/** `1.5 G` for 1,500,000,000; "" where it is not known. */
export function countText(count: number): string {
  if (count < 0) return "";
  const power = Math.min(4, Math.max(0, Math.floor(Math.log10(Math.max(1, count)) / 3)));
  return `${Number((count / 1000 ** power).toPrecision(3))} ${["", "K", "M", "G", "T"][power] ?? ""}`.trim();
}

/** `38 µs`; "" where nobody knows. */
export function secondsText(seconds: number): string {
  if (seconds < 0) return "";
  const [factor, unit] = ([[1, "s"], [1e-3, "ms"], [1e-6, "µs"]] as const).find(([least]) => seconds >= least) ?? [1e-9, "ns"];
  return `${Number((seconds / factor).toPrecision(3))} ${unit}`;
}

/** Whether anybody knows what nodes take at least: an accelerator was chosen whose speed is known. */
export function knowsSeconds({ seconds }: GraphTable): boolean {
  return seconds.some((value) => value >= 0);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytesText(bytes: number): string {
  if (bytes < 0) return "";
  let [value, unit] = [bytes, 0];
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(1)} ${UNITS[unit] ?? ""}`;
}
