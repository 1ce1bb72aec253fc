/** The command "Suggest What Makes It Faster": ways to run a target that were tried without the accelerator, as a page beside the editor. */

import * as vscode from "vscode";

import { targetOf } from "../orders/subjects.js";
import { pageIn, type PagesContext } from "../pages/orderPages.js";

const { t } = vscode.l10n;

export function activate(context: PagesContext): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.suggestFaster", (given?: unknown, name?: unknown) => suggest(context, given, name)),
  );
}

async function suggest(context: PagesContext, given: unknown, name: unknown): Promise<void> {
  const subject = await targetOf(context, t("Suggest What Makes It Faster"), given, name);
  if (!subject) return;
  const title = t("What makes {0} faster", subject.target);
  await context.pages.carryOut({
    key: `${subject.uri}\n${title}`,
    title,
    order: { title: t("Trying what makes {0} faster", subject.target), command: "inductorDebug.suggest", request: { ...subject, format: "html" } },
    content: pageIn,
  });
}
