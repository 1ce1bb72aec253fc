/**
 * The command "Create a Bug Report": the daemon gathers; the user sees every file that goes in, what is missing and what was taken out; only
 * then it is asked where to, and written.
 */

import { basename, dirname, join } from "node:path";
import * as vscode from "vscode";

import type { GatheredBugReport, WrittenBugReport } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../services/context.js";
import type { Subject } from "../server/protocol.js";
import { carryOut, messageOf } from "../orders/orders.js";
import { findingAtCursor, findingOf, targetOf } from "../orders/subjects.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;

const LONGEST_TITLE = 60;

export function activate(context: Context): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.createBugReport", (given?: unknown, name?: unknown) => create(context, given, name)),
  );
}

async function create(context: Context, given: unknown, name: unknown): Promise<void> {
  const subject = await subjectOf(context, given, name);
  const bisect = subject && (await askForBisection());
  if (!subject || bisect === undefined) return;
  const gathered = await carryOut(context, {
    title: t("Gathering a bug report on {0}", subject.target === "" ? basename(vscode.Uri.parse(subject.uri).fsPath) : subject.target),
    command: "inductorDebug.bugReport",
    request: { ...subject, bisect },
  });
  if (!gathered || !("body" in gathered) || !(await agreed(gathered))) return;
  await write(context, vscode.Uri.parse(subject.uri), gathered);
}

/** A row of a finding is about that finding; otherwise it is the target, and the finding at the cursor if there is one. */
async function subjectOf(context: Context, given: unknown, name: unknown): Promise<(Subject & { fingerprint?: string }) | undefined> {
  if (typeof given === "object" && given !== null && ("finding" in given || "fingerprint" in given)) {
    const finding = await findingOf(context, t("Create a Bug Report"), given);
    return finding && { uri: finding.uri, target: finding.target, fingerprint: finding.fingerprint };
  }
  const subject = await targetOf(context, t("Create a Bug Report"), given, name);
  const fingerprint = subject && findingAtCursor(context, subject);
  return subject && { ...subject, ...(fingerprint === undefined ? {} : { fingerprint }) };
}

async function askForBisection(): Promise<boolean | undefined> {
  const choices = [
    { label: t("Everything"), detail: t("With a bisection, which can take minutes where a layer goes wrong"), bisect: true },
    { label: t("Without the bisection"), detail: t("Reproducer, errors, graphs, kernels, transfers, versions"), bisect: false },
  ];
  return (await vscode.window.showQuickPick(choices, { title: t("Create a Bug Report"), placeHolder: t("What goes in; you see the files before anything is written") }))?.bisect;
}

interface Row extends vscode.QuickPickItem {
  readonly save?: boolean;
}

/** Shows what is in the report; true where the user wants it written. */
function agreed(gathered: GatheredBugReport): Promise<boolean> {
  const picker = vscode.window.createQuickPick<Row>();
  picker.title = t("Bug report: {0}", gathered.title.length > LONGEST_TITLE ? `${gathered.title.slice(0, LONGEST_TITLE)}…` : gathered.title);
  picker.placeholder = t("Nothing is written yet. These files go into the report:");
  picker.items = rowsOf(gathered);
  picker.ignoreFocusOut = true;
  picker.matchOnDescription = true;
  return new Promise((resolve) => {
    picker.onDidAccept(() => {
      if (picker.activeItems[0]?.save !== true) return; // the list is there to be read
      resolve(true);
      picker.hide();
    });
    picker.onDidHide(() => {
      resolve(false);
      picker.dispose();
    });
    picker.show();
  });
}

/** The list: what to do, the files, what is missing, what was taken out. */
export function rowsOf({ files, missing, redacted }: Pick<GatheredBugReport, "files" | "missing" | "redacted">): Row[] {
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  const taken = Object.entries(redacted).sort();
  const separator = (label: string): Row => ({ label, kind: vscode.QuickPickItemKind.Separator });
  return [
    { label: `$(save) ${t("Save…")}`, description: t("{0}, {1} before they are packed", words.files(files.length), words.bytes(total)), alwaysShow: true, save: true },
    separator(t("files")),
    ...files.map(({ name, bytes, about }): Row => ({ label: `$(file) ${name}`, description: [words.bytes(bytes), about].filter((part) => part !== "").join(" · ") })),
    ...(missing.length > 0 ? [separator(t("not there")), ...missing.map((what): Row => ({ label: `$(circle-slash) ${what}` }))] : []),
    ...(taken.length > 0 ? [separator(t("taken out of the texts")), ...taken.map(([kind, count]): Row => ({ label: `$(eye-closed) ${kind}`, description: `${count} ×` }))] : []),
  ];
}

/** Asks where to, again if it cannot be written there. */
async function write(context: Context, source: vscode.Uri, gathered: GatheredBugReport): Promise<void> {
  const folder = vscode.workspace.getWorkspaceFolder(source)?.uri.fsPath ?? dirname(source.fsPath);
  const name = `bug-report-${basename(source.fsPath).replace(/\.py$/u, "")}.zip`;
  const chosen = await vscode.window.showSaveDialog({
    title: t("Save the Bug Report"), defaultUri: vscode.Uri.file(join(folder, name)), filters: { [t("Archives")]: ["zip"] },
  });
  if (!chosen) return;
  try {
    const written = await context.session.execute("inductorDebug.bugReport", { id: gathered.id, write: chosen.fsPath });
    if (!written || !("path" in written)) throw new Error(t("the daemon is not running"));
    tellWritten(context, written, gathered);
  } catch (error) {
    const again = { title: t("Save Elsewhere"), run: () => write(context, source, gathered) };
    context.notifications.answer(t("The bug report could not be written: {0}", messageOf(error)), again);
  }
}

function tellWritten(context: Context, { path, bytes }: WrittenBugReport, gathered: GatheredBugReport): void {
  const file = vscode.Uri.file(path);
  const inside = vscode.workspace.getWorkspaceFolder(file) !== undefined;
  context.notifications.answer(
    t("Written: {0} ({1})", path, words.bytes(bytes)),
    { title: t("Reveal"), run: () => vscode.commands.executeCommand(inside ? "revealInExplorer" : "revealFileInOS", file) },
    { title: t("Copy Issue Text"), run: () => vscode.env.clipboard.writeText(gathered.body) },
  );
}
