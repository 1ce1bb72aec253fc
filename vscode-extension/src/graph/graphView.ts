/**
 * The commands "Show Graph" and "Open Compiler Artifacts": a tab with the graphs of one target, or of one compile that somebody else's
 * compiler has written down, beside the editor. One tab for each; VS Code puts it back after a restart, and then its graphs come anew.
 */

import * as vscode from "vscode";

import type { Context } from "../services/context.js";
import { linkOf } from "./graphLinks.js";
import type { Subject } from "../server/protocol.js";
import { captured } from "./captures.js";
import { GraphPanel } from "./graphPanel.js";
import { Texts } from "./graphTexts.js";
import { compileOf, imported } from "./importedGraphs.js";
import { targetOf } from "../orders/subjects.js";

const { t } = vscode.l10n;
/** A tab by where its graphs come from; the keys are the types of VS Code's panels. */
const SOURCES = { "inductorDebug.graph": captured, "inductorDebug.importedGraph": imported } as const;
type View = keyof typeof SOURCES;

export function activate(context: Context): void {
  const { storageUri, globalStorageUri } = context.extension;
  const texts = new Texts(vscode.Uri.joinPath(storageUri ?? globalStorageUri, "texts").fsPath);
  const open = new Map<string, GraphPanel>();
  const show = (view: View, subject: Subject, panel: vscode.WebviewPanel): GraphPanel => {
    const key = keyOf(view, subject);
    panel.title = t("Graph: {0}", subject.target);
    const made = new GraphPanel(context, panel, subject, SOURCES[view](context, subject), texts, () => open.delete(key));
    open.set(key, made);
    return made;
  };
  const shown = (view: View, subject: Subject): GraphPanel => {
    const known = open.get(keyOf(view, subject));
    known?.show();
    return known ?? show(view, subject, vscode.window.createWebviewPanel(view, subject.target, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }));
  };
  const kept = (view: View): vscode.Disposable =>
    vscode.window.registerWebviewPanelSerializer(view, {
      deserializeWebviewPanel: async (panel, state: unknown) => {
        const { subject } = (state ?? {}) as { subject?: Subject };
        if (subject) show(view, subject, panel);
        else panel.dispose();
        return Promise.resolve();
      },
    });
  context.extension.subscriptions.push(
    texts,
    { dispose: () => { for (const panel of [...open.values()]) panel.dispose(); } },
    vscode.commands.registerCommand("inductorDebug.showGraph", async (given?: unknown, target?: unknown) => {
      const subject = await targetOf(context, t("Show Graph"), given, target);
      if (subject) shown("inductorDebug.graph", subject);
    }),
    vscode.commands.registerCommand("inductorDebug.openArtifacts", async (given?: unknown) => {
      const subject = await compileOf(context, given);
      if (subject) shown("inductorDebug.importedGraph", subject);
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
        const panel = shown("inductorDebug.graph", { uri: document.uri.toString(), target: link.target });
        if (link.graph !== undefined && link.node !== undefined) panel.goTo(link.graph, link.node);
      },
    }),
    kept("inductorDebug.graph"),
    kept("inductorDebug.importedGraph"),
  );
}

function keyOf(view: View, { uri, target }: Subject): string {
  return `${view}\n${uri}\n${target}`;
}
