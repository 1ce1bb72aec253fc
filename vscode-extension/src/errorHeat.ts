/**
 * Colours on the lines by how wrong they compute, as the last comparison of the file has measured it. The command "Toggle Error Heat"
 * switches them on and off; lines keep theirs when others are edited, and lose it when they are edited themselves.
 */

import * as vscode from "vscode";

import type { Context } from "./context.js";
import { afterEdit, type Heat, heatOf, LEVELS } from "./heatLines.js";
import type { Comparison } from "./kernelDiff/comparisons.js";

const { t } = vscode.l10n;
const MEMORY = "inductorDebug.errorHeat";
/** From a little warm to hot, for either kind of theme: readable as brightness, too. */
const COLOURS: readonly { readonly light: string; readonly dark: string }[] = [
  { light: "#ffd9001f", dark: "#ffd90014" },
  { light: "#ffb00033", dark: "#ffb00024" },
  { light: "#ff8c0047", dark: "#ff8c0038" },
  { light: "#ff5a1f57", dark: "#ff5a1f4d" },
  { light: "#ff202066", dark: "#ff202066" },
];

/** The heat of a file, and what it is of. */
interface Known {
  heat: Heat;
  readonly backend: string;
  readonly target: string;
}

export function activate(context: Context): void {
  const known = new Map<string, Known>();
  const styles = Array.from({ length: LEVELS }, (_none, level) => styleOf(level));
  let on = context.extension.workspaceState.get<boolean>(MEMORY, false);

  const paint = (editor: vscode.TextEditor): void => {
    const found = on && editor.document.uri.scheme === "file" ? known.get(editor.document.uri.fsPath) : undefined; // not in an older version beside a diff
    styles.forEach((style, level) => {
      const lines = (found?.heat.lines ?? []).filter((line) => line.level === level && line.line < editor.document.lineCount);
      editor.setDecorations(style, found ? lines.map((line) => ({ range: editor.document.lineAt(line.line).range, hoverMessage: textOf(found, line) })) : []);
    });
  };
  const paintAll = (): void => { vscode.window.visibleTextEditors.forEach(paint); };
  const take = ({ document, subject }: Comparison): void => {
    const paths = new Set([vscode.Uri.parse(subject.uri).fsPath, ...document.nodes.flatMap(({ path }) => path ?? [])]);
    for (const path of paths) known.set(path, { heat: heatOf(document, path), backend: document.backend, target: document.target });
    paintAll();
  };
  const toggle = async (): Promise<void> => {
    on = !on;
    paintAll();
    await context.extension.workspaceState.update(MEMORY, on);
    const path = vscode.window.activeTextEditor?.document.uri.fsPath;
    if (on && path !== undefined && !known.has(path)) context.notifications.answer(t("Error heat is on: compare a target of this file to see it."));
    else if (!on) vscode.window.setStatusBarMessage(t("Error heat is off."), 4000);
  };

  context.extension.subscriptions.push(
    ...styles,
    context.comparisons.onDidChange(take),
    vscode.commands.registerCommand("inductorDebug.toggleErrorHeat", toggle),
    vscode.window.onDidChangeVisibleTextEditors(paintAll),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      const found = document.uri.scheme === "file" ? known.get(document.uri.fsPath) : undefined;
      if (!found) return;
      // The changes are in the order in which they can be applied one after the other.
      const lines = contentChanges.reduce(
        (all, { range: { start, end }, text }) =>
          afterEdit(all, { startLine: start.line, startCharacter: start.character, endLine: end.line, endCharacter: end.character, text }),
        [...found.heat.lines],
      );
      found.heat = { ...found.heat, lines };
      for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) paint(editor);
    }),
  );
}

function styleOf(level: number): vscode.TextEditorDecorationType {
  const { light = "", dark = "" } = COLOURS[level] ?? {};
  const look = (colour: string): vscode.ThemableDecorationRenderOptions => ({ backgroundColor: colour, overviewRulerColor: colour });
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true, light: look(light), dark: look(dark), overviewRulerLane: vscode.OverviewRulerLane.Left,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
}

/** The error of a line, and what the colours mean. */
function textOf({ heat, backend, target }: Known, { error, op, module }: Heat["lines"][number]): vscode.MarkdownString {
  const what = heat.own ? t("error of its own") : t("accumulated error");
  const size = error === Infinity ? t("not a number") : error.toExponential(1);
  const text = new vscode.MarkdownString();
  text.appendMarkdown(`**${t("Error heat")}** `);
  text.appendText(`${backend} (${target}): ${op}${module === "" ? "" : ` ${t("in {0}", module)}`}, ${what} ${size}\n`);
  text.appendText(t("Colours go from {0} to {1}, by the logarithm of the line's largest error.", heat.low.toExponential(1), heat.high.toExponential(1)));
  return text;
}
