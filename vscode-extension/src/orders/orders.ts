/**
 * Orders that take their time: a bar with what the daemon says and a Cancel button, and words for whatever goes wrong. What is cancelled is not
 * an error: nobody is told what they have just done themselves.
 */

import * as vscode from "vscode";

import type { OrderOutcome } from "../../../shared_schema/generated/wire.js";
import type { PageState } from "../../webview/shared/state.js";
import type { Context } from "../services/context.js";
import type { PieceListener } from "../server/connection.js";
import type { AnswerOf, CommandName, RequestOf } from "../server/protocol.js";
import { SessionState } from "../server/state.js";

const { t } = vscode.l10n;

export interface Order<C extends CommandName> {
  /** Stands above the bar, and begins the sentence where it fails. */
  readonly title: string;
  /** The daemon's command. */
  readonly command: C;
  readonly request: RequestOf<C>;
  /** Told of partial results, of commands that have some. */
  readonly piece?: PieceListener;
}

/** Has the daemon carry out an order. Undefined where nothing came of it: it was cancelled, or the user has been told why. */
export async function carryOut<C extends CommandName>(context: Context, { title, command, request, piece }: Order<C>): Promise<AnswerOf<C> | undefined> {
  await context.session.start(); // asked for while the daemon starts, it waits for that
  if (!isRunning(context)) {
    context.notifications.answer(t("{0}: the daemon is not running.", title), restart(context));
    return undefined;
  }
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  try {
    return await vscode.window.withProgress(options, (progress, token) => {
      let done = 0;
      return context.session.perform(command, request, token, (message, percentage = done) => {
        progress.report({ message, increment: Math.max(0, percentage - done) });
        done = Math.max(done, percentage);
      }, piece);
    });
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      context.log.info(`${title}: cancelled`);
      return undefined;
    }
    const why = isRunning(context) ? messageOf(error) : t("the daemon ended.");
    context.notifications.answer(t("{0}: {1}", title, why), { title: t("Show Output"), run: () => { context.log.show(true); } });
    return undefined;
  }
}

/** The same in a page, which tells how far it is, why it failed, and offers what one can do. */
export async function carryOutIn<C extends CommandName>(
  { session, log }: Context, tell: (state: PageState) => void, { title: what, command, request, piece }: Order<C>, token: vscode.CancellationToken,
): Promise<AnswerOf<C> | undefined> {
  const since = Date.now();
  tell({ kind: "loading", what, since });
  try {
    await session.start();
    if (session.state !== SessionState.Running) throw new Error(t("The daemon is not running."));
    return await session.perform(command, request, token, (step, percentage) => { tell({ kind: "loading", what, step, percentage, since }); }, piece);
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      log.info(`${what}: cancelled`);
      tell({ kind: "cancelled", what });
    } else {
      log.error(`${what}: ${messageOf(error)}`);
      tell({ kind: "failed", what, why: messageOf(error) });
    }
    return undefined;
  }
}

/** Why an order that was carried out brought nothing. */
export function reasonOf({ reason, notes }: OrderOutcome): string {
  return reason ?? notes[0] ?? t("the run brought nothing");
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function isRunning({ session }: Context): boolean {
  return session.state === SessionState.Running;
}

function restart(context: Context): { title: string; run: () => unknown } {
  return { title: t("Restart"), run: () => context.session.restartByUser() };
}
