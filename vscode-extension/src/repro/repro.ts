/**
 * The command "Make a Minimal Reproducer": a finding in; a script that fails by itself, beside the source, out. The daemon searches, and runs
 * the script in a clean process before it answers; here it is shown, with what became of that.
 */

import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import * as vscode from "vscode";

import type { ReproAnswer } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../services/context.js";
import { carryOut, messageOf } from "../orders/orders.js";
import { Reproducers } from "./reproDocuments.js";
import { type FindingSubject, findingOf, findingWith } from "../orders/subjects.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;

export function activate(context: Context): void {
  const reproducers = new Reproducers(context);
  context.extension.subscriptions.push(
    reproducers,
    vscode.commands.registerCommand("inductorDebug.makeReproducer", (given?: unknown) => make(context, reproducers, given)),
    vscode.commands.registerCommand("inductorDebug.copyReproducer", (uri?: unknown) => reproducers.copy(uri)),
    vscode.commands.registerCommand("inductorDebug.openReproducer", (uri?: unknown) => reproducers.openUntitled(uri)),
    vscode.commands.registerCommand("inductorDebug.saveReproducer", (uri?: unknown) => reproducers.save(uri)),
  );
}

async function make(context: Context, reproducers: Reproducers, given: unknown): Promise<void> {
  const title = t("Make a Minimal Reproducer");
  const subject = await findingOf(context, title, given);
  if (!subject) return;
  const source = vscode.Uri.parse(subject.uri);
  const range = findingWith(context, source, subject.fingerprint)?.range;
  const { uri, target, fingerprint } = subject;
  const answer = await carryOut(context, {
    title: t("Reproducing {0} of {1}", subject.rule, basename(source.fsPath)),
    command: "inductorDebug.repro",
    request: { uri, target, fingerprint },
  });
  if (!answer) return;
  const text = await textOf(context, answer);
  if (text === undefined) {
    tellNone(context, answer);
    return;
  }
  const document = await reproducers.show({
    name: nameOf(subject), text, source, fingerprint, range, path: answer.script, beside: besideIn(answer, text), status: statusOf(answer),
  });
  context.notifications.answer(
    summaryOf(answer),
    { title: t("Save in repros/"), run: () => reproducers.save(document) },
    { title: t("Copy"), run: () => reproducers.copy(document) },
    { title: t("Open as Untitled"), run: () => reproducers.openUntitled(document) },
  );
}

/** The script; undefined where there is none or its file is gone. */
async function textOf(context: Context, { script, text }: ReproAnswer): Promise<string | undefined> {
  if (script === null) return text ?? undefined;
  try {
    return await readFile(script, "utf8");
  } catch (error) {
    context.log.warn(`the reproducer cannot be read: ${messageOf(error)}`);
    return undefined;
  }
}

function tellNone(context: Context, answer: ReproAnswer): void {
  const why = [answer.why, answer.reason ?? "", ...answer.notes].find((reason) => reason !== "") ?? t("the run brought nothing");
  const exported = answer.artifacts.find(({ path }) => path.endsWith(".pt2"))?.path;
  const reveal = { title: t("Reveal the Exported Graph"), run: () => vscode.commands.executeCommand("revealFileInOS", vscode.Uri.file(exported ?? "")) };
  context.notifications.answer(t("There is no reproducer: {0}", why), ...(exported === undefined ? [] : [reveal]));
}

/** `repro_model_dtype.py`, as the script's own header calls it. */
export function nameOf({ uri, rule }: Pick<FindingSubject, "uri" | "rule">): string {
  const stem = basename(vscode.Uri.parse(uri).fsPath).replace(/\.py$/u, "");
  const parts = ["repro", stem, rule].map((part) => part.replace(/\W+/gu, "_").replace(/^_+|_+$/gu, ""));
  return `${parts.filter((part) => part !== "").join("_")}.py`;
}

/** The files with values or graphs that the script reads: it looks for them by a mark in their names. */
export function besideIn({ artifacts }: Pick<ReproAnswer, "artifacts">, text: string): string[] {
  const marks = [...text.matchAll(/glob\("\*(\w+)\*\.(?:safetensors|pt2)"\)/gu)].map((match) => match[1] ?? "");
  return artifacts.map(({ path }) => path).filter((path) => /\.(?:safetensors|pt2)$/u.test(path) && marks.some((mark) => basename(path).includes(mark)));
}

/** `Verified: …`, or why it is not. */
export function statusOf({ status, verified, why }: Pick<ReproAnswer, "status" | "verified" | "why">): { verified: boolean; text: string } {
  if (verified) return { verified, text: t("Verified: it fails by itself in a clean process") };
  const reason = status === "cancelled" ? t("you cancelled; this is the smallest until then") : why;
  return { verified, text: t("Not verified: {0}", reason === "" ? t("it was not run") : reason) };
}

/** `Verified: … 8 operations became 1 (3 attempts, 2.4 s).` */
export function summaryOf(answer: ReproAnswer): string {
  const { nodes_before: before, nodes_after: after, attempts, seconds } = answer;
  const status = statusOf(answer).text;
  if (before === 0) return `${status}.`;
  const tried = attempts === 1 ? t("1 attempt") : t("{0} attempts", attempts);
  return `${status}. ${t("{0} became {1} ({2}, {3}).", words.operations(before), after, tried, words.seconds(seconds))}`;
}
