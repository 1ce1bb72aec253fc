/** Places of the wire as VS Code has them: ranges, links, and the editor that shows one. */

import * as vscode from "vscode";

import type { Location } from "../../../shared_schema/generated/wire.js";

export function rangeOf({ range: { start, end } }: Location): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

/** A link that selects the expression. */
export function sourceLink(place: Location): vscode.Uri {
  const { start, end } = place.range;
  return vscode.Uri.file(place.path).with({ fragment: `L${start.line + 1},${start.character + 1}-${end.line + 1},${end.character + 1}` });
}

/** Selects an expression in the editor that shows its file, otherwise in the first column. `focus` takes the keyboard there. */
export async function revealPlace(place: Location, focus: boolean): Promise<void> {
  const uri = vscode.Uri.file(place.path);
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.fsPath === uri.fsPath);
  const range = rangeOf(place);
  if (shown && !focus) {
    shown.selection = new vscode.Selection(range.start, range.end);
    shown.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return;
  }
  await vscode.window.showTextDocument(uri, { selection: range, preserveFocus: !focus, viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One });
}

export function isNotebook({ path }: vscode.Uri): boolean {
  return path.endsWith(".ipynb");
}
