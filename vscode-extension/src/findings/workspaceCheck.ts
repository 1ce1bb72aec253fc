/**
 * The command "Check the Whole Workspace": every file that defines or compiles a model is checked, on request only. The daemon chooses the files
 * and shows what it finds, also in files that are not open; here is the bar with its Cancel button, and the sentence at the end.
 */

import * as vscode from "vscode";

import type { WorkspaceAnswer } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../services/context.js";
import { carryOut } from "../orders/orders.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;

/** As much of what the daemon answers as the sentence tells. */
type WorkspaceSummary = Pick<WorkspaceAnswer, "files" | "files_with_findings" | "findings" | "not_opened" | "not_opened_why">;

export function activate(context: Context): void {
  context.extension.subscriptions.push(vscode.commands.registerCommand("inductorDebug.checkWholeWorkspace", () => check(context)));
}

async function check(context: Context): Promise<void> {
  await vscode.workspace.saveAll(false);
  const title = t("Checking the whole workspace");
  const summary = await carryOut(context, { title, command: "inductorDebug.checkWorkspace", request: {} });
  if (!summary) return;
  const problems = { title: t("Show Problems"), run: () => vscode.commands.executeCommand("workbench.actions.view.problems") };
  context.notifications.answer(sentence(summary), ...(summary.findings > 0 ? [problems] : []));
}

/** `3 findings in 2 of 14 files; 41 files were not run: 7 tests, 34 without torch.` */
export function sentence(summary: WorkspaceSummary): string {
  const left = summary.not_opened === 0 ? "" : t("{0} not run: {1}", words.files(summary.not_opened), summary.not_opened_why);
  const parts = [found(summary), left].filter((part) => part !== "");
  return `${parts.join("; ")}.`;
}

function found({ files, files_with_findings: having, findings }: WorkspaceSummary): string {
  if (files === 0) return t("No file of the workspace defines or compiles a model");
  if (findings === 0) return t("No findings in {0}", words.files(files));
  return t("{0} in {1} of {2}", words.findings(findings), having, words.files(files));
}
