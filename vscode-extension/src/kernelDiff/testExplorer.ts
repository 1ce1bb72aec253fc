/**
 * The Test Explorer: an entry for each target of the files that were analysed. Running it compares the target; it fails where the backend
 * is wrong, with what is wrong as a message at the blamed line.
 */

import * as vscode from "vscode";

import { readyTargets } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import { chooseBackend, rememberedBackend, USUAL } from "./backends.js";
import { CompareError, type Comparison } from "../services/comparisons.js";
import { messageOf } from "../orders/orders.js";

const { t } = vscode.l10n;

export function activate(context: Context): void {
  const controller = vscode.tests.createTestController("inductorDebug", t("Inductor Debug"));
  const update = (uri: vscode.Uri | undefined): void => {
    if (uri) show(context, controller, uri);
    else controller.items.replace([]);
  };
  const profile = controller.createRunProfile(t("Compare"), vscode.TestRunProfileKind.Run, (request, token) => run(context, controller, request, token), true);
  profile.configureHandler = () => { void chooseBackend(context, t("Compare")); };
  context.extension.subscriptions.push(controller, profile, context.analyses.onDidChange(update));
}

/** The file's entry, with those of its targets as they are now. Files without any have none. */
function show({ analyses }: Context, controller: vscode.TestController, uri: vscode.Uri): void {
  const id = uri.toString();
  const targets = readyTargets(analyses.get(uri));
  if (uri.scheme !== "file" || targets.length === 0) {
    controller.items.delete(id);
    return;
  }
  const file = controller.items.get(id) ?? controller.createTestItem(id, vscode.workspace.asRelativePath(uri), uri);
  const children = targets.map(({ name, line }) => {
    const item = file.children.get(`${id}\n${name}`) ?? controller.createTestItem(`${id}\n${name}`, name, uri);
    item.range = new vscode.Range(line, 0, line, 0);
    return item;
  });
  file.children.replace(children);
  controller.items.add(file);
}

async function run(context: Context, controller: vscode.TestController, request: vscode.TestRunRequest, token: vscode.CancellationToken): Promise<void> {
  const backend = rememberedBackend(context) ?? USUAL;
  const left = new Set(request.exclude?.map(({ id }) => id));
  const all = (request.include ?? entriesOf(controller.items)).flatMap((item) => (item.children.size > 0 ? entriesOf(item.children) : [item]));
  const items = [...new Set(all)].filter((item) => !left.has(item.id) && !left.has(item.parent?.id ?? ""));
  const going = controller.createTestRun(request);
  for (const item of items) going.enqueued(item);
  for (const item of items) {
    if (token.isCancellationRequested) going.skipped(item);
    else await compare(context, going, item, backend, token);
  }
  going.end();
}

function entriesOf(items: vscode.TestItemCollection): vscode.TestItem[] {
  return [...items].map(([, item]) => item);
}

async function compare(context: Context, going: vscode.TestRun, item: vscode.TestItem, backend: string, token: vscode.CancellationToken): Promise<void> {
  const [uri = "", target = ""] = item.id.split("\n");
  const say = (text: string): void => { going.appendOutput(`${text.replace(/\r?\n/gu, "\r\n")}\r\n`, undefined, item); };
  going.started(item);
  const began = performance.now();
  try {
    const made = await context.comparisons.compare({ uri, target }, { backend }, (request, piece) =>
      context.session.perform("inductorDebug.diff", request, token, (message) => { say(message); }, piece));
    if (made && token.isCancellationRequested) going.skipped(item);
    else if (made) finish(going, item, made, performance.now() - began, say);
    else going.errored(item, new vscode.TestMessage(t("The daemon is not running.")));
  } catch (error) {
    if (error instanceof vscode.CancellationError) {
      going.skipped(item);
      return;
    }
    if (!(error instanceof CompareError)) context.log.error(`tests: ${messageOf(error)}`);
    going.errored(item, messageAt(item, messageOf(error)), performance.now() - began);
  }
}

/** Passed, failed with a message at each blamed line, or (where there was nothing to compare, or it did not end) errored. */
function finish(going: vscode.TestRun, item: vscode.TestItem, { document }: Comparison, duration: number, say: (text: string) => void): void {
  const { verdict, why, backend, reference, blame, partial, notes } = document;
  say(t("{0} against {1}: {2}", backend, reference, `${verdict}. ${why}`));
  if (partial) going.errored(item, messageAt(item, [why, notes.at(-1) ?? ""].join("\n")), duration);
  else if (verdict === "pass") going.passed(item, duration);
  else if (verdict === "failed") going.errored(item, messageAt(item, why), duration);
  else going.failed(item, failures(item, why, blame), duration);
}

function failures(item: vscode.TestItem, why: string, blame: Comparison["document"]["blame"]): vscode.TestMessage[] {
  const seen = new Set<string>();
  const messages = blame.flatMap(({ path, range, op, why: because }) => {
    const key = JSON.stringify([path, range]);
    if (path === null || range === null || seen.has(key)) return [];
    seen.add(key);
    const message = new vscode.TestMessage(`${why}\n${op.replace(/\.default$/u, "")}: ${because}`);
    const { start, end } = range;
    message.location = new vscode.Location(vscode.Uri.file(path), new vscode.Range(start.line, start.character, end.line, end.character));
    return [message];
  });
  return messages.length > 0 ? messages : [messageAt(item, why)];
}

function messageAt({ uri, range }: vscode.TestItem, text: string): vscode.TestMessage {
  const message = new vscode.TestMessage(text);
  if (uri && range) message.location = new vscode.Location(uri, range);
  return message;
}
