/** The command "What If on Another Accelerator?": one capture of a target, judged for several accelerators, as a page beside the editor. */

import * as vscode from "vscode";

import { accelerators as known, described, NO_ACCELERATOR, titleOfNone } from "./accelerator.js";
import { SECTION } from "../common/settings.js";
import { reasonOf } from "../orders/orders.js";
import { targetOf } from "../orders/subjects.js";
import { pageIn, type PagesContext } from "../pages/orderPages.js";

const { t } = vscode.l10n;

interface Choice extends vscode.QuickPickItem {
  readonly value?: string;
}

export function activate(context: PagesContext): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.whatIfAccelerator", (given?: unknown, name?: unknown) => compare(context, given, name)),
  );
}

async function compare(context: PagesContext, given: unknown, name: unknown): Promise<void> {
  const subject = await targetOf(context, t("What If on Another Accelerator?"), given, name);
  const accelerators = subject && (await chosen(context, vscode.Uri.parse(subject.uri)));
  if (!accelerators || accelerators.length === 0) return;
  const title = t("Accelerators for {0}", subject.target);
  await context.pages.carryOut({
    key: `${subject.uri}\n${title}`,
    title,
    order: { title: t("Comparing accelerators for {0}", subject.target), command: "inductorDebug.compareAccelerators", request: { ...subject, accelerators, format: "html" } },
    content: async (answer) => (answer.comparison ? pageIn(answer) : { nothing: reasonOf(answer), place: answer.place ?? undefined }),
  });
}

/** The accelerators to compare: the chosen one and all that the daemon knows but the GPUs, unless the user picks others. */
async function chosen(context: PagesContext, scope: vscode.Uri): Promise<string[] | undefined> {
  const current = vscode.workspace.getConfiguration(SECTION, scope).get<string>("accelerator", "");
  const built = (await known(context)).map((entry): Choice => ({ ...described(entry), value: entry.name, picked: !entry.problem && (!entry.gpu || current === entry.name) }));
  const own = current === "" || current === NO_ACCELERATOR || built.some(({ value }) => value === current) ? [] : [{ label: current, description: t("chosen"), value: current, picked: true }];
  const items: Choice[] = [...own, ...built, { label: titleOfNone(), value: NO_ACCELERATOR, picked: current === "" || current === NO_ACCELERATOR }, { label: t("A profile of your own…"), description: t("a TOML file") }];
  const picked = await vscode.window.showQuickPick(items, { title: t("What If on Another Accelerator?"), placeHolder: t("Judged for each; the model is captured once"), canPickMany: true });
  if (!picked) return undefined;
  const files = picked.some(({ value }) => value === undefined) ? await vscode.window.showOpenDialog({ title: t("Choose Profiles"), filters: { [t("Profiles")]: ["toml"] }, canSelectMany: true }) : [];
  return [...picked.flatMap(({ value }) => value ?? []), ...(files ?? []).map(({ fsPath }) => fsPath)];
}
