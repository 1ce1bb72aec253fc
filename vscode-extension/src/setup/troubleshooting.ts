/**
 * The command "Copy Troubleshooting Information": what a helper needs to know first, as Markdown on the clipboard. The home folder
 * is shortened to `~`; nothing is sent anywhere.
 */

import { homedir, release } from "node:os";
import * as vscode from "vscode";

import type { Context } from "../services/context.js";
import { daemonSettings, SECTION } from "../common/settings.js";

const { t } = vscode.l10n;

export function activate(context: Context): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.copyTroubleshootingInfo", async () => {
      await vscode.env.clipboard.writeText(await describe(context));
      context.notifications.answer(t("The troubleshooting information is on the clipboard."));
    }),
  );
}

/** The text that is copied. */
export async function describe(context: Context): Promise<string> {
  const { session, interpreters, extension } = context;
  const folders = vscode.workspace.workspaceFolders ?? [];
  const version: unknown = (extension.extension.packageJSON as { version?: unknown }).version;
  const own = vscode.workspace.getConfiguration(SECTION);
  const lines = [
    "### Inductor Debug",
    `- extension ${String(version)}, ${vscode.env.appName} ${vscode.version}, ${process.platform} ${process.arch} ${release()}`,
    `- daemon ${session.versions.daemon || "unknown"}, state ${session.state}, process ${session.processId ?? "none"}`,
    `- import strategy ${own.get<string>("importStrategy", "")}, ${folders.length} workspace folders`,
    ...(session.failure ? [`- failure: ${session.failure.message}`] : []),
  ];
  for (const folder of folders.length > 0 ? folders : [undefined]) {
    const found = await interpreters.find(folder?.uri);
    lines.push("", `#### Interpreter${folder ? ` of ${folder.name}` : ""}`);
    for (const answer of interpreters.answers(folder?.uri)) {
      lines.push(`- ${answer.rung}: ${answer.path ?? "no answer"}${answer.problem ? ` (${answer.problem})` : ""}`);
    }
    if (found) {
      const { python, torch, problem } = await interpreters.probe(found.path);
      lines.push(`- python ${python || "unknown"}, torch ${torch || "none"}${problem ? `, problem: ${problem}` : ""}`);
    }
    lines.push("", "```json", JSON.stringify(daemonSettings(folder?.uri), undefined, 2), "```");
  }
  const states = context.analyses.all().map(({ notification }) => `- ${notification.state} ${notification.uri}`);
  if (states.length > 0) lines.push("", "#### Documents", ...states);
  if (session.tail.length > 0) lines.push("", "#### Last words of the daemon", "```", ...session.tail.slice(-20), "```");
  return lines.join("\n").replaceAll(homedir(), "~");
}
