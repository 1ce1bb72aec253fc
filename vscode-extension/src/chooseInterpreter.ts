/**
 * The command "Choose Interpreter": a pick of the Pythons on the machine where the models run, each with its version and its torch.
 * The choice is a setting of the workspace. Where torch is missing it can be installed, in a terminal, after a question.
 *
 * The same command is behind the buttons of messages, the language status, the walkthrough and the lightbulb.
 */

import * as vscode from "vscode";

import { ruleNameOf } from "./analyses.js";
import type { Context } from "./context.js";
import { discover, placesHere } from "./interpreter/discovery.js";
import { isSupported, type Probe } from "./interpreter/probe.js";
import { knownToExtensions } from "./interpreter/rungs.js";
import { SECTION, targetFor } from "./settings.js";

const { t } = vscode.l10n;
const COMMAND = "inductorDebug.chooseInterpreter";
const INSTALL = "inductorDebug.installTorch";
const REQUIREMENT = "torch>=2.11,<2.15";
const SUITS = { python: [{ language: "python", scheme: "file" }] as vscode.DocumentFilter[], rule: "environment" };

interface Choice extends vscode.QuickPickItem {
  readonly path?: string;
  readonly probe?: Probe;
  readonly browse?: boolean;
}

export function activate(context: Context): void {
  const lightbulb: vscode.CodeActionProvider = {
    provideCodeActions: (_document, _range, { diagnostics }) => actionsFor(diagnostics),
  };
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.chooseInterpreter", () => choose(context)),
    vscode.commands.registerCommand("inductorDebug.installTorch", (path?: unknown) =>
      installTorch(context, typeof path === "string" ? path : context.session.interpreter?.path),
    ),
    vscode.languages.registerCodeActionsProvider(SUITS.python, lightbulb, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}

async function choose(context: Context): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const chosen = await pick(context, scope);
  const path = chosen?.browse ? await browse() : chosen?.path;
  if (path === undefined) return;
  await vscode.workspace.getConfiguration(SECTION, scope ?? null).update("interpreter", path, targetFor(scope));
  const probe = await context.interpreters.probe(path);
  if (probe.problem === "" && probe.torch === "" && isSupported(probe.python)) await installTorch(context, path);
}

/** The pick is open at once and fills as interpreters answer. */
async function pick(context: Context, scope: vscode.Uri | undefined): Promise<Choice | undefined> {
  const box = vscode.window.createQuickPick<Choice>();
  box.title = t("Choose Interpreter");
  box.placeholder = t("The Python that runs your models; it needs torch");
  box.matchOnDescription = box.matchOnDetail = box.busy = true;
  const own = scope && vscode.workspace.getWorkspaceFolder(scope)?.uri;
  const current = context.interpreters.find(own);
  const fill = async (): Promise<void> => {
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const paths = await discover(placesHere(folders, await knownToExtensions()));
    const now = (await current)?.path;
    const choices = await Promise.all(
      [...new Set([...(now === undefined ? [] : [now]), ...paths])].map(async (path) => choiceOf(path, await context.interpreters.probe(path), path === now)),
    );
    box.items = [...choices.filter(({ probe }) => probe?.problem === "" || probe === undefined).sort(byUse), ...others()];
  };
  box.items = others();
  context.interpreters.forgetProbes();
  void fill().finally(() => { box.busy = false; });
  return new Promise((resolve) => {
    box.onDidAccept(() => { resolve(box.selectedItems[0]); box.hide(); });
    box.onDidHide(() => { resolve(undefined); box.dispose(); });
    box.show();
  });
}

/** A Python in words: what it is, and whether a model could run in it. */
export function choiceOf(path: string, probe: Probe, current: boolean): Choice {
  const label = `Python ${probe.python}`;
  const torch = probe.torch === "" ? t("no torch") : t("torch {0}", probe.torch);
  const use = isSupported(probe.python) ? torch : t("too old: 3.10 or newer is needed");
  return { label: current ? `$(check) ${label}` : label, description: use, detail: path, path, probe };
}

/** Those that can run a model come first; the order of discovery stays otherwise. */
function byUse(left: Choice, right: Choice): number {
  const use = ({ probe }: Choice): number => Number(probe?.torch !== "" && isSupported(probe?.python ?? ""));
  return use(right) - use(left);
}

function others(): Choice[] {
  return [
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: t("Browse…"), description: t("another Python on this machine"), browse: true },
  ];
}

async function browse(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({ title: t("Choose Interpreter"), canSelectMany: false });
  return files?.[0]?.fsPath;
}

/** Installs torch in a terminal that the user sees, if they want it; when it has ended everything is looked at anew. */
async function installTorch(context: Context, path: string | undefined): Promise<void> {
  if (path === undefined) {
    await vscode.commands.executeCommand(COMMAND);
    return;
  }
  const shellArgs = ["-m", "pip", "install", REQUIREMENT];
  const question = t("There is no torch in {0}. Install it there?", path);
  const detail = t("This runs in a terminal: {0}", [path, ...shellArgs].join(" "));
  if (!(await context.notifications.agrees(question, detail, t("Install")))) return;
  const terminal = vscode.window.createTerminal({ name: t("Install torch"), shellPath: path, shellArgs }); // no shell, no quoting
  terminal.show();
  const listener = vscode.window.onDidCloseTerminal((closed) => {
    if (closed !== terminal) return;
    listener.dispose();
    context.interpreters.forgetProbes();
    void context.session.restartByUser();
  });
}

/** What the lightbulb offers where a file could not be checked because of its Python. */
function actionsFor(diagnostics: readonly vscode.Diagnostic[]): vscode.CodeAction[] {
  const ours = diagnostics.filter((diagnostic) => diagnostic.source === "inductor-debug" && ruleNameOf(diagnostic) === SUITS.rule);
  if (ours.length === 0) return [];
  return [[t("Choose Interpreter"), COMMAND] as const, [t("Install torch"), INSTALL] as const].map(([title, command]) => {
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.command = { title, command };
    action.diagnostics = ours;
    return action;
  });
}
