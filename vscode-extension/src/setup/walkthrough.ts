/**
 * The walkthrough: its steps are complete when the thing is done, so what is done is told to VS Code as context keys; and the
 * sample model that it opens.
 */

import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";

import type { Context } from "../services/context.js";

const SAMPLE = "sample_model.py";

export function activate(context: Context): void {
  const { session, analyses, extension } = context;
  const update = (): void => {
    const checked = analyses.all().filter(({ notification }) => notification.state === "done");
    if (session.versions.torch !== "") done("hasTorch");
    if (checked.some(({ targets }) => targets.some(({ stages }) => stages?.some(({ state }) => state === "done")))) done("hasChecked");
    if (checked.some(({ notification }) => notification.findings > 0)) done("hasFindings");
  };
  extension.subscriptions.push(
    session.onDidChangeState(update),
    analyses.onDidChange(update),
    vscode.commands.registerCommand("inductorDebug.openSample", () => openSample(extension)),
  );
}

function done(step: string): void {
  void vscode.commands.executeCommand("setContext", `inductorDebug.${step}`, true);
}

/** A copy that may be edited: the extension's own folder goes with the next update. */
async function openSample(extension: vscode.ExtensionContext): Promise<void> {
  const folder = extension.globalStorageUri.fsPath;
  const path = join(folder, SAMPLE);
  await mkdir(folder, { recursive: true });
  await copyFile(extension.asAbsolutePath(join("walkthrough", SAMPLE)), path);
  await vscode.window.showTextDocument(vscode.Uri.file(path), { viewColumn: vscode.ViewColumn.Beside });
}
