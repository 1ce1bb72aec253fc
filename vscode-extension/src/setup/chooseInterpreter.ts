/**
 * The command "Choose Interpreter": a pick of the Pythons on the machine where the models run, each with its version and its torch.
 * The choice is a setting of the workspace. Where torch is missing it can be installed, in a terminal, after a question. One that cannot run is
 * listed with the reason, and choosing it changes nothing.
 *
 * The same command is behind the buttons of messages, the language status, the walkthrough and the lightbulb.
 */

import { isAbsolute, join } from "node:path";
import * as vscode from "vscode";

import { ruleNameOf } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import { discover, placesHere } from "../interpreter/discovery.js";
import { isSupported, type Probe } from "../interpreter/probe.js";
import { knownToExtensions } from "../interpreter/rungs.js";
import { noTorch } from "../server/failures.js";
import { SECTION, substitute, targetFor } from "../common/settings.js";

const { t } = vscode.l10n;
const COMMAND = "inductorDebug.chooseInterpreter";
const INSTALL = "inductorDebug.installTorch";
const REQUIREMENT = "torch>=2.11,<2.16";
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
    context.analyses.onDidChange((uri) => { if (uri) void hear(context, uri); }),
    vscode.languages.registerCodeActionsProvider(SUITS.python, lightbulb, {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}

/** Where no worker could be started the user is told, with the choice beside it: in our words where torch is all that is missing. */
async function hear({ analyses, interpreters, session }: Context, uri: vscode.Uri): Promise<void> {
  if (analyses.get(uri)?.notification.state !== "failed") return;
  const failure = analyses.findings(uri).find((finding) => ruleNameOf(finding) === SUITS.rule);
  const { interpreter } = session;
  if (!failure || !interpreter) return;
  const { problem, torch } = await interpreters.probe(interpreter.path);
  session.cannotRunModels(problem === "" && torch === "" ? noTorch(interpreter) : failure.message);
}

async function choose(context: Context): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const chosen = await pick(context, scope);
  const path = chosen?.browse ? await browse() : chosen?.path;
  if (path === undefined) return;
  const probe = await context.interpreters.probe(path);
  const reason = whyNot(probe);
  if (reason !== undefined) {
    const another = { title: t("Choose Another"), run: () => vscode.commands.executeCommand(COMMAND) };
    context.notifications.answer(t("{0} cannot run your models: {1}.", path, reason), another);
    return;
  }
  if (probe.torch === "") context.session.knowsOfNoTorch(path); // the question below says it
  await vscode.workspace.getConfiguration(SECTION, scope ?? null).update("interpreter", path, targetFor(scope));
  if (probe.torch === "") await installTorch(context, path);
}

/** The pick is open at once and fills as interpreters answer; a path that is typed is one more choice. */
async function pick(context: Context, scope: vscode.Uri | undefined): Promise<Choice | undefined> {
  const box = vscode.window.createQuickPick<Choice>();
  box.title = t("Choose Interpreter");
  box.placeholder = t("The Python that runs your models; it needs torch. Pick one, or type its path");
  box.matchOnDescription = box.matchOnDetail = box.busy = true;
  const own = scope && vscode.workspace.getWorkspaceFolder(scope)?.uri;
  const current = context.interpreters.find(own);
  let found: Choice[] = [];
  const show = (): void => { box.items = [...typed(box.value, own), ...found, ...others()]; };
  const fill = async (): Promise<void> => {
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const paths = await discover(placesHere(folders, await knownToExtensions()));
    const now = (await current)?.path;
    const all = [...new Set([...(now === undefined ? [] : [now]), ...paths])];
    const choices = await Promise.all(all.map(async (path) => choiceOf(path, await context.interpreters.probe(path), path === now)));
    found = choices.sort(byUse);
    show();
  };
  show();
  context.interpreters.forgetProbes();
  void fill().finally(() => { box.busy = false; });
  return new Promise((resolve) => {
    box.onDidChangeValue(show);
    // Where Enter comes before the choice that was made of what was typed is the active one, nothing is selected.
    box.onDidAccept(() => { resolve(box.selectedItems[0] ?? typed(box.value, own)[0]); box.hide(); });
    box.onDidHide(() => { resolve(undefined); box.dispose(); });
    box.show();
  });
}

/** A Python in words: what it is, and whether a model could run in it. */
export function choiceOf(path: string, probe: Probe, current: boolean): Choice {
  const reason = whyNot(probe);
  const label = probe.python === "" ? t("Python") : `Python ${probe.python}`;
  const torch = probe.torch === "" ? t("no torch") : t("torch {0}", probe.torch);
  const icon = reason !== undefined ? "$(warning) " : current ? "$(check) " : "";
  return { label: `${icon}${label}`, description: reason ?? torch, detail: path, path, probe };
}

/** Why no model can run in it, whatever is installed there; undefined where one can. */
function whyNot({ problem, python }: Probe): string | undefined {
  if (problem !== "") return problem;
  return isSupported(python) ? undefined : t("it is Python {0}, and 3.10 or newer is needed", python);
}

/** Those that can run a model come first, those that never will last; the order of discovery stays otherwise. */
function byUse(left: Choice, right: Choice): number {
  const use = ({ probe }: Choice): number => (probe === undefined || whyNot(probe) !== undefined ? 0 : probe.torch === "" ? 1 : 2);
  return use(right) - use(left);
}

/** What has been typed, where it reads like a path. */
function typed(value: string, folder: vscode.Uri | undefined): Choice[] {
  const text = value.trim();
  if (!/[/\\~]/u.test(text)) return [];
  const path = substitute(text, folder);
  return [{ label: t("Use {0}", path), path: isAbsolute(path) || !folder ? path : join(folder.fsPath, path), alwaysShow: true }];
}

function others(): Choice[] {
  return [
    { label: "", kind: vscode.QuickPickItemKind.Separator },
    { label: t("Browse…"), description: t("another Python on this machine"), browse: true, alwaysShow: true },
  ];
}

async function browse(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({ title: t("Choose Interpreter"), canSelectMany: false });
  return files?.[0]?.fsPath;
}

/**
 * Installs torch as a task, if the user wants it: what pip says stays on the screen, whether or not it worked. When it has ended
 * everything is looked at anew.
 */
async function installTorch(context: Context, path: string | undefined): Promise<void> {
  if (path === undefined) {
    await vscode.commands.executeCommand(COMMAND);
    return;
  }
  const words = ["-m", "pip", "install", REQUIREMENT];
  const question = t("There is no torch in {0}. Install it there?", path);
  const detail = t("This runs in a terminal: {0}", [path, ...words].join(" "));
  if (!(await context.notifications.agrees(question, detail, t("Install")))) return;
  const execution = new vscode.ProcessExecution(path, words); // no shell, no quoting
  const task = new vscode.Task({ type: "inductor-debug" }, vscode.TaskScope.Workspace, t("Install torch"), "Inductor Debug", execution, []);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated, clear: true };
  const code = await ended(await vscode.tasks.executeTask(task));
  if (code === 0) {
    await context.session.restartByUser();
    return;
  }
  const again = { title: t("Try Again"), run: () => installTorch(context, path) };
  const another = { title: t("Choose Interpreter"), run: () => vscode.commands.executeCommand(COMMAND) };
  context.notifications.answer(t("torch could not be installed in {0}; the terminal says why.", path), again, another);
}

/** The exit code of a task; undefined where somebody closed its terminal. */
function ended(execution: vscode.TaskExecution): Promise<number | undefined> {
  return new Promise((resolve) => {
    const listener = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution !== execution) return;
      listener.dispose();
      resolve(event.exitCode);
    });
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
