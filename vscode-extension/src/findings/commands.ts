/** The commands that only pass something on: check, cancel, restart, show output. */

import * as vscode from "vscode";

import { isBusy } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import { messageOf } from "../orders/orders.js";
import { SessionState } from "../server/state.js";

const { t } = vscode.l10n;

export function activate(context: Context): void {
  const { session, log } = context;
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.checkFile", () => checkFile(context)),
    vscode.commands.registerCommand("inductorDebug.cancelAnalysis", () => cancel(context)),
    vscode.commands.registerCommand("inductorDebug.restartServer", () => session.restartByUser()),
    vscode.commands.registerCommand("inductorDebug.showOutput", () => { log.show(true); }),
  );
}

async function checkFile(context: Context): Promise<void> {
  const page = context.activePages.about;
  if (!page && vscode.window.activeNotebookEditor) {
    await vscode.commands.executeCommand("inductorDebug.checkNotebook");
    return;
  }
  const document = page ? await vscode.workspace.openTextDocument(vscode.Uri.parse(page.uri)) : vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "python") {
    context.notifications.answer(t("Open the Python file to check first."));
    return;
  }
  if (document.isUntitled) {
    context.notifications.answer(t("Save the file first: a check runs it, and relative imports need its folder."));
    return;
  }
  await context.session.start();
  if (context.session.state !== SessionState.Running) await context.session.restartByUser();
  if (document.isDirty) await document.save();
  try {
    await context.session.execute("inductorDebug.check", { uri: document.uri.toString() });
  } catch (error) {
    context.notifications.answer(t("The check could not be done: {0}", messageOf(error)));
  }
}

/** The document in the editor if it is being analysed, otherwise all that are. */
async function cancel(context: Context): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const analysis = uri && context.analyses.get(uri);
  const one = analysis && isBusy(analysis) ? { uri: uri.toString() } : {};
  await context.session.execute("inductorDebug.cancel", one);
}
