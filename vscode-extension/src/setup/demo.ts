/**
 * The guided demo: the steps of the walkthrough of that name. They are those of `inductor-debug demo`, whose data comes with the daemon; each
 * has a command of this extension carried out on a copy of the demo's model.
 */

import { copyFile, mkdir, readFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as vscode from "vscode";

import { dataOf, isBusy, ruleNameOf } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import { SessionState } from "../server/state.js";

const { t } = vscode.l10n;
const DATA = join("bundled", "daemon", "inductor_debug", "cli", "demo");
const WALKTHROUGH = "inductor-debug.inductor-debug#demo";
const MODEL = "model.py";

interface Step {
  readonly id: string;
  readonly editor: {
    readonly command: string;
    readonly options: Readonly<Record<string, unknown>>;
    /** The rule of the finding that it is about, where it is about one; "" for whichever comes first. */
    readonly finding: string | null;
  };
}

interface Demo {
  /** By the name that each is to have: the name that it comes with. */
  readonly files: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

export function activate(context: Context): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.showDemo", () => vscode.commands.executeCommand("workbench.action.openWalkthrough", WALKTHROUGH, false)),
    vscode.commands.registerCommand("inductorDebug.demoStep", (id: unknown) => carryOut(context, id)),
  );
}

async function carryOut(context: Context, id: unknown): Promise<void> {
  const demo = JSON.parse(await readFile(context.extension.asAbsolutePath(join(DATA, "steps.json")), "utf8")) as Demo;
  const step = demo.steps.find((one) => one.id === id);
  if (!step) return;
  const uri = await modelOf(context, demo, step === demo.steps[0]);
  const editor = await shown(uri);
  const { command, options, finding } = step.editor;
  const checking = vscode.window.setStatusBarMessage(t("$(sync~spin) Checking the demo's model"));
  await checked(context, uri);
  checking.dispose();
  void vscode.commands.executeCommand("setContext", `inductorDebug.demo.${step.id}`, true); // completes the step of the walkthrough
  if (finding === null) {
    await vscode.commands.executeCommand(command, { uri: uri.toString(), ...options });
    return;
  }
  const found = context.analyses.findings(uri).find((one) => finding === "" || ruleNameOf(one) === finding);
  if (!found) {
    context.notifications.answer(t("There is no such finding in the demo's model now: take the steps before this one first."));
    return;
  }
  editor.selection = new vscode.Selection(found.range.start, found.range.start);
  editor.revealRange(found.range);
  const { fingerprint, target } = dataOf(found);
  await vscode.commands.executeCommand(command, { uri: uri.toString(), fingerprint, target, rule: ruleNameOf(found), ...options });
}

/** The model in a folder that belongs to the demo alone, as the first step wants it: as it was before anything was mended. */
async function modelOf({ extension }: Context, { files }: Demo, anew: boolean): Promise<vscode.Uri> {
  const folder = join(extension.globalStorageUri.fsPath, "demo");
  const uri = vscode.Uri.file(join(folder, MODEL));
  const open = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  if (open?.isDirty) await open.save();
  if (anew || !existsSync(uri.fsPath)) {
    await mkdir(folder, { recursive: true });
    for (const [name, source] of Object.entries(files)) await copyFile(extension.asAbsolutePath(join(DATA, source)), join(folder, name));
  }
  return uri;
}

/** Its editor: where it is already, or beside the walkthrough. */
async function shown(uri: vscode.Uri): Promise<vscode.TextEditor> {
  const there = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  return vscode.window.showTextDocument(uri, { viewColumn: there?.viewColumn ?? vscode.ViewColumn.Beside });
}

/** Until the daemon has looked at the model, which nothing can be asked about before; or has stopped. */
async function checked({ analyses, session }: Context, uri: vscode.Uri): Promise<void> {
  await session.start();
  if (session.state === SessionState.Running && !analyses.get(uri)) await session.execute("inductorDebug.check", { uri: uri.toString() }); // also where only commands check
  const through = (): boolean => {
    const analysis = analyses.get(uri);
    return session.state !== SessionState.Running || (analysis !== undefined && !isBusy(analysis));
  };
  if (through()) return;
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!through()) return;
      for (const subscription of subscriptions) subscription.dispose();
      resolve();
    };
    const subscriptions = [analyses.onDidChange(look), session.onDidChangeState(look)];
  });
}
