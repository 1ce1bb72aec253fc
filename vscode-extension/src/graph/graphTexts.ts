/**
 * Kernels and IR as read-only documents in editor tabs, coloured by VS Code, with links to the lines of the source that they come from.
 * The texts are those that the graph view has sent. They are kept in the extension's own folder, because VS Code opens the tabs again after
 * a reload of the window, and then nobody else has them.
 */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as vscode from "vscode";

import type { TextToOpen } from "../../webview/graph/wire/messages.js";
import { lineWordsOf, sourceLink } from "../common/places.js";
import type { Subject } from "../server/protocol.js";

const { t } = vscode.l10n;
const TEXT_SCHEME = "inductor-debug-text";
const MOST_KEPT = 50;
const ENDINGS: Readonly<Record<string, string>> = { cpp: "cpp", python: "py", triton: "py", extern: "py" };

interface Kept {
  readonly text: TextToOpen;
  readonly bytes: Uint8Array;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** A file system that can only be read: VS Code opens files again after a reload, and documents of a content provider not. */
export class Texts implements vscode.FileSystemProvider, vscode.DocumentLinkProvider, vscode.CodeLensProvider, vscode.Disposable {
  private readonly known = new Map<string, Kept>();
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  private readonly registrations: vscode.Disposable[];

  readonly onDidChangeFile = this.changed.event;

  /** @param folder where texts are kept for the next window; it need not exist. */
  constructor(private readonly folder: string) {
    this.registrations = [
      vscode.workspace.registerFileSystemProvider(TEXT_SCHEME, this, { isReadonly: true, isCaseSensitive: true }),
      vscode.languages.registerDocumentLinkProvider({ scheme: TEXT_SCHEME }, this),
      vscode.languages.registerCodeLensProvider({ scheme: TEXT_SCHEME }, this),
      this.changed,
    ];
  }

  /** Opens a text, or brings the tab to the front that has it already, with what is newest. */
  async open(subject: Subject, text: TextToOpen, column: vscode.ViewColumn): Promise<void> {
    const uri = addressOf(subject, text);
    const before = this.known.get(uri.toString());
    const kept = { text, bytes: new TextEncoder().encode(text.text), time: Date.now() };
    this.known.set(uri.toString(), kept);
    if (before && before.text.text !== text.text) this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    void this.keep(uri, text);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: column, preview: true });
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { bytes, time } = await this.find(uri);
    return { type: vscode.FileType.File, ctime: time, mtime: time, size: bytes.length, permissions: vscode.FilePermission.Readonly };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return (await this.find(uri)).bytes;
  }

  /** Every change is told anyway. */
  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    return (this.known.get(document.uri.toString())?.text.links ?? []).flatMap(({ line, place }) => {
      if (line >= document.lineCount) return [];
      const { text, firstNonWhitespaceCharacterIndex: start, range } = document.lineAt(line);
      if (start >= text.length) return [];
      const link = new vscode.DocumentLink(range.with(new vscode.Position(line, start)), sourceLink(place));
      link.tooltip = t("Go to {0} of the source", lineWordsOf(place));
      return [link];
    });
  }

  /** Above the text: the first expression that it comes from. */
  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const place = this.known.get(document.uri.toString())?.text.links[0]?.place;
    if (!place) return [];
    const title = t("Go to the source, {0}", lineWordsOf(place));
    return [new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), { title, command: "vscode.open", arguments: [sourceLink(place)] })];
  }

  /** What cannot be written is not there after a reload, and nothing else. */
  private async keep(uri: vscode.Uri, text: TextToOpen): Promise<void> {
    try {
      await mkdir(this.folder, { recursive: true });
      await writeFile(this.fileOf(uri), JSON.stringify(text));
      const files = (await readdir(this.folder)).map((name) => join(this.folder, name));
      if (files.length <= MOST_KEPT) return;
      const times = await Promise.all(files.map(async (path) => ({ path, time: (await stat(path)).mtimeMs })));
      times.sort((left, right) => right.time - left.time);
      await Promise.all(times.slice(MOST_KEPT).map(({ path }) => rm(path, { force: true })));
    } catch {
      // A full or read-only disk.
    }
  }

  /** @throws FileSystemError where nobody has the text any more. */
  private async find(uri: vscode.Uri): Promise<Kept> {
    const known = this.known.get(uri.toString());
    if (known) return known;
    try {
      const file = this.fileOf(uri);
      const text = JSON.parse(await readFile(file, "utf8")) as TextToOpen;
      const kept = { text, bytes: new TextEncoder().encode(text.text), time: (await stat(file)).mtimeMs };
      this.known.set(uri.toString(), kept);
      return kept;
    } catch {
      throw vscode.FileSystemError.FileNotFound(t("This text came from a graph view that is gone. Open it again from there."));
    }
  }

  private fileOf(uri: vscode.Uri): string {
    return join(this.folder, `${createHash("sha256").update(uri.toString()).digest("hex").slice(0, 32)}.json`);
  }

  dispose(): void {
    for (const registration of this.registrations) registration.dispose();
  }
}

/** One address per file, target and title; the ending tells VS Code the language. */
export function addressOf({ uri, target }: Subject, { title, language }: TextToOpen): vscode.Uri {
  const name = title.replace(/[^\p{L}\p{N}._ ()-]+/gu, "_");
  const ending = ENDINGS[language] ?? "txt";
  return vscode.Uri.from({ scheme: TEXT_SCHEME, query: uri, path: `/${target}/${name.endsWith(`.${ending}`) ? name : `${name}.${ending}`}` });
}
