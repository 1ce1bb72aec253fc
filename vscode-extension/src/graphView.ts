/**
 * The command "Show Graph": a tab with the graphs of one target, beside the editor. One tab per target; VS Code puts it back after a
 * restart, and then its graphs are captured anew.
 */

import * as vscode from "vscode";

import type { Context } from "./context.js";
import { GraphPanel, type Subject } from "./graph/panel.js";
import { Texts } from "./graph/texts.js";
import { targetOf } from "./subjects.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.graph";

export function activate(context: Context): void {
  const { storageUri, globalStorageUri } = context.extension;
  const texts = new Texts(vscode.Uri.joinPath(storageUri ?? globalStorageUri, "texts").fsPath);
  const open = new Map<string, GraphPanel>();
  const show = (subject: Subject, panel: vscode.WebviewPanel): void => {
    const key = keyOf(subject);
    panel.title = t("Graph: {0}", subject.target);
    open.set(key, new GraphPanel(context, panel, subject, texts, () => open.delete(key)));
  };
  context.extension.subscriptions.push(
    texts,
    { dispose: () => { for (const panel of [...open.values()]) panel.dispose(); } },
    vscode.commands.registerCommand("inductorDebug.showGraph", async (given?: unknown, target?: unknown) => {
      const subject = await targetOf(context, t("Show Graph"), given, target);
      if (!subject) return;
      const known = open.get(keyOf(subject));
      if (known) known.show();
      else show(subject, vscode.window.createWebviewPanel(VIEW, subject.target, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }));
    }),
    vscode.window.registerWebviewPanelSerializer(VIEW, {
      deserializeWebviewPanel: async (panel, state: unknown) => {
        const { subject } = (state ?? {}) as { subject?: Subject };
        if (subject) show(subject, panel);
        else panel.dispose();
        return Promise.resolve();
      },
    }),
  );
}

function keyOf({ uri, target }: Subject): string {
  return `${uri}\n${target}`;
}
