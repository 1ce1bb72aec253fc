/**
 * The view "Targets": file → target → inputs that were inferred, and stages → findings. Findings that belong to no target (an import that fails) stand right below
 * their file. Results of an older text stay, and say so.
 */

import * as vscode from "vscode";

import type { Inferred, StageReport, TargetReport } from "../../../shared_schema/generated/wire.js";
import { REVEAL_CELL } from "./notebooks.js";
import { type Analyses, type Analysis, dataOf, isBusy, isOutdated, ruleNameOf } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import { Soon } from "../common/soon.js";
import { isCell, lineWords } from "../common/places.js";
import { isReproducible } from "../orders/subjects.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.targets";
/** The rules of the hints about what did not run (`server/state/unchecked.py`). */
const NOT_CHECKED = new Set(["not-checked", "not-run"]);

/** A row of the view. */
export type Node =
  | { readonly kind: "file"; readonly analysis: Analysis }
  | { readonly kind: "target"; readonly analysis: Analysis; readonly target: TargetReport }
  | { readonly kind: "inputs"; readonly analysis: Analysis; readonly target: TargetReport; readonly inferred: Inferred }
  | { readonly kind: "stage"; readonly analysis: Analysis; readonly target: TargetReport; readonly stage: StageReport }
  | { readonly kind: "finding"; readonly analysis: Analysis; readonly finding: vscode.Diagnostic };

export function activate(context: Context): void {
  const provider = new TargetsProvider(context.analyses);
  const view = vscode.window.createTreeView(VIEW, { treeDataProvider: provider, showCollapseAll: true });
  const redraw = new Soon(() => {
    provider.refresh();
    view.description = context.analyses.busy ? t("checking…") : "";
  });
  context.extension.subscriptions.push(provider, view, redraw, context.analyses.onDidChange(() => { redraw.request(); }));
}

export class TargetsProvider implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();

  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly analyses: Analyses) {}

  refresh(): void {
    this.changed.fire(undefined);
  }

  dispose(): void {
    this.changed.dispose();
  }

  getChildren(node?: Node): Node[] {
    if (!node) return byPath(this.analyses.all()).map((analysis) => ({ kind: "file", analysis }));
    const { analysis } = node;
    const rows = (findings: readonly vscode.Diagnostic[]): Node[] =>
      findings.map((finding) => ({ kind: "finding", analysis, finding }));
    switch (node.kind) {
      case "file":
        return [
          ...rows(this.ofNoTarget(analysis)),
          ...analysis.targets.map((target): Node => ({ kind: "target", analysis, target })),
        ];
      case "target":
        return [...rowsOf(analysis, node.target), ...rows(this.ofNoStage(analysis, node.target))];
      case "stage":
        return rows(this.ofStage(analysis, node.target, node.stage));
      case "inputs":
      case "finding":
        return [];
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    switch (node.kind) {
      case "file":
        return this.fileItem(node.analysis);
      case "target":
        return this.targetItem(node.analysis, node.target);
      case "inputs":
        return inputsItem(node.analysis, node.target, node.inferred);
      case "stage":
        return this.stageItem(node.analysis, node.target, node.stage);
      case "finding":
        return findingItem(node.analysis, node.finding, this.analyses.shownBy(node.finding, node.analysis.uri));
    }
  }

  private ofNoTarget(analysis: Analysis): readonly vscode.Diagnostic[] {
    const targets = new Set(analysis.targets.map(({ name }) => name));
    return this.analyses.findings(analysis.uri).filter((finding) => {
      return !NOT_CHECKED.has(ruleNameOf(finding)) && !targets.has(dataOf(finding).target ?? ""); // targets themselves say so
    });
  }

  private ofTarget(analysis: Analysis, target: TargetReport): readonly vscode.Diagnostic[] {
    return this.analyses
      .findings(analysis.uri)
      .filter((finding) => !NOT_CHECKED.has(ruleNameOf(finding)) && dataOf(finding).target === target.name);
  }

  private ofStage(analysis: Analysis, target: TargetReport, { stage }: StageReport): readonly vscode.Diagnostic[] {
    return this.ofTarget(analysis, target).filter((finding) => dataOf(finding).stage === stage);
  }

  /** What is told of a target beside its stages: of a comparison, say. */
  private ofNoStage(analysis: Analysis, target: TargetReport): readonly vscode.Diagnostic[] {
    const stages = new Set<string | undefined>((target.stages ?? []).map(({ stage }) => stage));
    return this.ofTarget(analysis, target).filter((finding) => !stages.has(dataOf(finding).stage));
  }

  private fileItem(analysis: Analysis): vscode.TreeItem {
    const { Expanded, Collapsed } = vscode.TreeItemCollapsibleState;
    const quiet = analysis.notification.version === null && this.analyses.findings(analysis.uri).length === 0;
    const item = new vscode.TreeItem(analysis.uri, quiet ? Collapsed : Expanded); // of many files those that matter stand out
    item.id = analysis.uri.toString();
    item.iconPath = vscode.ThemeIcon.File;
    const { notification } = analysis;
    const state = isBusy(analysis) ? t("checking…") : words.outcome(notification, analysis.targets);
    item.description = isOutdated(analysis) && !isBusy(analysis) ? t("{0}, from an earlier text", state) : state;
    item.accessibilityInformation = { label: t("File {0}, {1}", nameOf(analysis.uri), item.description) };
    item.contextValue = "file";
    return item;
  }

  private targetItem(analysis: Analysis, target: TargetReport): vscode.TreeItem {
    const item = new vscode.TreeItem(target.name, vscode.TreeItemCollapsibleState.Expanded);
    item.id = `${analysis.uri.toString()} ${target.name}`;
    const count = this.ofTarget(analysis, target).length;
    item.iconPath = icon("symbol-class", analysis);
    item.description = isBusy(analysis) ? words.findings(count) : words.coverage(target, count);
    item.tooltip = target.why === undefined || target.why === "" ? target.name : `${target.name}: ${words.coverage(target, count)}`;
    item.accessibilityInformation = { label: t("Target {0}, {1}", target.name, item.description) };
    item.contextValue = target.inferred?.reason ? "unready" : "target";
    item.command = open(analysis.uri, new vscode.Range(target.line, 0, target.line, 0));
    return item;
  }

  private stageItem(analysis: Analysis, target: TargetReport, stage: StageReport): vscode.TreeItem {
    const count = this.ofStage(analysis, target, stage).length;
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(words.stage(stage.stage), count > 0 ? Expanded : None);
    item.id = `${analysis.uri.toString()} ${target.name} ${stage.stage} ${count > 0 ? "+" : ""}`;
    const failed = stage.state === "failed";
    item.iconPath = icon(failed ? "error" : stage.state === "skipped" ? "circle-slash" : "pass", analysis);
    item.description = stageWords(stage);
    item.tooltip = [`${words.stage(stage.stage)}: ${item.description}`, ...(stage.notes ?? [])].join("\n");
    item.accessibilityInformation = { label: t("Stage {0}, {1}", words.stage(stage.stage), item.description) };
    return item;
  }
}

function rowsOf(analysis: Analysis, target: TargetReport): Node[] {
  const { inferred } = target;
  return [
    ...(inferred?.signature || inferred?.reason ? [{ kind: "inputs", analysis, target, inferred } satisfies Node] : []),
    ...(target.stages ?? []).map((stage): Node => ({ kind: "stage", analysis, target, stage })),
  ];
}

/** What was inferred for a class that has no example inputs, or that nothing was; opening it makes them explicit. */
function inputsItem(analysis: Analysis, target: TargetReport, inferred: Inferred): vscode.TreeItem {
  const { reason = "", signature = "", directive = "", invented = [] } = inferred;
  const item = new vscode.TreeItem(t("inputs"), vscode.TreeItemCollapsibleState.None);
  item.id = `${analysis.uri.toString()} ${target.name} inputs`;
  item.description = reason === "" ? t("inferred: {0}", signature) : t("none known: {0}", reason);
  const made = invented.length === 0 ? "" : t("Nobody wrote down these arguments, so they are invented: {0}", invented.join(", "));
  item.tooltip = [item.description, directive, made].filter((line) => line !== "").join("\n");
  item.iconPath = icon(reason === "" ? "symbol-parameter" : "question", analysis);
  item.accessibilityInformation = { label: t("Inputs of {0}, {1}", target.name, item.description) };
  item.command = {
    command: "inductorDebug.setExampleInputs",
    title: t("Set Example Inputs"),
    arguments: [analysis.uri.toString(), target.name],
  };
  return item;
}

function findingItem(analysis: Analysis, finding: vscode.Diagnostic, shownBy: vscode.Uri): vscode.TreeItem {
  const rule = ruleNameOf(finding);
  const item = new vscode.TreeItem(rule === "" ? t("note") : rule, vscode.TreeItemCollapsibleState.None);
  const line = lineWords(shownBy, finding.range.start.line);
  item.description = t("{0}: {1}", line, finding.message.split("\n", 1)[0] ?? "");
  item.tooltip = finding.message;
  item.iconPath = severityIcon(finding.severity, analysis);
  item.accessibilityInformation = { label: t("{0} at {1}: {2}", rule, line, finding.message) };
  item.command = open(shownBy, finding.range);
  item.contextValue = isReproducible(finding) ? "finding" : "note";
  return item;
}

/** `48 ops, 1 graph, 0.31 s`, or why there is nothing to count. */
export function stageWords(stage: StageReport): string {
  if (stage.state === "skipped") return t("skipped");
  const parts = stage.state === "failed" ? [t("failed")] : [];
  if ((stage.ops ?? 0) > 0) parts.push(words.operations(stage.ops ?? 0));
  if ((stage.graphs ?? 0) > 0) parts.push(words.graphs(stage.graphs ?? 0));
  if ((stage.graph_breaks ?? 0) > 0) parts.push(words.graphBreaks(stage.graph_breaks ?? 0));
  parts.push(words.seconds(stage.seconds));
  return parts.join(", ");
}

function severityIcon(severity: vscode.DiagnosticSeverity, analysis: Analysis): vscode.ThemeIcon {
  const names = ["error", "warning", "info", "lightbulb"];
  const colours = ["list.errorForeground", "list.warningForeground", undefined, undefined];
  return icon(names[severity] ?? "info", analysis, colours[severity]);
}

/** Grey where the result is of an older text. */
function icon(name: string, analysis: Analysis, colour?: string): vscode.ThemeIcon {
  const id = isOutdated(analysis) ? "disabledForeground" : colour;
  return id === undefined ? new vscode.ThemeIcon(name) : new vscode.ThemeIcon(name, new vscode.ThemeColor(id));
}

function open(uri: vscode.Uri, selection: vscode.Range): vscode.Command {
  if (isCell(uri)) return { command: REVEAL_CELL, title: t("Open"), arguments: [uri, selection] };
  return { command: "vscode.open", title: t("Open"), arguments: [uri, { selection } satisfies vscode.TextDocumentShowOptions] };
}

function byPath(analyses: readonly Analysis[]): Analysis[] {
  return [...analyses].sort((left, right) => left.uri.path.localeCompare(right.uri.path));
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.split("/").at(-1) ?? uri.path;
}
