/**
 * The command "Show Graph": a tab with the graphs of one target, beside the editor. One tab per target; VS Code puts it back after a
 * restart, and then its graphs are captured anew.
 */

import * as vscode from "vscode";

import type { Context } from "../services/context.js";
import { linkOf } from "./graphLinks.js";
import type { Subject } from "../server/protocol.js";
import { GraphPanel } from "./graphPanel.js";
import { Texts } from "./graphTexts.js";
import { targetOf } from "../orders/subjects.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.graph";

export function activate(context: Context): void {
  const { storageUri, globalStorageUri } = context.extension;
  const texts = new Texts(vscode.Uri.joinPath(storageUri ?? globalStorageUri, "texts").fsPath);
  const open = new Map<string, GraphPanel>();
  const show = (subject: Subject, panel: vscode.WebviewPanel): GraphPanel => {
    const key = keyOf(subject);
    panel.title = t("Graph: {0}", subject.target);
    const made = new GraphPanel(context, panel, subject, texts, () => open.delete(key));
    open.set(key, made);
    return made;
  };
  const shown = (subject: Subject): GraphPanel => {
    const known = open.get(keyOf(subject));
    known?.show();
    return known ?? show(subject, vscode.window.createWebviewPanel(VIEW, subject.target, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }));
  };
  context.extension.subscriptions.push(
    texts,
    { dispose: () => { for (const panel of [...open.values()]) panel.dispose(); } },
    vscode.commands.registerCommand("inductorDebug.showGraph", async (given?: unknown, target?: unknown) => {
      const subject = await targetOf(context, t("Show Graph"), given, target);
      if (subject) shown(subject);
    }),
    vscode.window.registerUriHandler({
      handleUri: async ({ path, query }) => {
        const link = linkOf(path, query);
        const uri = link && vscode.Uri.file(link.file);
        const here = uri && vscode.workspace.getWorkspaceFolder(uri); // what is opened is run: a link must not choose any file
        const document = here && (await Promise.resolve(vscode.workspace.openTextDocument(uri)).catch(() => undefined));
        if (!link || !document) {
          context.notifications.answer(t("This link leads to no file here: {0}", link?.file ?? path));
          return;
        }
        await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
        const panel = shown({ uri: document.uri.toString(), target: link.target });
        if (link.graph !== undefined && link.node !== undefined) panel.goTo(link.graph, link.node);
      },
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
