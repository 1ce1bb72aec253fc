/**
 * The view "Sizes": the free sizes of the targets in the active file, to be changed by sliders. The daemon keeps what is set, for the session; the
 * view sends one change at a time, always the newest, and shows what the daemon answers.
 */

import * as vscode from "vscode";

import type { SetSizesRequest } from "../../../shared_schema/generated/wire.js";
import type { ToHost, ToPage } from "../../webview/sizes/messages.js";
import type { Context } from "../services/context.js";
import { messageOf } from "../orders/orders.js";
import { pageOf } from "../pages/pageHtml.js";
import { SessionState } from "../server/state.js";
import { revealPlace } from "../common/places.js";
import { Soon } from "../common/soon.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.sizes";
const BUSY = new Set(["queued", "running"]);

export function activate(context: Context): void {
  const view = new SizesView(context);
  context.extension.subscriptions.push(
    view,
    vscode.window.registerWebviewViewProvider(VIEW, view),
    vscode.commands.registerCommand("inductorDebug.showSizes", (_uri?: unknown, target?: unknown) => view.reveal(typeof target === "string" ? target : undefined)),
  );
}

class SizesView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private selected: string | undefined;
  private document: vscode.TextDocument | undefined = pythonIn(vscode.window.activeTextEditor);
  /** A change that the daemon has not been told of yet. */
  private waiting: SetSizesRequest | undefined;
  private sending = false;
  private readonly refresh = new Soon(() => { void this.show(); });
  private readonly disposables: vscode.Disposable[];

  constructor(private readonly context: Context) {
    this.disposables = [
      this.refresh,
      vscode.window.onDidChangeActiveTextEditor((editor) => {
        this.document = pythonIn(editor) ?? this.document;
        this.refresh.request();
      }),
      context.analyses.onDidChange(() => { if (!this.sending) this.refresh.request(); }),
      context.session.onDidChangeState(() => { this.refresh.request(); }),
    ];
  }

  dispose(): void {
    for (const disposable of this.disposables) disposable.dispose();
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const { extensionUri } = this.context.extension;
    this.view = view;
    view.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(extensionUri, "out")] };
    view.webview.onDidReceiveMessage((message: ToHost) => { this.hear(message); }, undefined, this.disposables);
    view.onDidChangeVisibility(() => { this.refresh.request(); }, undefined, this.disposables);
    view.onDidDispose(() => { [this.view, this.ready] = [undefined, false]; }, undefined, this.disposables);
    view.webview.html = pageOf(view.webview, this.context.extension, null, "sizes");
  }

  async reveal(target: string | undefined): Promise<void> {
    this.selected = target;
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    this.refresh.request();
  }

  private hear(message: ToHost): void {
    if (message.type === "ready") {
      this.ready = true;
      void this.show();
    } else if (message.type === "set") {
      if (!this.document) return;
      this.waiting = { uri: this.document.uri.toString(), target: message.target, sizes: message.sizes };
      void this.pass();
    } else if (message.type === "write") void vscode.commands.executeCommand("inductorDebug.setExampleInputs", this.document?.uri.toString(), message.target, message.inputs);
    else if (message.type === "reveal") void revealPlace(message.place, message.focus);
    else if (message.type === "retry") void this.show();
  }

  /** Tells the daemon the newest change; those that came meanwhile are passed over. */
  private async pass(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (this.waiting) {
        const change = this.waiting;
        this.waiting = undefined;
        const told = await this.context.session.execute("inductorDebug.setSizes", change);
        if (told) this.context.log.debug(`sizes of ${told.target} in ${(1000 * told.seconds).toFixed(0)} ms`);
      }
    } catch (error) {
      this.send({ type: "state", state: { kind: "failed", what: t("Sizes"), why: messageOf(error) } });
      return;
    } finally {
      this.sending = false;
    }
    await this.show();
  }

  /** Shows the active file's sizes as the daemon knows them, or why there are none. */
  private async show(): Promise<void> {
    if (!this.ready || this.view?.visible !== true) return;
    const { session, analyses } = this.context;
    const { document } = this;
    if (!document) {
      this.empty(t("Open a Python file to change the sizes of its inputs."));
      return;
    }
    if (session.state !== SessionState.Running) {
      this.empty(t("The daemon is not running."));
      return;
    }
    try {
      const targets = (await session.execute("inductorDebug.sizes", { uri: document.uri.toString() })) ?? [];
      if (document !== this.document || this.waiting) return;
      const free = targets.filter(({ sizes }) => sizes.length > 0);
      const analysis = analyses.get(document.uri);
      if (free.length > 0) {
        this.send({ type: "sizes", file: document.fileName, targets: free, selected: this.selected });
        this.selected = undefined;
        this.send({ type: "state", state: { kind: "shown", note: "" } });
      } else if (analysis && BUSY.has(analysis.notification.state)) this.send({ type: "state", state: { kind: "loading", what: t("Looking for free sizes"), since: analysis.since } });
      else this.empty(t("No size of the inputs is free in this file, as far as it was checked."));
    } catch (error) {
      this.send({ type: "state", state: { kind: "failed", what: t("Sizes"), why: messageOf(error) } });
    }
  }

  private empty(why: string): void {
    this.send({ type: "state", state: { kind: "empty", why } });
  }

  private send(message: ToPage): void {
    if (this.ready) void this.view?.webview.postMessage(message);
  }
}

function pythonIn(editor: vscode.TextEditor | undefined): vscode.TextDocument | undefined {
  return editor?.document.languageId === "python" ? editor.document : undefined;
}
