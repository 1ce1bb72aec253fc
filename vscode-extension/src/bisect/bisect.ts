/**
 * The commands "Bisect" and "Show Transfers": which layer of the compiler first goes wrong, and what crosses to the accelerator. The daemon
 * works; the answers are pages beside the editor.
 */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import { accelerators } from "../accelerator/accelerator.js";
import { type Bisection, bisectionPage, type Climb, climbed, growingPage, guiltyPlace, placeWords, verdictWords } from "./bisectPage.js";
import { revealPlace } from "../common/places.js";
import type { Action } from "../common/notifications.js";
import { messageOf, reasonOf } from "../orders/orders.js";
import type { Outcome } from "../server/protocol.js";
import type { OrderPages, PagesContext } from "../pages/orderPages.js";
import { targetOf } from "../orders/subjects.js";
import { type TransfersOf, transfersIn, transfersPage } from "./transfersPage.js";

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
  const options = subject && (await askForLadder(context));
  if (!subject || !options) return;
  const title = t("Bisection of {0}", subject.target);
  let climb: Climb = { planned: [], ladder: [] };
  const answer = await pages.carryOut<Outcome & { readonly bisections: readonly Bisection[] }>({
    key: `${subject.uri}\n${title}`,
    title,
    order: { title: t("Bisecting {0}", subject.target), command: "inductorDebug.bisect", argument: { ...subject, ...options } },
    content: (made) => (made.bisections.length > 0 ? { html: bisectionPage(made.bisections) } : { nothing: reasonOf(made) }),
    growing: (piece) => {
      climb = climbed(climb, piece);
      return growingPage(subject.target, climb, true);
    },
    stopped: () => {
      const { ladder } = climb;
      const html = ladder.length > 0 ? growingPage(subject.target, climb, false) : undefined;
      climb = { planned: [], ladder: [] }; // for another try
      return html;
    },
  });
  const [first] = answer?.bisections ?? [];
  if (first) context.notifications.answer(`${first.target}: ${verdictWords(first.verdict)}.`, ...actionsFor(first));
}

/** What one does next; the page has the commands for either side. */
function actionsFor(bisection: Bisection): Action[] {
  const place = guiltyPlace(bisection);
  const range = bisection.guilty?.range;
  return place && range ? [{ title: t("Go to {0}", placeWords(place)), run: () => revealPlace({ path: place.path, range }, true) }] : [];
}

interface Ladder extends vscode.QuickPickItem {
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What is climbed; undefined where the user has had enough. */
async function askForLadder(context: PagesContext): Promise<Readonly<Record<string, unknown>> | undefined> {
  const ladders: Ladder[] = [
    { label: t("The usual ladder"), detail: t("Dynamo, AOTAutograd, decompositions, Inductor, transfers, the accelerator; then passes and operations of the guilty one"), options: {} },
    { label: t("The usual ladder, without Inductor's passes"), detail: t("Quicker: passes and lowerings are not searched"), options: { passes: false } },
    { label: t("Choose backends…") },
  ];
  const chosen = await vscode.window.showQuickPick(ladders, { title: t("Bisect"), placeHolder: t("What is compared with eager") });
  if (!chosen || chosen.options) return chosen?.options;
  const names = ["dynamo", "aot_eager", "aot_eager_decomp_partition", "inductor", ...(await accelerators(context))];
  const items = names.map((label) => ({ label }));
  const picked = await vscode.window.showQuickPick(items, { title: t("Bisect"), placeHolder: t("Climbed in this order"), canPickMany: true });
  return picked && picked.length > 0 ? { backends: picked.map(({ label }) => label) } : undefined;
}

async function transfers(context: PagesContext, pages: OrderPages, given: unknown, name: unknown): Promise<void> {
  const subject = await targetOf(context, t("Show Transfers"), given, name);
  if (!subject) return;
  const title = t("Logging transfers of {0}", subject.target);
  const logOf = async (path: string | undefined): Promise<string> =>
    path === undefined ? "" : readFile(path, "utf8").catch((error: unknown) => { context.log.warn(messageOf(error)); return ""; });
  await pages.carryOut<Outcome & { readonly transfers: readonly TransfersOf[] }>({
    key: `${subject.uri}\n${t("Transfers of {0}", subject.target)}`,
    title: t("Transfers of {0}", subject.target),
    order: { title, command: "inductorDebug.transfers", argument: { ...subject } },
    content: async (made) => {
      const [first] = made.transfers;
      if (!first) return { nothing: reasonOf(made) };
      const path = made.artifacts.find((artifact) => artifact.path.endsWith(".jsonl"))?.path;
      const log = await logOf(path);
      if (log === "" && first.summary.transfers > 0) {
        context.notifications.answer(t("Only the summary is shown: the log was not kept ({0}).", made.notes[0] ?? t("artifacts are switched off")));
      }
      return { html: transfersPage(first, transfersIn(log), path) };
    },
  });
}
