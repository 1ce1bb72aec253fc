/** One tab with the newest comparison of one target. It sends to the page only after the page has said `ready`, again after every reload of it. */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import type { ToHost, ToPage } from "../../webview/kerneldiff/messages.js";
import type { Context } from "../context.js";
import { pageOf } from "../graph/page.js";
import { revealPlace } from "../graph/places.js";
import type { Comparison, Kept } from "./comparisons.js";

const { t } = vscode.l10n;

export class KernelDiffPanel implements vscode.Disposable {
  private ready = false;
  private shown: Comparison | undefined;
  private status: ToPage = { type: "status", text: "" };
  private readonly disposables: vscode.Disposable[] = [];

  constructor(
    context: Context,
    private readonly panel: vscode.WebviewPanel,
    kept: Kept,
    private readonly compareAgain: () => unknown,
    private readonly closed: () => void,
  ) {
    panel.title = t("KernelDiff: {0}", kept.subject.target);
    panel.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(context.extension.extensionUri, "out")] };
    panel.iconPath = vscode.Uri.joinPath(context.extension.extensionUri, "media", "view.svg");
    this.disposables.push(
      panel.webview.onDidReceiveMessage((message: ToHost) => { void this.hear(message); }),
      panel.onDidDispose(() => { this.dispose(); }),
    );
    panel.webview.html = pageOf(panel.webview, context.extension, kept, "kerneldiff");
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  async show(comparison: Comparison): Promise<void> {
    this.shown = comparison;
    await this.send();
  }

  /** What goes on: a text below the heading, "" for nothing. */
  say(text: string): void {
    this.status = { type: "status", text };
    if (this.ready) void this.panel.webview.postMessage(this.status);
  }

  dispose(): void {
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
    this.closed();
  }

  private async hear(message: ToHost): Promise<void> {
    switch (message.type) {
      case "ready":
        this.ready = true;
        await this.send();
        return;
      case "reveal":
        await revealPlace(message.place, message.focus);
        return;
      case "compare":
        await this.compareAgain();
    }
  }

  private async send(): Promise<void> {
    if (!this.ready) return;
    const { shown } = this;
    if (shown) {
      const { subject, options, report, maps } = shown;
      const message: ToPage = { type: "comparison", document: shown.document, maps: await contentOf(maps), subject: { subject, options, report, maps } };
      if (this.shown === shown) await this.panel.webview.postMessage(message);
    }
    await this.panel.webview.postMessage(this.status);
  }
}

async function contentOf(path: string | undefined): Promise<ArrayBuffer | undefined> {
  if (path === undefined) return undefined;
  try {
    const { buffer, byteOffset, byteLength } = await readFile(path);
    return buffer.slice(byteOffset, byteOffset + byteLength);
  } catch {
    return undefined; // it was cleaned away: the page says that there is no map
  }
}
