/** What several accelerators make of one capture, as a page: a column each, numbers that lead to their findings, heads that choose. Pure. */

import { basename } from "node:path";
import * as vscode from "vscode";

import type { AcceleratorColumn, AcceleratorComparison, Finding, Severity, TargetCost } from "../../../shared_schema/generated/wire.js";
import { heading, link, linkWithin, list, paragraph, plain, section, table, useAccelerator } from "../pages/reportHtml.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;
const SEVERITIES: readonly Severity[] = ["error", "warning", "information", "hint"];

/** The body of the page. */
export function acceleratorTable({ target, columns = [], targets = [] }: AcceleratorComparison): string {
  const left = targets.filter(({ checked }) => checked !== "yes").map(({ name, why = "" }) => plain(t("{0}: {1}", name, why)));
  return [
    heading(target === "" ? t("Accelerators") : t("Accelerators for {0}", target)),
    paragraph(plain(t("Captured once, judged for each. A head chooses its accelerator, a number leads to its findings. Times and bytes are lower bounds; what a profile does not say stays empty."))),
    ...(left.length > 0 ? [list(left)] : []),
    table(["", ...columns.map(head)], rows(columns)),
    ...columns.flatMap(found),
  ].join("\n");
}

/** The name, which chooses the accelerator, unless it is chosen. */
function head({ accelerator, name, title, chosen }: AcceleratorColumn): string {
  const said = name === "none" ? t("none (torch.compile only)") : name;
  const more = title === "" || title === said ? "" : `<br><small>${plain(title)}</small>`;
  return (chosen ? `${plain(said)} <small>${plain(t("(chosen)"))}</small>` : useAccelerator(plain(said), accelerator)) + more;
}

function rows(columns: readonly AcceleratorColumn[]): string[][] {
  const each = (label: string, cell: (column: AcceleratorColumn, index: number) => string): string[] => [plain(label), ...columns.map(cell)];
  const names = [...new Set(columns.flatMap(({ counts = [] }) => counts.map(({ rule }) => rule)))].sort();
  const counted = SEVERITIES.flatMap((severity) => names.map((rule) => ({ severity, rule }))).filter((which) => columns.some((column) => countOf(column, which) > 0));
  const targets = [...new Set(columns.flatMap(({ costs = [] }) => costs.map(({ target }) => target)))];
  return [
    each(t("findings"), (column, index) => number(total(column), `all-${index}`)),
    ...counted.map((which) => each(`${which.severity} ${which.rule}`, (column, index) => number(countOf(column, which), idOf(index, which)))),
    ...targets.flatMap((target) => costRows(target, targets.length > 1, columns)),
  ];
}

function costRows(target: string, several: boolean, columns: readonly AcceleratorColumn[]): string[][] {
  const each = (label: string, cell: (cost: TargetCost, column: AcceleratorColumn) => string): string[] => [
    plain(several ? t("{0}: {1}", target, label) : label),
    ...columns.map((column) => {
      const cost = column.costs?.find((one) => one.target === target);
      return cost ? plain(cell(cost, column)) : "";
    }),
  ];
  return [
    each(t("ops without a kernel"), ({ ops, unsupported_ops: lacking }) => (lacking === 0 ? t("0 of {0}", ops) : t("{0} of {1} ({2} %)", lacking, ops, (100 * lacking / ops).toFixed(1)))),
    each(t("peak memory"), ({ peak_bytes: peak }, { device_bytes: device }) => (device == null ? words.bytes(peak) : t("{0} of {1}", words.bytes(peak), words.bytes(device)))),
    each(t("bytes that move"), ({ moved_bytes: moved }) => words.bytes(moved)),
    each(t("floating-point operations"), ({ operations }) => operations.toPrecision(4)),
    each(t("time"), ({ seconds_at_least: seconds, limited_by: limit = "" }) => (seconds == null ? "" : t("at least {0} ({1})", words.duration(seconds), limit))),
  ];
}

/** The findings of one accelerator by severity and rule, each leading to its expression. */
function found(column: AcceleratorColumn, index: number): string[] {
  const { findings = [], left_out: left = 0, name } = column;
  if (findings.length === 0 && left === 0) return [];
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) {
    const id = idOf(index, finding);
    groups.set(id, [...(groups.get(id) ?? []), finding]);
  }
  const parts = [...groups].flatMap(([id, [first, ...rest]]) =>
    first ? [`<h3 id="${plain(id)}" tabindex="-1">${plain(`${first.severity} ${first.rule}`)}</h3>`, list([first, ...rest].map(line))] : []);
  const more = left > 0 ? [paragraph(plain(t("{0} more are not listed here; a check for {1} lists them all.", left, name)))] : [];
  return [section(`all-${index}`, t("{0}: {1}", name, words.findings(total(column)))), ...parts, ...more];
}

function line({ message, path, range }: Finding): string {
  return `${link(plain(t("{0}, line {1}", basename(path), range.start.line + 1)), { path, range })}: ${plain(message)}`;
}

function number(count: number, id: string): string {
  return count === 0 ? "" : linkWithin(String(count), id);
}

function idOf(index: number, { severity, rule }: { readonly severity: Severity; readonly rule: string }): string {
  return `found-${index}-${severity}-${rule}`;
}

function countOf({ counts = [] }: AcceleratorColumn, { severity, rule }: { readonly severity: Severity; readonly rule: string }): number {
  return counts.filter((count) => count.rule === rule && count.severity === severity).reduce((sum, { findings }) => sum + findings, 0);
}

function total({ findings = [], left_out: left = 0 }: AcceleratorColumn): number {
  return findings.length + left;
}
