/**
 * The command "Set Example Inputs for a Class": asks for the expressions and writes the directive above the class, so that it
 * becomes a target. Also offered by the daemon's code lens, with the document and the class as arguments.
 */

import * as vscode from "vscode";

import type { Inferred } from "../../shared_schema/generated/wire.js";
import type { Context } from "./context.js";
import { classesOf, directiveText, problemOf, type PythonClass } from "./pythonClasses.js";

const { t } = vscode.l10n;
const FIRST_GUESS = "torch.randn(8, 64)";

export function activate(context: Context): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.setExampleInputs", (uri?: unknown, name?: unknown, inputs?: unknown) =>
      setExampleInputs(context, typeof uri === "string" ? uri : undefined, typeof name === "string" ? name : undefined, typeof inputs === "string" && inputs !== "" ? inputs : undefined),
    ),
  );
}

/** `wanted` are inputs to begin with, whatever the class has now. */
async function setExampleInputs(context: Context, uri: string | undefined, name: string | undefined, wanted: string | undefined): Promise<void> {
  const active = vscode.window.activeTextEditor?.document;
  const document = uri === undefined ? active : await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  if (document?.languageId !== "python") {
    context.notifications.answer(t("Open the Python file with the class first."));
    return;
  }
  const classes = classesOf(document.getText());
  if (classes.length === 0) {
    context.notifications.answer(t("There is no class in this file that could get example inputs."));
    return;
  }
  const chosen = classes.find((candidate) => candidate.name === name) ?? (await pick(classes));
  if (!chosen) return;
  const inferred = { inputs: FIRST_GUESS, init: "", ...inferredFor(context, document, chosen) };
  const inputs = await ask(t("What forward gets, as Python: one expression, or several with commas"), {
    title: t("Example Inputs of {0}", chosen.name),
    value: wanted ?? chosen.directive?.inputs ?? inferred.inputs,
  });
  if (inputs === undefined) return;
  const init = await askInit(chosen, inferred.init);
  if (init === undefined) return;
  // The boxes stay open while the file is edited: the class may stand elsewhere by now, or have gone.
  const now = classesOf(document.getText()).find((candidate) => candidate.name === chosen.name);
  if (now) await write(document, now, inputs, init);
  else context.notifications.answer(t("There is no class {0} in this file any more.", chosen.name));
}

/** What the daemon inferred for a class: a better start than our guess. */
function inferredFor(context: Context, document: vscode.TextDocument, chosen: PythonClass): Inferred | undefined {
  const targets = context.analyses.get(document.uri)?.targets ?? [];
  const inferred = targets.find((target) => target.name === chosen.name)?.inferred;
  return inferred?.inputs ? inferred : undefined;
}

/** The classes of a file, the one around the cursor first. */
async function pick(classes: readonly PythonClass[]): Promise<PythonClass | undefined> {
  const line = vscode.window.activeTextEditor?.selection.active.line ?? 0;
  const around = classes.findLast((candidate) => candidate.top <= line);
  if (classes.length === 1) return classes[0];
  const rank = (candidate: PythonClass): number => (candidate === around ? 0 : candidate.isModule ? 1 : 2);
  const items = [...classes]
    .sort((left, right) => rank(left) - rank(right))
    .map((candidate) => ({
      label: candidate.name,
      description: candidate.directive ? t("has example inputs") : candidate.isModule ? "" : t("not a module, it seems"),
      candidate,
    }));
  const chosen = await vscode.window.showQuickPick(items, { title: t("Set Example Inputs"), placeHolder: t("The class") });
  return chosen?.candidate;
}

/** What the class is made with; not asked where it needs nothing. */
async function askInit(chosen: PythonClass, inferred: string): Promise<string | undefined> {
  if (chosen.required.length === 0 && chosen.directive?.init === undefined) return "";
  return ask(t("What {0} is made with: {1}", chosen.name, chosen.required.join(", ")), {
    title: t("Arguments of {0}", chosen.name),
    value: chosen.directive?.init ?? inferred,
    placeHolder: chosen.required.join(", "),
  });
}

function ask(prompt: string, options: vscode.InputBoxOptions): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    ...options,
    prompt,
    ignoreFocusOut: true,
    validateInput: (value) => {
      switch (problemOf(value)) {
        case "empty":
          return t("Write an expression, such as {0}", FIRST_GUESS);
        case "unbalanced":
          return t("A bracket is not closed, or closed twice.");
        case "lines":
          return t("It has to fit on one line.");
        case undefined:
          return undefined;
      }
    },
  });
}

async function write(document: vscode.TextDocument, chosen: PythonClass, inputs: string, init: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  const { directive } = chosen;
  const text = directiveText(chosen.indentation, inputs, init, directive?.others);
  if (directive) {
    const whole = document.lineAt(directive.line).range.union(document.lineAt(directive.lastLine).range);
    edit.replace(document.uri, whole, text);
  } else edit.insert(document.uri, new vscode.Position(chosen.top, 0), `${text}\n`);
  await vscode.workspace.applyEdit(edit);
  await document.save();
}
