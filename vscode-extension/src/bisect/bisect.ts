/**
 * The commands "Bisect" and "Show Transfers": which layer of the compiler first goes wrong, and what crosses to the accelerator. The daemon
 * works and writes the answers as pages, which are shown beside the editor.
 */

import { basename } from "node:path";
import * as vscode from "vscode";

import type { BisectGuilty, BisectOptions } from "../../../shared_schema/generated/wire.js";
import { accelerators } from "../accelerator/accelerator.js";
import { lineWordsOf, revealPlace } from "../common/places.js";
import type { Action } from "../common/notifications.js";
import { type OrderPages, pageIn, type PagesContext } from "../pages/orderPages.js";
import { targetOf } from "../orders/subjects.js";
import type { Subject } from "../server/protocol.js";

const { t } = vscode.l10n;

export function activate(context: PagesContext): void {
  const { pages } = context;
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.bisectTarget", (given?: unknown, name?: unknown) => bisect(context, pages, given, name)),
    vscode.commands.registerCommand("inductorDebug.showTransfers", (given?: unknown, name?: unknown) => transfers(context, pages, given, name)),
  );
}

async function bisect(context: PagesContext, pages: OrderPages, given: unknown, name: unknown): Promise<void> {
  const subject = await targetOf(context, t("Bisect"), given, name);
  const options = subject && (optionsIn(given) ?? (await askForLadder(context)));
  if (!subject || !options) return;
  const title = t("Bisection of {0}", subject.target);
  const answer = await pages.carryOut({
    key: `${subject.uri}\n${title}`,
    title,
    order: { title: t("Bisecting {0}", subject.target), command: "inductorDebug.bisect", request: { ...subject, ...options, format: "html" } },
    content: pageIn,
    grows: true,
  });
  const [said] = answer?.said ?? [];
  if (said !== undefined) context.notifications.answer(said, ...actionsFor(answer?.bisections[0]?.guilty ?? undefined));
}

/** The ladder among the command's arguments (`{uri, target, backends, passes}`), as a key binding may have it; undefined where it has none. */
function optionsIn(given: unknown): BisectOptions | undefined {
  if (typeof given !== "object" || given === null || !("backends" in given) || !Array.isArray(given.backends)) return undefined;
  const backends = given.backends.filter((name) => typeof name === "string");
  return { backends, ...("passes" in given && typeof given.passes === "boolean" ? { passes: given.passes } : {}) };
}

/** What one does next; the page has the commands for either side. */
function actionsFor({ path, range }: Partial<BisectGuilty> = {}): Action[] {
  if (path == null || range == null) return [];
  return [{ title: t("Go to {0}, {1}", basename(path), lineWordsOf({ path, range })), run: () => revealPlace({ path, range }, true) }];
}

interface Ladder extends vscode.QuickPickItem {
  readonly options?: BisectOptions;
}

/** What is climbed; undefined where the user has had enough. */
async function askForLadder(context: PagesContext): Promise<BisectOptions | undefined> {
  const ladders: Ladder[] = [
    { label: t("The usual ladder"), detail: t("Dynamo, AOTAutograd, decompositions, Inductor, transfers, the accelerator; then passes and operations of the guilty one"), options: {} },
    { label: t("The usual ladder, without Inductor's passes"), detail: t("Quicker: passes and lowerings are not searched"), options: { passes: false } },
    { label: t("Choose backends…") },
  ];
  const chosen = await vscode.window.showQuickPick(ladders, { title: t("Bisect"), placeHolder: t("What is compared with eager") });
  if (!chosen || chosen.options) return chosen?.options;
  // GPUs compute in the formats that the host has, so there is nothing to imitate.
  const imitated = (await accelerators(context)).filter(({ gpu }) => !gpu);
  const names = ["dynamo", "aot_eager", "aot_eager_decomp_partition", "inductor", ...imitated.map(({ name }) => name)];
  const items = names.map((label) => ({ label }));
  const picked = await vscode.window.showQuickPick(items, { title: t("Bisect"), placeHolder: t("Climbed in this order"), canPickMany: true });
  return picked && picked.length > 0 ? { backends: picked.map(({ label }) => label) } : undefined;
}

async function transfers(context: PagesContext, pages: OrderPages, given: unknown, name: unknown): Promise<void> {
  const subject = await targetOf(context, t("Show Transfers"), given, name);
  if (subject) await transfersOf(pages, subject);
}

async function transfersOf(pages: OrderPages, subject: Subject, values = 0): Promise<void> {
  await pages.carryOut({
    key: `${subject.uri}\n${t("Transfers of {0}", subject.target)}`,
    title: t("Transfers of {0}", subject.target),
    order: { title: t("Logging transfers of {0}", subject.target), command: "inductorDebug.transfers", request: { ...subject, values, format: "html" } },
    content: pageIn,
    withValues: (count) => transfersOf(pages, subject, count),
  });
}
