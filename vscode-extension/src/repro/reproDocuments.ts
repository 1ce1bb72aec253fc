/**
 * Reproducers as read-only documents: above the text how the proof went, a link back to the expression, and what to do with it. They are not
 * files of the workspace, so nothing checks them until the user keeps one. After a reload of the window the text is read from the file that
 * the daemon kept.
 */

import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import * as vscode from "vscode";

import type { Context } from "../services/context.js";
import { isCell, lineWords, lineWordsOf, revealPlace } from "../common/places.js";
import { messageOf } from "../orders/orders.js";
import { saveNew } from "./reproFiles.js";
import { findingWith } from "../orders/subjects.js";

const { t } = vscode.l10n;
const REPRO_SCHEME = "inductor-debug-repro";
/** The command behind the links and the lens that lead back; not for the palette. */
const GO_BACK = "inductorDebug.goToReproduced";
const FOLDER = "repros";
const REMEMBERED = "reproducers";
const MOST_REMEMBERED = 50;

export interface Reproducer {
  readonly name: string;
  readonly text: string;
  /** The file that the failure was found in, the finding, and where it stood. */
  readonly source: vscode.Uri;
  readonly fingerprint: string;
  readonly range: vscode.Range | undefined;
  /** The file that the daemon kept it in. */
  readonly path: string | null;
  /** Files that the script reads; they go where it goes. */
  readonly beside: readonly string[];
  readonly status: { readonly verified: boolean; readonly text: string };
}

export class Reproducers implements vscode.TextDocumentContentProvider, vscode.CodeLensProvider, vscode.DocumentLinkProvider, vscode.Disposable {
  private readonly known = new Map<string, Reproducer>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly lensesChanged = new vscode.EventEmitter<undefined>();
  private readonly registrations: vscode.Disposable[];

  readonly onDidChange = this.changed.event;
  readonly onDidChangeCodeLenses = this.lensesChanged.event as unknown as vscode.Event<void>;

  constructor(private readonly context: Context) {
    const selector = { scheme: REPRO_SCHEME };
    this.registrations = [
      vscode.workspace.registerTextDocumentContentProvider(REPRO_SCHEME, this),
      vscode.languages.registerCodeLensProvider(selector, this),
      vscode.languages.registerDocumentLinkProvider(selector, this),
      vscode.commands.registerCommand(GO_BACK, (address?: unknown, line?: unknown) => this.goBack(address, line)),
      this.changed,
      this.lensesChanged,
    ];
  }

  /** Opens it beside the source, or brings the tab to the front that shows the same finding's, with the new text. */
  async show(reproducer: Reproducer): Promise<vscode.Uri> {
    const uri = addressOf(reproducer);
    const before = this.known.get(uri.toString());
    this.known.set(uri.toString(), reproducer);
    await this.remember(uri, reproducer.path);
    if (before) {
      this.changed.fire(uri);
      this.lensesChanged.fire(undefined);
    }
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: false });
    return uri;
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const known = this.known.get(uri.toString());
    if (known) return known.text;
    const gone = t("This reproducer was made before the window was loaded, and its file is gone. Make it again.");
    const path = this.files()[uri.toString()];
    return path === undefined ? gone : readFile(path, "utf8").catch(() => gone);
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const known = this.known.get(document.uri.toString());
    const lens = (title: string, command: string, ...values: unknown[]): vscode.CodeLens =>
      new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command, arguments: values });
    const status = known ? [lens(`$(${known.status.verified ? "verified" : "warning"}) ${known.status.text}`, "")] : [];
    const back = known ? [lens(t("Go to {0}", placeOf(known, this.rangeOf(known))), GO_BACK, document.uri.toString())] : [];
    return [
      ...status,
      ...back,
      lens(t("Save in repros/"), "inductorDebug.saveReproducer", document.uri),
      lens(t("Copy"), "inductorDebug.copyReproducer", document.uri),
      lens(t("Open as Untitled"), "inductorDebug.openReproducer", document.uri),
    ];
  }

  /** `model.py:13` in comments leads to that line; the place where the failure comes from, to the whole expression. */
  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    const known = this.known.get(document.uri.toString());
    if (!known) return [];
    const name = basename(known.source.fsPath).replace(/[.*+?^${}()|[\]\\]/gu, "\\$&");
    const text = document.getText();
    return [...text.matchAll(new RegExp(`(?<![\\w/])${name}:(\\d+)(?::(\\d+))?`, "gu"))].map((match) => {
      const range = new vscode.Range(document.positionAt(match.index), document.positionAt(match.index + match[0].length));
      const place = match[2] === undefined ? [Number(match[1]) - 1] : [];
      const values = encodeURIComponent(JSON.stringify([document.uri.toString(), ...place]));
      return new vscode.DocumentLink(range, vscode.Uri.parse(`command:${GO_BACK}?${values}`));
    });
  }

  /** Shows the source where it is open: a line, or the expression that the finding is at. */
  async goBack(address: unknown, line: unknown): Promise<void> {
    const known = this.known.get(String(address));
    if (!known) return;
    const whole = this.rangeOf(known) ?? new vscode.Range(0, 0, 0, 0);
    const range = typeof line === "number" ? new vscode.Range(line, 0, line, 0) : whole;
    await revealPlace({ path: known.source.fsPath, range }, true);
  }

  async copy(given: unknown): Promise<void> {
    const document = await this.documentFor(given);
    if (document) await vscode.env.clipboard.writeText(document.getText());
  }

  async openUntitled(given: unknown): Promise<void> {
    const document = await this.documentFor(given);
    if (!document) return;
    const untitled = await vscode.workspace.openTextDocument({ language: "python", content: document.getText() });
    await vscode.window.showTextDocument(untitled, { viewColumn: columnOf(document.uri), preview: false });
  }

  /** Into `repros/` of the source's workspace folder, under a name that nothing has yet. */
  async save(given: unknown): Promise<void> {
    const document = await this.documentFor(given);
    if (!document) return;
    const known = this.known.get(document.uri.toString());
    const folder = (known && vscode.workspace.getWorkspaceFolder(known.source)) ?? vscode.workspace.workspaceFolders?.[0];
    const root = folder?.uri.fsPath ?? (known ? dirname(known.source.fsPath) : undefined);
    if (root === undefined) {
      this.context.notifications.answer(t("There is no folder to save it in; open it as untitled and save it where you like."));
      return;
    }
    try {
      const path = await saveNew(`${root}/${FOLDER}`, basename(document.uri.path), document.getText(), known?.beside ?? []);
      const saved = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
      await vscode.window.showTextDocument(saved, { viewColumn: columnOf(document.uri), preview: false });
      this.context.log.info(`saved ${path}`);
    } catch (error) {
      this.context.notifications.answer(t("The file could not be written: {0}", messageOf(error)));
    }
  }

  dispose(): void {
    for (const registration of this.registrations) registration.dispose();
  }

  /** The files of the newest reproducers, by the addresses of their documents. */
  private files(): Readonly<Record<string, string>> {
    return this.context.extension.workspaceState.get<Record<string, string>>(REMEMBERED, {});
  }

  private async remember(uri: vscode.Uri, path: string | null): Promise<void> {
    const others = Object.entries(this.files()).filter(([address]) => address !== uri.toString());
    const now = path === null ? others : [...others, [uri.toString(), path] as const];
    await this.context.extension.workspaceState.update(REMEMBERED, Object.fromEntries(now.slice(-MOST_REMEMBERED)));
  }

  /** Where the finding stands now; where it stood, if it is gone. */
  private rangeOf({ source, fingerprint, range }: Reproducer): vscode.Range | undefined {
    return findingWith(this.context, source, fingerprint)?.range ?? range;
  }

  private async documentFor(given: unknown): Promise<vscode.TextDocument | undefined> {
    const uri = given instanceof vscode.Uri ? given : vscode.window.activeTextEditor?.document.uri;
    if (uri?.scheme === REPRO_SCHEME) return vscode.workspace.openTextDocument(uri);
    this.context.notifications.answer(t("Open a reproducer first."));
    return undefined;
  }
}

/** One address for each finding. */
function addressOf({ name, fingerprint }: Reproducer): vscode.Uri {
  return vscode.Uri.from({ scheme: REPRO_SCHEME, path: `/${fingerprint}/${name}` });
}

function placeOf({ source }: Reproducer, range: vscode.Range | undefined): string {
  const name = basename(source.fsPath);
  return range ? t("{0}, {1}", name, isCell(source) ? lineWords(source, range.start.line) : lineWordsOf({ path: source.fsPath, range })) : name;
}

/** The column that shows a document, so that what becomes of it stays there. */
function columnOf(uri: vscode.Uri): vscode.ViewColumn {
  return vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri.toString())?.viewColumn ?? vscode.ViewColumn.Beside;
}
