/** What stands in a box: title, type, the parameters that it reads, badges. Text only; `view/` measures and draws it. */

import type { OperationKind } from "../../../../shared_schema/generated/wire.js";
import { t } from "../../shared/words.js";
import { kindOf } from "./colours.js";
import { type Hierarchy, type Item, nodesBelow, type Scope, scopeAt } from "../model/hierarchy.js";
import { bytesText, type GraphTable, nameOf, ROLE_OP, ROLE_OUTPUT, ROLES, row, shortOp, typeText, word } from "../model/table.js";

export interface Label {
  readonly title: string;
  /** Beside the title, paler: the class of a module, or the module that an operation is all of. */
  readonly beside: string;
  readonly line: string;
  /** Parameters, buffers, constants and inputs that are read here. */
  readonly stubs: readonly string[];
}

const MOST_STUBS = 3;
/** A kind of operation names a part that has so much of it. */
const WORTH_NAMING = 0.2;

export function labelOf(hierarchy: Hierarchy, modules: Readonly<Record<string, string>>, item: Item): Label {
  const scope = scopeAt(hierarchy, item);
  return scope ? scopeLabel(hierarchy, modules, scope) : nodeLabel(hierarchy, item);
}

function scopeLabel(hierarchy: Hierarchy, modules: Readonly<Record<string, string>>, scope: Scope): Label {
  const operations = scope.nodes === 1 ? t("1 node") : t("{0} nodes", scope.nodes.toLocaleString("en-US"));
  return { title: titleOf(hierarchy, scope), beside: classOf(hierarchy, modules, scope), line: operations, stubs: [] };
}

/** `layer.3` rather than `3`, `layer.0–11` for a repeat. */
export function titleOf(hierarchy: Hierarchy, scope: Scope): string {
  if (scope.id === 0) return t("whole graph");
  const outer = hierarchy.scopes[scope.parent]?.path.split(".").at(-1) ?? "";
  const numbered = /^\d+(?:–\d+)?(?:$|\.)/u.test(scope.label) && scope.kind !== "part" && outer !== "";
  if (scope.kind === "part") return kindsText(hierarchy, scope);
  return numbered ? `${outer}.${scope.label}` : scope.label;
}

/** What a part of a long module does most: `Elementwise, Layout`. */
function kindsText(hierarchy: Hierarchy, scope: Scope): string {
  const { table } = hierarchy;
  const counts = new Map<OperationKind, number>();
  const nodes = nodesBelow(hierarchy, table.count + scope.id);
  for (const node of nodes) {
    const kind = kindOf(table, node);
    if (kind) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  const most = [...counts].sort((left, right) => right[1] - left[1]).filter(([, count]) => count >= nodes.length * WORTH_NAMING);
  return most.length === 0 ? t("part {0}", scope.label) : most.slice(0, 2).map(([kind]) => kindText(kind)).join(", ");
}

function classOf(hierarchy: Hierarchy, modules: Readonly<Record<string, string>>, scope: Scope): string {
  if (scope.kind === "part") return scope.label;
  const first = scope.kind === "repeat" ? scopeAt(hierarchy, firstModule(hierarchy, scope)) : scope;
  return modules[first?.path ?? ""] ?? "";
}

function firstModule(hierarchy: Hierarchy, scope: Scope): Item {
  let item = scope.children[0] ?? -1;
  for (let inner = scopeAt(hierarchy, item); inner?.kind === "part"; inner = scopeAt(hierarchy, item)) item = inner.children[0] ?? -1;
  return item;
}

function nodeLabel(hierarchy: Hierarchy, node: number): Label {
  const { table, scopeOf, scopes } = hierarchy;
  const role = table.roles[node] ?? ROLE_OP;
  const size = bytesText(table.bytes[node] ?? -1);
  const line = [typeText(table, node), size].filter((text) => text !== "").join("  ·  ");
  if (role !== ROLE_OP) return { title: role === ROLE_OUTPUT ? t("output") : shortName(table, node), beside: role === ROLE_OUTPUT ? "" : t(ROLES[role] ?? ""), line, stubs: [] };
  const module = word(table.modules, node);
  const around = scopes[scopeOf[node] ?? 0]?.path ?? "";
  const beside = module.startsWith(around) && module !== around ? module.slice(around === "" ? 0 : around.length + 1) : "";
  const stubs = [...new Set(row(table.inputs, node))].filter((input) => scopeOf[input] === -1).map((input) => `${shortName(table, input)}  ${typeText(table, input)}`);
  const shown = stubs.length > MOST_STUBS ? [...stubs.slice(0, MOST_STUBS - 1), t("and {0} more", stubs.length - MOST_STUBS + 1)] : stubs;
  return { title: shortOp(word(table.ops, node)), beside, line, stubs: shown };
}

/** The end of a parameter's dotted name, or the node's own. */
function shortName(table: GraphTable, node: number): string {
  const detail = word(table.details, node);
  const name = detail === "" || /\s/u.test(detail) || table.roles[node] === ROLE_OP ? nameOf(table, node) : detail;
  return name.split(".").slice(-2).join(".");
}

/** Everything about an item in one sentence, for screen readers and tooltips. */
export function sentenceOf(hierarchy: Hierarchy, modules: Readonly<Record<string, string>>, item: Item): string {
  const { title, beside, line, stubs } = labelOf(hierarchy, modules, item);
  const scope = scopeAt(hierarchy, item);
  const repeated = scope && scope.times > 1 ? t("{0} identical modules", scope.times) : "";
  return [title, beside, repeated, line, ...stubs].filter((text) => text !== "").join(", ");
}

/** What people read for a kind of operation. */
export function kindText(kind: OperationKind): string {
  switch (kind) {
    case "product":
      return t("Matrix products");
    case "reduction":
      return t("Reductions");
    case "elementwise":
      return t("Elementwise");
    case "lookup":
      return t("Lookups");
    case "layout":
      return t("Layout");
    case "conversion":
      return t("Conversions");
    case "creation":
      return t("New tensors");
    case "random":
      return t("Random numbers");
    case "other":
      return t("Others");
  }
}

/** Bytes that all in a scope writes; -1 where nothing is known of any. */
export function writtenBelow(hierarchy: Hierarchy, item: Item): number {
  return sumBelow(hierarchy, item, hierarchy.table.written);
}

/** Floating-point operations of all that is in a scope; -1 where nothing is known of any. */
export function flopsBelow(hierarchy: Hierarchy, item: Item): number {
  return sumBelow(hierarchy, item, hierarchy.table.flops);
}

/** What all that is in a scope takes at least; -1 where nobody knows. */
export function secondsBelow(hierarchy: Hierarchy, item: Item): number {
  return sumBelow(hierarchy, item, hierarchy.table.seconds);
}

function sumBelow(hierarchy: Hierarchy, item: Item, values: Float64Array): number {
  let sum = -1;
  for (const node of nodesBelow(hierarchy, item)) {
    const value = hierarchy.table.roles[node] === ROLE_OP ? (values[node] ?? -1) : -1;
    if (value >= 0) sum = Math.max(0, sum) + value;
  }
  return sum;
}
