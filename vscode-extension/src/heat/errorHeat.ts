/**
 * Heat on lines: how much larger their errors are than was to be expected, as the last comparison of the file has measured it, or what a page
 * of a graph or a chart draws (bytes, operations, bounds, seconds of compiling or of a step). The setting `inductorDebug.heat` switches it on and off, and so do the command and the item in the status
 * bar, whose tooltip is the legend. Lines keep theirs when others are edited, and lose it when they are edited themselves.
 */

import * as vscode from "vscode";

import { ERROR_RANGES, SHARE_RANGES, SIGNS } from "../../webview/shared/heat.js";
import type { Context } from "../services/context.js";
import { afterEdit, type HeatLine, heatOf } from "./lines.js";
import { levelStyles } from "./styles.js";
import type { Comparison } from "../services/comparisons.js";
import type { HeatMetric } from "../services/overlays.js";

const { t } = vscode.l10n;
const SETTING = "heat.enabled";

/** The heat of a file, and what it is of. */
interface Known {
  readonly lines: readonly HeatLine[];
  readonly metric: HeatMetric;
  /** What was measured, in words: the backend, or the target of the graph. */
  readonly of: string;
}

export function activate(context: Context): void {
  const { overlays, comparisons } = context;
  const compared = new Map<string, Known>();
  const drawn = new Map<string, Known>();
  const styles = levelStyles();
  const legend = vscode.window.createStatusBarItem("inductorDebug.heat", vscode.StatusBarAlignment.Right, 90);
  legend.name = t("Heat");
  legend.command = "inductorDebug.toggleErrorHeat";

  const knownOf = ({ uri }: vscode.TextDocument): Known | undefined =>
    uri.scheme === "file" ? (drawn.get(uri.fsPath) ?? compared.get(uri.fsPath)) : undefined; // not in an older version beside a diff
  const paint = (editor: vscode.TextEditor): void => {
    const found = isOn() ? knownOf(editor.document) : undefined;
    styles.forEach((style, level) => {
      const lines = (found?.lines ?? []).filter((line) => line.level === level && line.line < editor.document.lineCount);
      editor.setDecorations(style, found ? lines.map((line) => ({ range: editor.document.lineAt(line.line).range, hoverMessage: textOf(found, line) })) : []);
    });
  };
  const paintAll = (): void => {
    vscode.window.visibleTextEditors.forEach(paint);
    const found = vscode.window.visibleTextEditors.map(({ document }) => knownOf(document)).find((known) => known !== undefined);
    if (found) {
      legend.text = isOn() ? `$(flame) ${titleOf(found.metric)}` : `$(flame) ${t("Heat off")}`;
      legend.tooltip = legendOf(found);
      legend.show();
    } else legend.hide();
  };
  const take = ({ document, subject }: Comparison): void => {
    const paths = new Set([vscode.Uri.parse(subject.uri).fsPath, ...document.nodes.flatMap(({ path }) => path ?? [])]);
    const of = `${document.backend} (${document.target})`;
    for (const path of paths) compared.set(path, { lines: heatOf(document, path), metric: "error", of });
    paintAll();
  };
  const draw = (): void => {
    drawn.clear();
    const { newest } = overlays;
    for (const { path, line, level, text } of newest?.lines ?? []) {
      const lines = drawn.get(path)?.lines ?? [];
      drawn.set(path, { lines: [...lines, { line, level, amount: text, op: "", module: "" }], metric: newest?.metric ?? "bytes", of: newest?.target ?? "" });
    }
    paintAll();
  };
  const toggle = async (): Promise<void> => {
    const on = !isOn();
    await vscode.workspace.getConfiguration("inductorDebug").update(SETTING, on, vscode.ConfigurationTarget.Global);
    const document = vscode.window.activeTextEditor?.document;
    if (on && document && !knownOf(document)) context.notifications.answer(t("Heat is on: compare a target of this file, choose a heat in its graph, or show its compile time, to see it."));
    else if (!on) vscode.window.setStatusBarMessage(t("Heat is off."), 4000);
  };
  const moved = (known: Map<string, Known>, { document, contentChanges }: vscode.TextDocumentChangeEvent): boolean => {
    const found = document.uri.scheme === "file" ? known.get(document.uri.fsPath) : undefined;
    if (!found) return false;
    // The changes are in the order in which they can be applied one after the other.
    const lines = contentChanges.reduce<readonly HeatLine[]>(
      (all, { range: { start, end }, text }) =>
        afterEdit(all, { startLine: start.line, startCharacter: start.character, endLine: end.line, endCharacter: end.character, text }),
      found.lines,
    );
    known.set(document.uri.fsPath, { ...found, lines });
    return true;
  };

  context.extension.subscriptions.push(
    ...styles, legend,
    comparisons.onDidChange(take),
    overlays.onDidChange(draw),
    vscode.commands.registerCommand("inductorDebug.toggleErrorHeat", toggle),
    vscode.window.onDidChangeVisibleTextEditors(paintAll),
    vscode.workspace.onDidChangeConfiguration((change) => { if (change.affectsConfiguration(`inductorDebug.${SETTING}`)) paintAll(); }),
    vscode.workspace.onDidChangeTextDocument((change) => {
      const some = [moved(compared, change), moved(drawn, change)].includes(true);
      if (some) for (const editor of vscode.window.visibleTextEditors) if (editor.document === change.document) paint(editor);
    }),
  );
}

function isOn(): boolean {
  return vscode.workspace.getConfiguration("inductorDebug").get<boolean>(SETTING, true);
}

function titleOf(metric: HeatMetric): string {
  switch (metric) {
    case "error":
      return t("Error heat");
    case "bytes":
      return t("Heat: bytes");
    case "flops":
      return t("Heat: FLOPs");
    case "bound":
      return t("Heat: bound");
    case "compile-time":
      return t("Heat: compile time");
    case "measured-time":
      return t("Heat: measured time");
  }
}

function meaningOf(metric: HeatMetric): string {
  switch (metric) {
    case "error":
      return t("The largest error on the line, as a multiple of the error to expect in this precision. Nothing is hot in a comparison that passes.");
    case "bytes":
      return t("Bytes that the line writes, as a part of all in the graph.");
    case "flops":
      return t("Floating-point operations of the line, as a part of all in the graph.");
    case "bound":
      return t("Time that the line takes at least on the accelerator, as a part of all in the graph: a lower bound, no prediction.");
    case "compile-time":
      return t("Time that compiling the line's expressions takes, as a part of all that compiling the target takes.");
    case "measured-time":
      return t("Time that kernels and operators of the line took in a step, as a part of the step.");
  }
}

function legendOf({ metric, of }: Known): vscode.MarkdownString {
  const ranges = metric === "error" ? ERROR_RANGES : SHARE_RANGES;
  const text = new vscode.MarkdownString(`**${titleOf(metric)}** `);
  text.appendText(`${of}\n`);
  text.appendText(meaningOf(metric));
  text.appendMarkdown(`\n\n${SIGNS.map((sign, level) => `${sign} ${ranges[level] ?? ""}`).join(" · ")}\n\n`);
  text.appendText(isOn() ? t("Click to switch it off.") : t("Click to switch it on."));
  return text;
}

/** What was measured of a line, and what the signs mean. */
function textOf(known: Known, { amount, level, op, module }: HeatLine): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendMarkdown(`**${titleOf(known.metric)}** `);
  const what = op === "" ? "" : `: ${op}${module === "" ? "" : ` ${t("in {0}", module)}`}`;
  text.appendText(`${SIGNS[level]} ${amount}, ${known.of}${what}\n`);
  text.appendText(meaningOf(known.metric));
  return text;
}
