/**
 * What a command is about: a target of a file, or a finding. It comes from a row of the view "Targets", from a lens or an action of the
 * daemon's (`{uri, …}`, or the URI alone), or, from the palette, from the editor and the user's choice.
 */

import * as vscode from "vscode";

import { analysedUri, isNotebook, lineWords } from "../common/places.js";
import { dataOf, readyTargets, ruleNameOf } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import type { Subject } from "../server/protocol.js";
import { SessionState } from "../server/state.js";

const { t } = vscode.l10n;

/** A finding that is on show. */
export interface FindingSubject {
  readonly uri: string;
  readonly fingerprint: string;
  readonly target: string;
  readonly rule: string;
}

/** The target that is meant: the one given, the only one of the file, or the one that the user picks. The user learns why there is none. */
export async function targetOf(context: Context, title: string, given: unknown, name?: unknown): Promise<Subject | undefined> {
  const page = given === undefined ? context.activePages.about : undefined; // of which the palette's commands are, while it has the focus
  const said: Said = { ...page, ...saidIn(given), ...(typeof name === "string" ? { target: name } : {}) };
  const document = await documentOf(context, title, said.uri);
  if (!document) return undefined;
  const uri = document.uri.toString();
  if (said.target !== undefined && said.target !== "") return { uri, target: said.target };
  await context.session.start();
  if (context.session.state !== SessionState.Running) {
    context.notifications.answer(t("{0}: the daemon is not running.", title));
    return undefined;
  }
  if (document.isDirty) await document.save();
  const analysis = context.analyses.get(document.uri);
  const names = [...new Set(readyTargets(analysis).map((target) => target.name))];
  if (names.length === 0) {
    const [unready] = analysis?.targets ?? [];
    context.notifications.answer(
      unready ? t("{0} was not checked: {1}", unready.name, unready.why ?? "") : t("There is nothing to compile in this file, or its check is not through yet."),
      ...(unready ? [{ title: t("Set Example Inputs"), run: () => vscode.commands.executeCommand("inductorDebug.setExampleInputs", uri, unready.name) }] : []),
    );
    return undefined;
  }
  const target = names.length === 1 ? names[0] : await vscode.window.showQuickPick(names, { title, placeHolder: t("The target") });
  return target === undefined ? undefined : { uri, target };
}

/** The file that is meant, saved. */
export async function fileOf(context: Context, title: string, given: unknown): Promise<vscode.Uri | undefined> {
  const document = await documentOf(context, title, saidIn(given).uri);
  if (document?.isDirty) await document.save();
  return document?.uri;
}

/** The finding that is meant: the one given, the only one at the cursor, or the one that the user picks. */
export async function findingOf(context: Context, title: string, given: unknown): Promise<FindingSubject | undefined> {
  const said = saidIn(given);
  if (said.uri !== undefined && said.fingerprint !== undefined) {
    const { uri, fingerprint, target = "", rule = "" } = said;
    return { uri, fingerprint, target, rule };
  }
  const document = await documentOf(context, title, said.uri);
  if (!document) return undefined;
  const all = reproducible(context, document.uri);
  if (all.length === 0) {
    context.notifications.answer(t("There is nothing to reproduce in this file, or its check is not through yet."));
    return undefined;
  }
  const cursor = said.uri === undefined ? vscode.window.activeTextEditor?.selection.active : undefined;
  const edited = vscode.window.activeTextEditor?.document.uri.toString();
  const here = cursor ? all.filter((finding) => finding.range.contains(cursor) && context.analyses.shownBy(finding, document.uri).toString() === edited) : [];
  const [first] = here;
  if (here.length === 1 && first) return subjectFor(document.uri, first);
  const items = (here.length > 0 ? here : all).map((finding) => ({
    label: ruleNameOf(finding),
    description: lineWords(context.analyses.shownBy(finding, document.uri), finding.range.start.line),
    detail: finding.message.split("\n", 1)[0] ?? "",
    finding,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder: t("The finding"), matchOnDescription: true, matchOnDetail: true });
  return chosen && subjectFor(document.uri, chosen.finding);
}

/** The finding with a fingerprint, as it stands now; undefined where it is gone. */
export function findingWith(context: Context, uri: vscode.Uri, fingerprint: string): vscode.Diagnostic | undefined {
  return context.analyses.findings(uri).find((finding) => dataOf(finding).fingerprint === fingerprint);
}

/** The finding at the cursor of the active editor that belongs to a target; undefined where there is none, or more than one. */
export function findingAtCursor(context: Context, { uri, target }: Subject): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.toString() !== uri) return undefined;
  const here = reproducible(context, editor.document.uri).filter(
    (finding) => finding.range.contains(editor.selection.active) && dataOf(finding).target === target,
  );
  return here.length === 1 && here[0] ? dataOf(here[0]).fingerprint : undefined;
}

/** Whether something can be cut out for a finding. */
export function isReproducible(finding: vscode.Diagnostic): boolean {
  return dataOf(finding).reproducible === true;
}

function reproducible(context: Context, uri: vscode.Uri): vscode.Diagnostic[] {
  return context.analyses
    .findings(uri)
    .filter(isReproducible)
    .sort((left, right) => left.range.start.line - right.range.start.line);
}

function subjectFor(uri: vscode.Uri, finding: vscode.Diagnostic): FindingSubject {
  const { fingerprint = "", target = "" } = dataOf(finding);
  return { uri: uri.toString(), fingerprint, target, rule: ruleNameOf(finding) };
}

interface Said {
  readonly uri?: string;
  readonly target?: string;
  readonly fingerprint?: string;
  readonly rule?: string;
}

/** What a command was given: the URI of a file, a row of the view, or an object of the daemon's. */
function saidIn(given: unknown): Said {
  if (typeof given === "string") return { uri: given };
  if (given instanceof vscode.Uri) return { uri: given.toString() };
  if (typeof given !== "object" || given === null) return {};
  if ("analysis" in given) return ofRow(given as Row);
  const texts = Object.entries(given).filter(([, value]) => typeof value === "string" && value !== "");
  return Object.fromEntries(texts);
}

/** As much of a row of the view (`tree.ts: Node`) as matters here. */
interface Row {
  readonly analysis: { readonly uri: vscode.Uri };
  readonly target?: { readonly name: string };
  readonly finding?: vscode.Diagnostic;
}

function ofRow({ analysis, target, finding }: Row): Said {
  if (finding) return subjectFor(analysis.uri, finding);
  return { uri: analysis.uri.toString(), ...(target ? { target: target.name } : {}) };
}

/** A document that the daemon runs: a file, or what was run of an open notebook, which nobody has to save for that. */
interface Runnable {
  readonly uri: vscode.Uri;
  readonly isDirty: boolean;
  save(): Thenable<boolean>;
}

async function documentOf(context: Context, title: string, given: string | undefined): Promise<Runnable | undefined> {
  const shown = given ?? context.activePages.about?.uri;
  const about = shown === undefined ? vscode.window.activeTextEditor?.document.uri : vscode.Uri.parse(shown);
  const uri = about && analysedUri(about);
  if (uri && isNotebook(uri) && context.analyses.get(uri)) return { uri, isDirty: false, save: () => Promise.resolve(true) };
  const opened = uri && vscode.workspace.openTextDocument(uri);
  const document = await Promise.resolve(opened).catch(() => undefined); // the file is gone
  if (document?.languageId === "python" && !document.isUntitled && document.uri.scheme === "file") return document;
  context.notifications.answer(t("{0}: open the Python file first, and save it.", title));
  return undefined;
}
