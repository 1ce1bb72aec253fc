/**
 * Kernels and IR as read-only documents in editor tabs, coloured by VS Code, with links to the lines of the source that they come from.
 * The texts are those that the graph view has sent; they live as long as the window.
 */

import * as vscode from "vscode";

import type { TextToOpen } from "../../webview/shared/messages.js";
import { sourceLink } from "./places.js";

const { t } = vscode.l10n;
export const TEXT_SCHEME = "inductor-debug-text";
const ENDINGS: Readonly<Record<string, string>> = { cpp: "cpp", python: "py", triton: "py", extern: "py" };

export class Texts implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly known = new Map<string, TextToOpen>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registrations: vscode.Disposable[];

  readonly onDidChange = this.changed.event;

  constructor() {
    this.registrations = [
      vscode.workspace.registerTextDocumentContentProvider(TEXT_SCHEME, this),
      vscode.languages.registerDocumentLinkProvider({ scheme: TEXT_SCHEME }, this),
      vscode.languages.registerCodeLensProvider({ scheme: TEXT_SCHEME }, this),
      this.changed,
    ];
  }

  /** Opens a text, or brings the tab to the front that has it already, with what is newest. */
  async open(target: string, text: TextToOpen, column: vscode.ViewColumn): Promise<void> {
    const uri = addressOf(target, text);
    const before = this.known.get(uri.toString());
    this.known.set(uri.toString(), text);
    if (before && before.text !== text.text) this.changed.fire(uri);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: column, preview: true });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.known.get(uri.toString())?.text ?? t("This text came from a graph view that is gone. Open it again from there.");
  }

  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    return (this.known.get(document.uri.toString())?.links ?? []).flatMap(({ line, place }) => {
      if (line >= document.lineCount) return [];
      const { text, firstNonWhitespaceCharacterIndex: start, range } = document.lineAt(line);
      if (start >= text.length) return [];
      const link = new vscode.DocumentLink(range.with(new vscode.Position(line, start)), sourceLink(place));
      link.tooltip = t("Go to line {0} of the source", place.range.start.line + 1);
      return [link];
    });
  }

  /** Above the text: the first expression that it comes from. */
  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const place = this.known.get(document.uri.toString())?.links[0]?.place;
    if (!place) return [];
    const title = t("Go to the source, line {0}", place.range.start.line + 1);
    return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command: "vscode.open", arguments: [sourceLink(place)] })];
  }

  dispose(): void {
    for (const registration of this.registrations) registration.dispose();
  }
}

/** One address per target and title; the ending tells VS Code the language. */
export function addressOf(target: string, { title, language }: TextToOpen): vscode.Uri {
  const name = title.replace(/[^\p{L}\p{N}._ ()-]+/gu, "_");
  const ending = ENDINGS[language] ?? "txt";
  return vscode.Uri.from({ scheme: TEXT_SCHEME, path: `/${target}/${name.endsWith(`.${ending}`) ? name : `${name}.${ending}`}` });
}
