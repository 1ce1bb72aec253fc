/**
 * The command "Report": what was found in a file as one page to pass on. The daemon checks the file and makes the page; here it is shown as it
 * is, without scripts, and saved where the user wants it.
 */

import { copyFile, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";

import type { Context } from "./context.js";
import { carryOut, messageOf, type Outcome } from "./orders.js";
import { fileOf } from "./subjects.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.page";

export function activate(context: Context): void {
  const open = new Map<string, vscode.WebviewPanel>();
  context.extension.subscriptions.push(
    { dispose: () => { for (const panel of [...open.values()]) panel.dispose(); } },
    vscode.commands.registerCommand("inductorDebug.showReport", (given?: unknown) => report(context, open, given)),
  );
}

async function report(context: Context, open: Map<string, vscode.WebviewPanel>, given: unknown): Promise<void> {
  const source = await fileOf(context, t("Report"), given);
  if (!source) return;
  const name = basename(source.fsPath);
  const title = t("Report: {0}", name);
  const answer = await carryOut<Outcome>(context, { title, command: "inductorDebug.report", argument: { uri: source.toString() } });
  if (!answer) return;
  const path = answer.artifacts[0]?.path;
  if (path === undefined) {
    context.notifications.answer(t("{0}: {1}", title, answer.notes[0] ?? t("artifacts are switched off")));
    return;
  }
  const panel = open.get(source.toString()) ?? vscode.window.createWebviewPanel(VIEW, title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableFindWidget: true, localResourceRoots: [] });
  if (!open.has(source.toString())) panel.onDidDispose(() => open.delete(source.toString()));
  open.set(source.toString(), panel);
  panel.iconPath = vscode.Uri.joinPath(context.extension.extensionUri, "media", "view.svg");
  panel.webview.html = await readFile(path, "utf8");
  panel.reveal(undefined, true);
  context.notifications.answer(t("The report of {0} is there.", name), { title: t("Save…"), run: () => save(context, source, path) });
}

async function save(context: Context, source: vscode.Uri, path: string): Promise<void> {
  const folder = vscode.workspace.getWorkspaceFolder(source)?.uri.fsPath ?? dirname(source.fsPath);
  const name = `${basename(source.fsPath).replace(/\.py$/u, "")}-report.html`;
  const chosen = await vscode.window.showSaveDialog({ title: t("Save the Report"), defaultUri: vscode.Uri.file(join(folder, name)), filters: { [t("Pages")]: ["html"] } });
  if (!chosen) return;
  try {
    await copyFile(path, chosen.fsPath);
  } catch (error) {
    context.notifications.answer(t("The file could not be written: {0}", messageOf(error)));
  }
}
