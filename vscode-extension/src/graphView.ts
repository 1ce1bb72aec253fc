/**
 * The command "Show Graph": a tab with the graphs of one target, beside the editor. One tab per target; VS Code puts it back after a
 * restart, and then its graphs are captured anew.
 */

import * as vscode from "vscode";

import type { Context } from "./context.js";
import { GraphPanel, type Subject } from "./graph/panel.js";
import { Texts } from "./graph/texts.js";
import { SessionState } from "./server/state.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.graph";

export function activate(context: Context): void {
  const texts = new Texts();
  const open = new Map<string, GraphPanel>();
  const show = (subject: Subject, panel: vscode.WebviewPanel): void => {
    const key = keyOf(subject);
    panel.title = t("Graph: {0}", subject.target);
    open.set(key, new GraphPanel(context, panel, subject, texts, () => open.delete(key)));
  };
  context.extension.subscriptions.push(
    texts,
    { dispose: () => { for (const panel of [...open.values()]) panel.dispose(); } },
    vscode.commands.registerCommand("inductorDebug.showGraph", async (uri?: unknown, target?: unknown) => {
      const subject = await subjectOf(context, typeof uri === "string" ? uri : undefined, typeof target === "string" ? target : undefined);
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

/** The target to show: the one given, the only one of the file, or the one that the user picks. */
async function subjectOf(context: Context, given: string | undefined, target: string | undefined): Promise<Subject | undefined> {
  const uri = given === undefined ? vscode.window.activeTextEditor?.document.uri : vscode.Uri.parse(given);
  const document = uri && (await vscode.workspace.openTextDocument(uri));
  if (document?.languageId !== "python" || document.isUntitled) {
    context.notifications.answer(t("Open the Python file whose graph you want to see first, and save it."));
    return undefined;
  }
  if (target !== undefined) return { uri: document.uri.toString(), target };
  if (context.session.state !== SessionState.Running) {
    context.notifications.answer(t("The graph cannot be shown: the daemon is not running."));
    return undefined;
  }
  if (document.isDirty) await document.save();
  const analysis = context.analyses.get(document.uri);
  const names = [...new Set((analysis?.targets ?? []).map(({ name }) => name))];
  if (names.length === 0) {
    context.notifications.answer(t("There is nothing to compile in this file, or its check is not through yet."));
    return undefined;
  }
  const name = names.length === 1 ? names[0] : await vscode.window.showQuickPick(names, { title: t("Show Graph"), placeHolder: t("The target") });
  return name === undefined ? undefined : { uri: document.uri.toString(), target: name };
}
