/**
 * What a compiler has written (a folder of `TORCH_COMPILE_DEBUG`, a log of `TORCH_TRACE`, torch-spyre's files), read by the daemon
 * (`inductorDebug.importArtifacts`). Each compile is shown in a tab of its own; the user chooses where there are several.
 */

import * as vscode from "vscode";

import type { ImportAnswer } from "../../../shared_schema/generated/wire.js";
import { messageOf } from "../orders/orders.js";
import type { Subject } from "../server/protocol.js";
import type { Context } from "../services/context.js";
import { CaptureError, type GraphSource, MEDIA_TYPE } from "./captures.js";

const { t } = vscode.l10n;

/** The compile that is meant: of the folder given, or of one that the user picks. The user learns why there is none. */
export async function compileOf(context: Context, given: unknown): Promise<Subject | undefined> {
  const uri = given instanceof vscode.Uri ? given : await pickedFolder();
  if (!uri) return undefined;
  await context.session.start();
  const running = new vscode.CancellationTokenSource();
  try {
    const answer = await read(context, uri.toString(), running.token);
    const names = answer.compiles.map(({ name }) => name);
    const [first] = names;
    if (first === undefined) throw new CaptureError(answer.reason ?? t("Nothing of a compiler's was found."));
    const title = t("Open Compiler Artifacts");
    const target = names.length === 1 ? first : await vscode.window.showQuickPick(names, { title, placeHolder: t("The compile") });
    return target === undefined ? undefined : { uri: uri.toString(), target };
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) context.notifications.answer(messageOf(error));
    return undefined;
  } finally {
    running.dispose();
  }
}

/** The graphs of one compile, read anew whenever they are asked for. */
export function imported(context: Context, { uri, target }: Subject): GraphSource {
  return {
    what: t("Reading the graphs of {0}", target),
    depth: "compiled", // as deep as they are
    linked: false,
    capture: async (depth, _fresh, token, report) => {
      const answer = await read(context, uri, token, report);
      const found = answer.compiles.find(({ name }) => name === target);
      if (!found) throw new CaptureError(answer.reason ?? t("{0} is not there any more.", target));
      const files = found.artifacts.filter(({ media_type: type }) => type === MEDIA_TYPE).map(({ path }) => path);
      if (files.length === 0) throw new CaptureError(found.notes.at(-1) ?? t("The graphs could not be kept."));
      return { files, depth, version: 0, notes: [...found.notes, ...answer.unread] };
    },
  };
}

async function read(
  context: Context, uri: string, token: vscode.CancellationToken, report: (message: string, percentage: number | undefined) => void = () => undefined,
): Promise<ImportAnswer> {
  const answer = await context.session.perform("inductorDebug.importArtifacts", { uri }, token, report);
  if (!answer) throw new CaptureError(t("The daemon is not running."));
  return answer;
}

async function pickedFolder(): Promise<vscode.Uri | undefined> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const picked = await vscode.window.showOpenDialog({
    canSelectFiles: true,
    canSelectFolders: true,
    title: t("Open Compiler Artifacts"),
    ...(folder ? { defaultUri: folder.uri } : {}),
  });
  return picked?.[0];
}
