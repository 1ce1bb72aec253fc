/** Places of the wire as VS Code has them: ranges, links, and the editor that shows one. */

import * as vscode from "vscode";

import type { CellLines, Location } from "../../../shared_schema/generated/wire.js";
import type { ShownCell } from "../../webview/shared/cells.js";

export function rangeOf({ range: { start, end } }: Location): vscode.Range {
  return new vscode.Range(start.line, start.character, end.line, end.character);
}

const notebookCells = new Map<string, readonly CellLines[]>();
const changedCells = new vscode.EventEmitter<undefined>();

/** Places in a notebook's file are in other cells than before. */
export const onDidShowInCells = changedCells.event;

/** From now on, places in an open notebook's file are in these cells; with none, they are in the file again. */
export function showInCells(notebook: vscode.Uri, cells: readonly CellLines[]): void {
  if (cells.length > 0) notebookCells.set(notebook.fsPath, cells);
  else if (!notebookCells.delete(notebook.fsPath)) return;
  changedCells.fire(undefined);
}

/** The cells that places may be in, for pages, which know no notebooks. */
export function shownCells(): ShownCell[] {
  return [...notebookCells].flatMap(([path, cells]) => cells.flatMap(({ uri, start, lines }) => {
    const cell = cellOf(vscode.Uri.parse(uri));
    return cell ? [{ path, start, lines, number: cell.index + 1 }] : [];
  }));
}

/** Where a position of a file, or of a cell, is in what is analysed; nowhere, where that knows nothing of it. */
export function analysedPosition(uri: vscode.Uri, { line, character }: vscode.Position): { path: string; line: number; character: number } | undefined {
  if (uri.scheme === "file") return { path: uri.fsPath, line, character };
  const path = notebookOf(uri)?.uri.fsPath;
  const cell = path === undefined ? undefined : notebookCells.get(path)?.find((each) => each.uri === uri.toString());
  return path !== undefined && cell && line < cell.lines ? { path, line: cell.start + line, character } : undefined;
}

/** The document that shows a place, a file or a cell, and the range in it. */
function shownPlace(place: Location): [vscode.Uri, vscode.Range] {
  const range = rangeOf(place);
  const cell = notebookCells.get(place.path)?.find(({ start, lines }) => start <= range.start.line && range.start.line < start + lines);
  if (!cell) return [vscode.Uri.file(place.path), range];
  return [vscode.Uri.parse(cell.uri), new vscode.Range(range.start.line - cell.start, range.start.character, range.end.line - cell.start, range.end.character)];
}

/** A link that selects the expression. */
export function sourceLink(place: Location): vscode.Uri {
  const [uri, { start, end }] = shownPlace(place);
  if (isCell(uri)) return uri; // which has a fragment of its own
  return uri.with({ fragment: `L${start.line + 1},${start.character + 1}-${end.line + 1},${end.character + 1}` });
}

/** Selects an expression in the editor that shows its file, otherwise in the first column. `focus` takes the keyboard there. */
export async function revealPlace(place: Location, focus: boolean): Promise<void> {
  const [uri, range] = shownPlace(place);
  if (isCell(uri)) {
    await revealInCell(uri, range, focus);
    return;
  }
  const shown = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.fsPath === uri.fsPath);
  if (shown && !focus) {
    shown.selection = new vscode.Selection(range.start, range.end);
    shown.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    return;
  }
  await vscode.window.showTextDocument(uri, { selection: range, preserveFocus: !focus, viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One });
}

/** Selects an expression of a cell where the notebook is shown; VS Code itself would open the cell as a text of its own. */
export async function revealInCell(uri: vscode.Uri, range: vscode.Range, focus: boolean): Promise<void> {
  const notebook = notebookOf(uri);
  const cell = notebook?.getCells().find(({ document }) => document.uri.toString() === uri.toString());
  if (!notebook || !cell) return;
  const shown = vscode.window.visibleNotebookEditors.find((editor) => editor.notebook === notebook);
  const selections = [new vscode.NotebookRange(cell.index, cell.index + 1)];
  await vscode.window.showNotebookDocument(notebook, { viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One, preserveFocus: !focus, selections });
  const editor = vscode.window.visibleTextEditors.find(({ document }) => document === cell.document);
  if (editor) editor.selection = new vscode.Selection(range.start, range.end);
}

const CELL = "vscode-notebook-cell";

/** Whether it is the file of a notebook, not one of its cells. */
export function isNotebook({ path, scheme }: vscode.Uri): boolean {
  return path.endsWith(".ipynb") && scheme !== CELL;
}

export function isCell({ scheme }: vscode.Uri): boolean {
  return scheme === CELL;
}

/** The notebook that a cell belongs to. */
export function notebookOf(cell: vscode.Uri): vscode.NotebookDocument | undefined {
  return isCell(cell) ? vscode.workspace.notebookDocuments.find(({ uri }) => uri.path === cell.path) : undefined;
}

/** What the daemon knows the text of a document by: that of a cell is part of its notebook's. */
export function analysedUri(uri: vscode.Uri): vscode.Uri {
  return notebookOf(uri)?.uri ?? uri;
}

/** `line 12`, or `cell 3, line 2`. */
export function lineWords(uri: vscode.Uri, line: number): string {
  const cell = cellOf(uri);
  return cell ? vscode.l10n.t("cell {0}, line {1}", cell.index + 1, line + 1) : vscode.l10n.t("line {0}", line + 1);
}

/** The same of a place that the daemon names. */
export function lineWordsOf(place: Location): string {
  const [uri, { start }] = shownPlace(place);
  return lineWords(uri, start.line);
}

function cellOf(uri: vscode.Uri): vscode.NotebookCell | undefined {
  return notebookOf(uri)?.getCells().find(({ document }) => document.uri.toString() === uri.toString());
}
