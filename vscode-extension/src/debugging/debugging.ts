/**
 * The commands "Debug the Compiled Target" and "Run to This Expression": the daemon writes the captured graphs and Inductor's code as files,
 * and VS Code's Python debugger runs the target through them. Where there is no such debugger, it is said how to do without.
 */

import { basename } from "node:path";
import * as vscode from "vscode";

import type { DebugAnswer, Location } from "../../../shared_schema/generated/wire.js";
import { carryOut, reasonOf } from "../orders/orders.js";
import { targetOf } from "../orders/subjects.js";
import type { Context } from "../services/context.js";

const { t } = vscode.l10n;
const DEBUGGER = "ms-python.debugpy";

export function activate(context: Context): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.debugTarget", (given?: unknown, name?: unknown) => debug(context, given, name, undefined)),
    vscode.commands.registerCommand("inductorDebug.runToExpression", (given?: unknown, name?: unknown) =>
      debug(context, given, name, vscode.window.activeTextEditor?.selection.active.line)),
  );
}

async function debug(context: Context, given: unknown, name: unknown, line: number | undefined): Promise<void> {
  const title = line === undefined ? t("Debug the Compiled Target") : t("Run to This Expression");
  const subject = await targetOf(context, title, given, name);
  if (!subject) return;
  const order = { title: t("Writing what {0} can be debugged in", subject.target), command: "inductorDebug.debug", request: { ...subject, line: line ?? null } } as const;
  const answer = await carryOut(context, order);
  if (!answer) return;
  if (!answer.configuration) {
    context.notifications.answer(t("{0}: {1}", title, reasonOf(answer)));
    return;
  }
  for (const note of answer.notes) context.log.warn(note);
  stopAt(answer.stops ?? []);
  if (vscode.extensions.getExtension(DEBUGGER)) await start(answer);
  else await withoutDebugger(context, answer);
}

/** Breakpoints where the expression is computed; those that are there stay. */
function stopAt(stops: readonly Location[]): void {
  const known = new Set(vscode.debug.breakpoints.map((point) => (point instanceof vscode.SourceBreakpoint ? keyOf(point.location.uri, point.location.range.start.line) : "")));
  const wanted = stops.map(({ path, range }) => new vscode.Location(vscode.Uri.file(path), new vscode.Position(range.start.line, 0)));
  vscode.debug.addBreakpoints(wanted.filter(({ uri, range }) => !known.has(keyOf(uri, range.start.line))).map((place) => new vscode.SourceBreakpoint(place)));
}

function keyOf(uri: vscode.Uri, line: number): string {
  return `${uri.toString()}:${line}`;
}

async function start({ configuration, folder = "" }: DebugAnswer): Promise<void> {
  const workspace = vscode.workspace.workspaceFolders?.find(({ uri }) => uri.fsPath === folder);
  // Where another folder is open than the one that the configuration is for, its places are made whole.
  const text = JSON.stringify(configuration);
  const whole = JSON.parse(workspace ? text : text.replaceAll("${workspaceFolder}", folder.replaceAll("\\", "/"))) as vscode.DebugConfiguration;
  await vscode.debug.startDebugging(workspace, whole);
}

async function withoutDebugger({ notifications }: Context, { script = "", stops = [] }: DebugAnswer): Promise<void> {
  const [stop] = stops;
  const shown = stop ? { file: stop.path, line: stop.range.start.line } : { file: script, line: 0 };
  const selection = new vscode.Range(shown.line, 0, shown.line, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(shown.file), { viewColumn: vscode.ViewColumn.Beside, preview: true, selection });
  notifications.answer(
    t("The files are written, but the extension Python Debugger ({0}) is not installed. In a terminal: python -m pdb {1}", DEBUGGER, basename(script)),
    { title: t("Show Python Debugger"), run: () => vscode.commands.executeCommand("workbench.extensions.search", DEBUGGER) },
  );
}
