/** How numbers and states are said, in one place for the status, the view and the output. Pure. */

import * as vscode from "vscode";

import type { AnalysisNotification, Stage, TargetReport } from "../../../shared_schema/generated/wire.js";

const { t } = vscode.l10n;

/** What people read for a stage: the same words as in the daemon (`rules/words/stage_names.py`). */
export function stage(name: Stage): string {
  switch (name) {
    case "load":
      return t("load");
    case "preview":
      return t("run");
    case "mock":
      return t("capture");
    case "aot":
      return t("forward and backward");
    case "inductor":
      return t("kernels");
    case "gradients":
      return t("gradients");
    case "export":
      return t("export");
    case "comparison":
      return t("comparison");
  }
}

export function findings(count: number): string {
  if (count === 0) return t("no findings");
  return count === 1 ? t("1 finding") : t("{0} findings", count);
}

/** What was found in a file, and how much of it was not checked: "no findings" is said of what ran alone. */
export function outcome(notification: AnalysisNotification, targets: readonly TargetReport[]): string {
  if (targets.length === 0 && notification.status === "no-target") return t("nothing to compile");
  const left = targets.filter(({ checked }) => checked === "no").length;
  if (left === 0) return findings(notification.findings);
  if (left === targets.length && notification.findings === 0) return t("nothing was checked");
  return t("{0}, {1} of {2} not checked", findings(notification.findings), left, targets.length);
}

/** What was found of a target, or why it was not checked. */
export function coverage({ checked, why = "" }: TargetReport, count: number): string {
  if (checked === "yes") return findings(count);
  if (checked === "partly") return t("{0}; partly checked: {1}", findings(count), why);
  return count === 0 ? t("not checked: {0}", why) : t("{0}; not checked: {1}", findings(count), why);
}

/** `0.12 s`, `3.4 s`, `75 s`. */
export function seconds(value: number): string {
  const digits = value < 1 ? 2 : value < 10 ? 1 : 0;
  return t("{0} s", value.toFixed(digits));
}

export function operations(count: number): string {
  return count === 1 ? t("1 op") : t("{0} ops", count);
}

export function graphs(count: number): string {
  return count === 1 ? t("1 graph") : t("{0} graphs", count);
}

export function graphBreaks(count: number): string {
  return count === 1 ? t("1 graph break") : t("{0} graph breaks", count);
}

export function files(count: number): string {
  return count === 1 ? t("1 file") : t("{0} files", count);
}

/** `512 B`, `4 KiB`, `1.5 MiB`. */
export function bytes(count: number): string {
  const units = [t("B"), t("KiB"), t("MiB"), t("GiB")];
  let [value, unit] = [count, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${units[unit] ?? ""}`;
}
