/**
 * The command "Set Example Inputs for a Class": asks for the expressions and has the daemon write the directive above the class, so that it
 * becomes a target. Also offered by the daemon's code lens, with the document and the class as arguments. Nothing here reads Python.
 */

import * as vscode from "vscode";

import type { DirectiveDraft, DirectiveRequest, Inferred, OutlineEntry, OutlineRequest } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../services/context.js";
import { messageOf } from "../orders/orders.js";
import { SessionState } from "../server/state.js";

const { t } = vscode.l10n;
const FIRST_GUESS = "torch.randn(8, 64)";

export function activate(context: Context): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.setExampleInputs", (uri?: unknown, name?: unknown, inputs?: unknown) =>
      setExampleInputs(context, typeof uri === "string" ? uri : undefined, typeof name === "string" ? name : undefined, typeof inputs === "string" && inputs !== "" ? inputs : undefined),
    ),
  );
}

/** What a directive shall say; the daemon tells what is wrong with it, and the edits that would write it. */
type Wish = Pick<DirectiveRequest, "inputs" | "init">;

/** `wanted` are inputs to begin with, whatever the class has now. */
async function setExampleInputs(context: Context, uri: string | undefined, name: string | undefined, wanted: string | undefined): Promise<void> {
  const active = vscode.window.activeTextEditor?.document;
  const document = uri === undefined ? active : await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  if (document?.languageId !== "python") {
    context.notifications.answer(t("Open the Python file with the class first."));
    return;
  }
  await context.session.start();
  if (context.session.state !== SessionState.Running) {
    sayNotRunning(context);
    return;
  }
  const chosen = await choose(context, document, name);
  if (chosen === undefined) return;
  const draft = (wish: Wish): Promise<DirectiveDraft | null | undefined> => ask(context, document, (about) => context.session.execute("inductorDebug.directive", { ...about, name: chosen, ...wish }));
  const there = await draft({});
  const inferred = { inputs: FIRST_GUESS, init: "", ...inferredFor(context, document, chosen) };
  const inputs = await askFor(t("What forward gets, as Python: one expression, or several with commas"), (value) => draft({ inputs: value }), {
    title: t("Example Inputs of {0}", chosen),
    value: wanted ?? there?.inputs ?? inferred.inputs,
  });
  if (inputs === undefined) return;
  const init = await askInit(chosen, there, inferred.init, (value) => draft({ inputs, init: value }));
  if (init === undefined) return;
  // The boxes stay open while the file is edited: the class may stand elsewhere by now, or have gone.
  const now = await draft({ inputs, init });
  if (now) await write(document, now);
  else if (now === undefined) sayNotRunning(context);
  else context.notifications.answer(t("There is no class {0} in this file any more.", chosen));
}

function sayNotRunning({ notifications }: Context): void {
  notifications.answer(t("{0}: the daemon is not running.", t("Set Example Inputs")));
}

/**
 * Asks about a document; its text goes along where the daemon is not told of such documents (cells of notebooks). Undefined where the daemon
 * cannot answer, because it has ended meanwhile.
 */
async function ask<T>({ log }: Context, document: vscode.TextDocument, question: (about: OutlineRequest) => Promise<T | undefined>): Promise<T | undefined> {
  const told = ["file", "untitled"].includes(document.uri.scheme) ? {} : { text: document.getText() };
  try {
    return await question({ uri: document.uri.toString(), ...told });
  } catch (error) {
    log.error(`example inputs: ${messageOf(error)}`);
    return undefined;
  }
}

/** What the daemon inferred for a class: a better start than our guess. */
function inferredFor({ analyses }: Context, { uri }: vscode.TextDocument, chosen: string): Inferred | undefined {
  const inferred = analyses.get(uri)?.targets.find((target) => target.name === chosen)?.inferred;
  return inferred?.inputs ? inferred : undefined;
}

/** The name of the class that is meant: `name` where it is one, else what the user picks; the user learns why there is none. */
async function choose(context: Context, document: vscode.TextDocument, name: string | undefined): Promise<string | undefined> {
  const outline = await ask(context, document, (about) => context.session.execute("inductorDebug.outline", about));
  const classes = (outline?.entries ?? []).filter(({ kind, nested = false }) => kind !== "function" && !nested);
  if (classes.length === 0) {
    const broken = outline?.parses === false;
    context.notifications.answer(broken ? t("The file has a syntax error: mend it first.") : t("There is no class in this file that could get example inputs."));
    return undefined;
  }
  return classes.some((candidate) => candidate.name === name) ? name : pick(classes, new Set(context.analyses.get(document.uri)?.targets.map((target) => target.name)));
}

/** The classes of a file, the one around the cursor first; a target is a module, whatever its bases are called. */
async function pick(classes: readonly OutlineEntry[], targets: ReadonlySet<string>): Promise<string | undefined> {
  const line = vscode.window.activeTextEditor?.selection.active.line ?? 0;
  const around = classes.findLast((candidate) => candidate.top <= line);
  if (classes.length === 1) return classes[0]?.name;
  const isModule = ({ kind, name }: OutlineEntry): boolean => kind === "module" || targets.has(name);
  const rank = (candidate: OutlineEntry): number => (candidate === around ? 0 : isModule(candidate) ? 1 : 2);
  const items = [...classes]
    .sort((left, right) => rank(left) - rank(right))
    .map((candidate) => ({
      label: candidate.name,
      description: candidate.has_directive === true ? t("has example inputs") : isModule(candidate) ? "" : t("not a module, it seems"),
    }));
  const chosen = await vscode.window.showQuickPick(items, { title: t("Set Example Inputs"), placeHolder: t("The class") });
  return chosen?.label;
}

type Drafting = (value: string) => Promise<DirectiveDraft | null | undefined>;

/** What the class is made with; not asked where it needs nothing. */
async function askInit(chosen: string, there: DirectiveDraft | null | undefined, inferred: string, drafting: Drafting): Promise<string | undefined> {
  const required = there?.required?.join(", ") ?? "";
  const init = there?.init ?? undefined;
  if (required === "" && init === undefined) return "";
  return askFor(t("What {0} is made with: {1}", chosen, required), drafting, {
    title: t("Arguments of {0}", chosen),
    value: init ?? inferred,
    placeHolder: required,
  });
}

function askFor(prompt: string, drafting: Drafting, options: vscode.InputBoxOptions): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    ...options,
    prompt,
    ignoreFocusOut: true,
    validateInput: async (value) => {
      if (value.trim() === "") return t("Write an expression, such as {0}", FIRST_GUESS);
      return (await drafting(value))?.problem;
    },
  });
}

async function write(document: vscode.TextDocument, { edits = [] }: DirectiveDraft): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  for (const { range: { start, end }, text } of edits) edit.replace(document.uri, new vscode.Range(start.line, start.character, end.line, end.character), text);
  await vscode.workspace.applyEdit(edit);
  await document.save();
}
