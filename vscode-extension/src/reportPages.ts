/**
 * Read-only pages in Markdown that the extension writes itself: bisections and transfer logs. VS Code's own preview shows them, so that they
 * look as the theme wants it, can be searched and printed. They live as long as the window.
 */

import * as vscode from "vscode";

const { t } = vscode.l10n;
export const REPORT_SCHEME = "inductor-debug-report";

export class ReportPages implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(REPORT_SCHEME, this);

  readonly onDidChange = this.changed.event;

  /** Shows a page beside the editor. A page of the same name takes its place. */
  async show(name: string, markdown: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: REPORT_SCHEME, path: `/${name.replaceAll("/", "_")}.md` });
    this.texts.set(uri.toString(), markdown);
    this.changed.fire(uri);
    await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? t("This page was made before the window was loaded. Make it again.");
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
