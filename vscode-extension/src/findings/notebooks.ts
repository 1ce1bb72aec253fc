/**
 * Notebooks: their cells are checked as they are run, which is the language client's and the daemon's business, and all together, as they
 * stand, when the user asks for it. Where the daemon is not told of cells (it is of an earlier version, or none is in Python), it reads the saved
 * file and speaks of lines of one text made of all cells; here such findings are put where one sees them, into the cells.
 */

import * as vscode from "vscode";

import type { CheckAnswer } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../services/context.js";
import { isNotebook, revealInCell } from "../common/places.js";
import { carryOut } from "../orders/orders.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;
type Cells = NonNullable<CheckAnswer["cells"]>;

/** Of rows that lead to a cell. */
export const REVEAL_CELL = "inductorDebug.revealCell";

export function activate(context: Context): void {
  const notebooks = new Notebooks();
  context.extension.subscriptions.push(
    notebooks,
    context.session.onDiagnostics(([uri, found]) => { notebooks.hear(uri, found); }),
    vscode.workspace.onDidCloseNotebookDocument(({ uri }) => { notebooks.forget(uri); }),
    vscode.commands.registerCommand(REVEAL_CELL, (cell: vscode.Uri, range: vscode.Range) => revealInCell(cell, range, true)),
    vscode.commands.registerCommand("inductorDebug.checkNotebook", async () => {
      const notebook = vscode.window.activeNotebookEditor?.notebook;
      if (notebook) await check(context, notebooks, notebook);
      else context.notifications.answer(t("Open the notebook to check first."));
    }),
  );
}

async function check(context: Context, notebooks: Notebooks, notebook: vscode.NotebookDocument): Promise<void> {
  if (notebook.isUntitled) {
    context.notifications.answer(t("Save the notebook first: a check runs it, and imports need its folder."));
    return;
  }
  if (notebook.isDirty) await notebook.save();
  const name = notebook.uri.path.split("/").at(-1) ?? "";
  const answer = await carryOut(context, {
    title: t("Checking {0}", name),
    command: "inductorDebug.check",
    request: { uri: notebook.uri.toString(), all_cells: true },
  });
  if (!answer) return;
  notebooks.show(notebook, answer.cells ?? []);
  context.notifications.answer(t("{0}: {1}.", name, words.findings(answer.findings)));
}

/** The findings of notebooks by cell. */
class Notebooks implements vscode.Disposable {
  private readonly shown = vscode.languages.createDiagnosticCollection("inductor-debug-cells");
  private readonly found = new Map<string, readonly vscode.Diagnostic[]>();

  /** Findings in the text of all cells. */
  hear(uri: vscode.Uri, found: readonly vscode.Diagnostic[]): void {
    if (isNotebook(uri)) this.found.set(uri.toString(), found);
  }

  show(notebook: vscode.NotebookDocument, starts: Cells): void {
    const { uri } = notebook;
    const cells = notebook.getCells();
    for (const cell of cells) this.shown.delete(cell.document.uri);
    const at = (line: number): [vscode.Uri, number] | undefined => {
      const start = starts.findLast(([, first]) => first <= line);
      const cell = start && cells[start[0] - 1];
      return start && cell && [cell.document.uri, start[1]];
    };
    for (const [cell, found] of inCells(uri, this.found.get(uri.toString()) ?? [], at)) this.shown.set(cell, found);
  }

  forget(uri: vscode.Uri): void {
    this.shown.forEach((cell) => { if (cell.path === uri.path) this.shown.delete(cell); });
  }

  dispose(): void {
    this.shown.dispose();
  }
}

/** The findings by cell, with their places, and related ones of the same notebook, counted within it. `at` knows a line's cell and where that begins. */
function inCells(
  notebook: vscode.Uri, found: readonly vscode.Diagnostic[], at: (line: number) => [vscode.Uri, number] | undefined,
): [vscode.Uri, vscode.Diagnostic[]][] {
  const cells = new Map<string, [vscode.Uri, vscode.Diagnostic[]]>();
  const within = ({ start, end }: vscode.Range, first: number): vscode.Range =>
    new vscode.Range(start.line - first, start.character, end.line - first, end.character);
  for (const finding of found) {
    const place = at(finding.range.start.line);
    if (!place) continue;
    const [cell, first] = place;
    const moved = new vscode.Diagnostic(within(finding.range, first), finding.message, finding.severity);
    Object.assign(moved, { code: finding.code, source: finding.source, tags: finding.tags });
    moved.relatedInformation = (finding.relatedInformation ?? []).map(({ location, message }) => {
      const there = location.uri.path === notebook.path ? at(location.range.start.line) : undefined;
      return new vscode.DiagnosticRelatedInformation(there ? new vscode.Location(there[0], within(location.range, there[1])) : location, message);
    });
    const known = cells.get(cell.toString()) ?? [cell, []];
    known[1].push(moved);
    cells.set(cell.toString(), known);
  }
  return [...cells.values()];
}
