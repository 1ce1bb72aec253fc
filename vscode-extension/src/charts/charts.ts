/** The commands "Show Memory Over the Run", "Show Roofline" and "Show Compile Time": what a run or compiling takes, drawn, beside the editor. A click leads to the expression. */

import * as vscode from "vscode";

import type { Context } from "../services/context.js";
import { targetOf } from "../orders/subjects.js";
import { ChartPanel, type ChartKind } from "./chartPanel.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.charts";

export function activate(context: Context): void {
  const open = new Map<string, ChartPanel>();
  const show = async (kind: ChartKind, title: string, given: unknown, name: unknown): Promise<void> => {
    const subject = await targetOf(context, title, given, name);
    if (!subject) return;
    const key = `${kind}\n${subject.uri}\n${subject.target}`;
    let tab = open.get(key);
    if (!tab) {
      const panel = vscode.window.createWebviewPanel(VIEW, title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableFindWidget: true });
      tab = new ChartPanel(context, panel, kind, subject, () => open.delete(key));
      open.set(key, tab);
    }
    tab.reveal();
    await tab.run();
  };
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.showMemory", (given?: unknown, name?: unknown) => show("memory", t("Show Memory Over the Run"), given, name)),
    vscode.commands.registerCommand("inductorDebug.showRoofline", (given?: unknown, name?: unknown) => show("roofline", t("Show Roofline"), given, name)),
    vscode.commands.registerCommand("inductorDebug.showCompileTime", (given?: unknown, name?: unknown) => show("compile-time", t("Show Compile Time"), given, name)),
    { dispose: () => { for (const tab of [...open.values()]) tab.dispose(); } },
  );
}
