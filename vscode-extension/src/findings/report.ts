/**
 * The command "Report": what was found in a file as one page to pass on. The daemon checks the file and makes the page; here it is shown as it
 * is, without scripts, and saved where the user wants it.
 */

import type { PagesContext } from "../pages/orderPages.js";
import { copyFile, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";

import { messageOf } from "../orders/orders.js";
import { withLinks } from "../pages/reportHtml.js";
import { fileOf } from "../orders/subjects.js";

const { t } = vscode.l10n;

export function activate(context: PagesContext): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.showReport", (given?: unknown) => report(context, given)),
  );
}

async function report(context: PagesContext, given: unknown): Promise<void> {
  const source = await fileOf(context, t("Report"), given);
  if (!source) return;
  const name = basename(source.fsPath);
  const title = t("Report: {0}", name);
  const answer = await context.pages.carryOut({
    key: `${source.toString()}\n${title}`,
    title,
    order: { title, command: "inductorDebug.report", request: { uri: source.toString() } },
    content: async ({ artifacts: [page], notes, root }) =>
      page ? { document: withLinks(await readFile(page.path, "utf8"), root) } : { nothing: notes[0] ?? t("artifacts are switched off") },
  });
  const path = answer?.artifacts[0]?.path;
  if (path !== undefined) context.notifications.answer(t("The report of {0} is there.", name), { title: t("Save…"), run: () => save(context, source, path) });
}

async function save(context: PagesContext, source: vscode.Uri, path: string): Promise<void> {
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
