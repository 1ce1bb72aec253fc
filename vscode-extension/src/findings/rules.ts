/**
 * The pages of the rules: opened from the name of a finding's rule, or by the command "Explain a Rule".
 *
 * The text is the daemon's own (`inductor-debug explain`), so that it cannot differ from what the command line says. It needs no
 * running server.
 */

import { execFile } from "node:child_process";
import * as vscode from "vscode";

import { ruleNameOf } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import { rulePage, ruleOf, RULE_SCHEME } from "../common/rulePage.js";

const { t } = vscode.l10n;
const PATIENCE = 20_000;

export function activate(context: Context): void {
  const provider: vscode.TextDocumentContentProvider = {
    provideTextDocumentContent: (page) => explain(context, [ruleOf(page)]),
  };
  context.extension.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(RULE_SCHEME, provider),
    vscode.commands.registerCommand("inductorDebug.explainRule", (rule?: unknown) =>
      explainRule(context, typeof rule === "string" ? rule : undefined),
    ),
  );
}

async function explainRule(context: Context, given: string | undefined): Promise<void> {
  const rule = given ?? (await pickRule(context));
  if (rule !== undefined) await vscode.commands.executeCommand("markdown.showPreview", rulePage(rule));
}

/** All rules; those found in the active editor first. */
async function pickRule(context: Context): Promise<string | undefined> {
  const overview = explain(context, []).then((text) => rulesIn(text));
  const uri = vscode.window.activeTextEditor?.document.uri;
  const here = new Set(uri ? context.analyses.findings(uri).map(ruleNameOf) : []);
  const items = overview.then((rules) =>
    rules
      .map(({ rule, summary }) => ({ label: rule, detail: summary, description: here.has(rule) ? t("found in this file") : "" }))
      .sort((left, right) => Number(here.has(right.label)) - Number(here.has(left.label))),
  );
  const chosen = await vscode.window.showQuickPick(items, {
    title: t("Explain a Rule"),
    placeHolder: t("The rule to explain"),
    matchOnDetail: true,
  });
  return chosen?.label;
}

/** The rules in the overview that `inductor-debug explain` prints: an id, two spaces or more, what it is about. */
export function rulesIn(overview: string): { rule: string; summary: string }[] {
  return overview.split("\n").flatMap((line) => {
    const match = /^([a-z][a-z0-9-]*) {2,}(\S.*)$/u.exec(line);
    return match?.[1] !== undefined && match[2] !== undefined ? [{ rule: match[1], summary: match[2] }] : [];
  });
}

async function explain(context: Context, words: readonly string[]): Promise<string> {
  const launch = await context.session.launch(["explain", ...words]);
  if (!launch) return t("No Python was found, so the page cannot be shown.");
  return new Promise((resolve) => {
    execFile(launch.command, launch.args, { cwd: launch.cwd, timeout: PATIENCE, windowsHide: true }, (error, output, complaints) => {
      if (error) context.log.warn(`explain ${words.join(" ")}: ${complaints.trim() || error.message}`);
      resolve(error ? t("There is no page: {0}", complaints.trim() || error.message) : output);
    });
  });
}
