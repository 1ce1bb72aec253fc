/** The line that the view is about: where the cursor is in a Python file, or where it was pinned, wherever edits move that. */

import * as vscode from "vscode";

export interface Line {
  readonly uri: vscode.Uri;
  readonly line: number;
}

export class FollowedLine implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  private readonly disposables: vscode.Disposable[];
  private pinnedTo: Line | undefined;
  private last: Line | undefined;

  /** The line is another one, or has moved. */
  readonly onDidChange = this.changed.event;

  constructor() {
    this.look(vscode.window.activeTextEditor);
    this.disposables = [
      this.changed,
      vscode.window.onDidChangeActiveTextEditor((editor) => { this.look(editor); }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => { this.look(textEditor); }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => { this.edited(document, contentChanges); }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => { if (this.last?.uri.toString() === uri.toString()) this.last = undefined; }),
    ];
  }

  get current(): Line | undefined {
    return this.pinnedTo ?? this.last;
  }

  get pinned(): boolean {
    return this.pinnedTo !== undefined;
  }

  /** Stays with the line that is shown, or follows the cursor again. */
  pin(pinned: boolean): void {
    this.pinnedTo = pinned ? this.last : undefined;
    if (!pinned) this.look(vscode.window.activeTextEditor);
    this.changed.fire(undefined);
  }

  /** What stands on the line. */
  text(): string {
    const { current } = this;
    const document = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === current?.uri.toString());
    return document && current && current.line < document.lineCount ? document.lineAt(current.line).text : "";
  }

  dispose(): void {
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
  }

  /** Other editors leave the view as it is: who reads the output still wants to see the tensors. */
  private look(editor: vscode.TextEditor | undefined): void {
    if (editor?.document.languageId !== "python") return;
    const { uri } = editor.document;
    const line = editor.selection.active.line;
    if (this.last?.line === line && this.last.uri.toString() === uri.toString()) return;
    this.last = { uri, line };
    if (!this.pinned) this.changed.fire(undefined);
  }

  private edited({ uri }: vscode.TextDocument, changes: readonly vscode.TextDocumentContentChangeEvent[]): void {
    if (this.pinnedTo?.uri.toString() !== uri.toString()) return;
    this.pinnedTo = { uri, line: movedBy(this.pinnedTo.line, changes) };
    this.changed.fire(undefined);
  }
}

/** Where a line is after edits. */
export function movedBy(line: number, changes: readonly Pick<vscode.TextDocumentContentChangeEvent, "range" | "text">[]): number {
  let moved = line;
  for (const { range, text } of changes) {
    if (range.end.line > line || (range.end.line === line && range.end.character > 0)) continue;
    moved += text.split("\n").length - 1 - (range.end.line - range.start.line);
  }
  return Math.max(0, moved);
}
