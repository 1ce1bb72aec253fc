/**
 * Marks findings that are of an older text: they stay where they are, with a grey clock beside their line, until the newer run
 * is through. Short runs are not worth a flicker, so the mark comes only after a while.
 */

import * as vscode from "vscode";

import type { Context } from "../services/context.js";

const PATIENCE = 600;

export function activate(context: Context): void {
  const { analyses, extension } = context;
  const mark = vscode.window.createTextEditorDecorationType({
    gutterIconPath: extension.asAbsolutePath("media/outdated.svg"),
    gutterIconSize: "70%",
    overviewRulerColor: new vscode.ThemeColor("disabledForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
  });
  const waiting = new Map<string, NodeJS.Timeout>();
  const painted = new WeakSet<vscode.TextEditor>();
  const paint = (editor: vscode.TextEditor, marked: boolean): void => {
    if (!marked && !painted.delete(editor)) return; // nothing there: the editor is not bothered
    if (marked) painted.add(editor);
    const lines = new Set(analyses.findings(editor.document.uri).map((finding) => finding.range.start.line));
    const text = vscode.l10n.t("This finding is of an earlier text; a newer check is not through yet.");
    editor.setDecorations(
      mark,
      marked ? [...lines].map((line) => ({ range: new vscode.Range(line, 0, line, 0), hoverMessage: text })) : [],
    );
  };
  const update = (editor: vscode.TextEditor): void => {
    const key = editor.document.uri.toString();
    const analysis = analyses.get(editor.document.uri);
    if (!analysis || !analyses.showsOlder(analysis)) {
      clearTimeout(waiting.get(key));
      waiting.delete(key);
      paint(editor, false);
    } else if (!waiting.has(key)) {
      waiting.set(key, setTimeout(() => {
        waiting.delete(key);
        for (const shown of vscode.window.visibleTextEditors) {
          if (shown.document.uri.toString() === key) paint(shown, true);
        }
      }, PATIENCE));
    }
  };
  const updateAll = (): void => { vscode.window.visibleTextEditors.forEach(update); };
  extension.subscriptions.push(
    mark,
    analyses.onDidChange(updateAll),
    vscode.window.onDidChangeVisibleTextEditors(updateAll),
    { dispose: () => { for (const timer of waiting.values()) clearTimeout(timer); } },
  );
}
