/**
 * Pages beside the editor that the extension writes itself: bisections and transfer logs. They run no script and load nothing; their links are
 * commands, and only two of those. One tab for each subject; a newer page takes the older one's place.
 */

import { randomUUID } from "node:crypto";
import * as vscode from "vscode";

import { revealPlace } from "./places.js";
import { COPY_TEXT, documentOf, GO_TO_PLACE, type Place } from "./reportHtml.js";

const VIEW = "inductorDebug.report";

export class ReportPages implements vscode.Disposable {
  private readonly open = new Map<string, vscode.WebviewPanel>();
  private readonly commands = [
    vscode.commands.registerCommand(GO_TO_PLACE, (place?: Place) => (place ? goTo(place) : undefined)),
    vscode.commands.registerCommand(COPY_TEXT, (text?: unknown) => vscode.env.clipboard.writeText(String(text))),
  ];

  constructor(private readonly extension: vscode.Uri) {}

  /** Shows a page about a file; `body` is HTML that `reportHtml.ts` has made. The keyboard stays where it is. */
  show(uri: string, title: string, body: string): void {
    const key = `${uri}\n${title}`;
    const panel = this.open.get(key) ?? this.panelFor(key, title);
    panel.webview.html = documentOf(title, body, randomUUID());
    panel.reveal(undefined, true);
  }

  dispose(): void {
    for (const disposable of [...this.commands, ...this.open.values()]) disposable.dispose();
  }

  private panelFor(key: string, title: string): vscode.WebviewPanel {
    const panel = vscode.window.createWebviewPanel(
      VIEW, title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: false, enableFindWidget: true, enableCommandUris: [GO_TO_PLACE, COPY_TEXT], localResourceRoots: [] },
    );
    panel.iconPath = vscode.Uri.joinPath(this.extension, "media", "view.svg");
    this.open.set(key, panel);
    panel.onDidDispose(() => { this.open.delete(key); });
    return panel;
  }
}

async function goTo({ path, range }: Place): Promise<void> {
  if (range) await revealPlace({ path, range }, true);
  else await vscode.window.showTextDocument(vscode.Uri.file(path), { viewColumn: vscode.ViewColumn.One });
}
