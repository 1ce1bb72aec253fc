/**
 * The view "Tensors": it asks for the line of the cursor whenever that or what is known of it changes, and only while somebody can see it. What is
 * shown stays until there is something newer; why there is nothing is said by the same component as on every page.
 */

import { basename } from "node:path";
import * as vscode from "vscode";

import type { LineTensors } from "../../../shared_schema/generated/wire.js";
import type { ToHost, ToPage } from "../../webview/tensors/messages.js";
import type { CellsMessage } from "../../webview/shared/cells.js";
import type { PageState } from "../../webview/shared/state.js";
import { type Analysis, isBusy, isOutdated } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import { messageOf } from "../orders/orders.js";
import { pageOf } from "../pages/pageHtml.js";
import { analysedPosition, analysedUri, isCell, onDidShowInCells, revealPlace, shownCells } from "../common/places.js";
import { SessionState } from "../server/state.js";
import { Asking } from "./asking.js";
import { FollowedLine, type Line } from "./line.js";

const { t } = vscode.l10n;
/** Milliseconds that the cursor rests before it is followed, and that results may be of an earlier text before that is said. */
const REST = 60;
const PATIENCE = 600;

export class TensorsView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private ready = false;
  private readonly asking: Asking;
  private readonly followed = new FollowedLine();
  private readonly disposables: vscode.Disposable[] = [];
  private rest: NodeJS.Timeout | undefined;
  private patience: NodeJS.Timeout | undefined;
  private asked = 0;
  private wanted = { target: "", call: 0, module: "" };
  private shown: LineTensors | undefined;
  private outdated = false;

  constructor(private readonly context: Context) {
    const { analyses, session } = context;
    this.asking = new Asking(context);
    this.disposables.push(
      this.asking, this.followed,
      this.followed.onDidChange(() => { this.soon(); }),
      analyses.onDidChange((changed) => { if (!changed || changed.toString() === analysedLine(this.followed.current)?.uri.toString()) this.soon(); }),
      session.onDidChangeState(() => { this.soon(); }),
      onDidShowInCells(() => { if (this.ready) void this.sendCells(); }),
      { dispose: () => { clearTimeout(this.rest); clearTimeout(this.patience); } },
    );
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.ready = false;
    view.webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(this.context.extension.extensionUri, "out")] };
    view.webview.onDidReceiveMessage((message: ToHost) => {
      this.hear(message).catch((error: unknown) => { this.context.notifications.answer(t("Tensors: {0}", messageOf(error))); });
    });
    view.onDidChangeVisibility(() => { this.soon(); });
    view.onDidDispose(() => { [this.view, this.ready] = [undefined, false]; });
    view.webview.html = pageOf(view.webview, this.context.extension, null, "tensors");
  }

  /** Stays with the line that is shown, or follows the cursor again. */
  pin(pinned: boolean): void {
    this.followed.pin(pinned);
    void vscode.commands.executeCommand("setContext", "inductorDebug.tensorsPinned", this.followed.pinned);
    this.mark();
  }

  dispose(): void {
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
  }

  private async hear(message: ToHost): Promise<void> {
    switch (message.type) {
      case "ready":
        this.ready = true;
        await this.sendCells();
        this.mark();
        await this.ask();
        return;
      case "reveal":
        await revealPlace(message.place, message.focus);
        return;
      case "call":
        this.wanted = { ...this.wanted, call: message.call, module: "" };
        await this.ask();
        return;
      case "target":
        this.wanted = { target: message.target, call: 0, module: "" };
        await this.ask();
        return;
      case "unpin":
        this.pin(false);
        return;
      case "cancel":
        await vscode.commands.executeCommand("inductorDebug.cancelAnalysis");
        return;
      case "retry":
        if (this.context.session.state === SessionState.Running) await vscode.commands.executeCommand("inductorDebug.checkFile", this.followed.current?.uri);
        else await this.context.session.restartByUser();
        return;
    }
  }

  private soon(): void {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => {
      this.ask().catch((error: unknown) => { this.tell({ kind: "failed", what: t("The tensors could not be told."), why: messageOf(error) }); });
    }, REST);
  }

  private async ask(): Promise<void> {
    if (!this.ready || this.view?.visible !== true) return;
    const line = analysedLine(this.followed.current);
    if (!line) {
      this.nothing({ kind: "empty", why: t("Put the cursor into a line of a Python file: the tensors that are alive there are shown here.") });
      return;
    }
    if (this.context.session.state !== SessionState.Running) {
      this.nothing(this.without());
      return;
    }
    this.asked += 1;
    const { asked } = this;
    await this.asking.ask({ ...line, ...this.wanted }, (page) => { if (page) this.take(page, asked, line); });
  }

  private take(page: LineTensors, asked: number, line: Line): void {
    if ((page.first ?? 0) > 0) {
      void this.send({ type: "rows", asked, document: page });
      return;
    }
    const analysis = this.context.analyses.get(line.uri);
    if (page.why) {
      // What is being checked may know more in a moment: what is there stays until then.
      if (analysis && isBusy(analysis) && this.shown?.path === line.uri.fsPath) this.age(true);
      else this.nothing(this.reason(page.why, line, analysis));
      return;
    }
    this.shown = page;
    this.wanted = { target: page.target ?? "", call: page.call ?? 0, module: page.module ?? "" };
    void this.send({ type: "tensors", asked, document: page, text: this.followed.text() });
    this.tell({ kind: "shown", note: "" });
    this.age(page.outdated === true || (analysis !== undefined && isOutdated(analysis)));
  }

  /** Why nothing is known of a line. */
  private reason(why: string, { uri }: Line, analysis: Analysis | undefined): PageState {
    const what = t("Checking {0}", basename(uri.fsPath));
    if (!analysis) return { kind: "empty", why };
    if (isBusy(analysis)) return { kind: "loading", what, since: analysis.since };
    if (analysis.notification.state === "cancelled") return { kind: "cancelled", what };
    if (analysis.notification.state === "failed") return { kind: "failed", what, why: analysis.notification.cause ?? why };
    const unchecked = analysis.targets.filter(({ checked }) => checked === "no").map(({ name, why: reason = "" }) => t("{0} was not checked: {1}", name, reason));
    return { kind: "empty", why: [why, ...unchecked].join("\n") };
  }

  private without(): PageState {
    const { state } = this.context.session;
    if (state === SessionState.Failed) return { kind: "failed", what: t("The daemon is not running."), why: t("“Inductor Debug: Show Output” says why.") };
    return { kind: "loading", what: t("Starting the daemon"), since: Date.now() };
  }

  private nothing(state: PageState): void {
    this.asking.cancel();
    this.shown = undefined;
    this.age(false);
    this.tell(state);
  }

  /** A check that is through in a moment is not worth a flicker. */
  private age(outdated: boolean): void {
    clearTimeout(this.patience);
    const say = (): void => {
      if (this.outdated !== outdated) {
        this.outdated = outdated;
        this.mark();
      }
    };
    if (outdated && !this.outdated) this.patience = setTimeout(say, PATIENCE);
    else say();
  }

  private mark(): void {
    void this.send({ type: "marks", outdated: this.outdated, pinned: this.followed.pinned });
  }

  private tell(state: PageState): void {
    void this.send({ type: "state", state });
  }

  private async sendCells(): Promise<void> {
    await this.view?.webview.postMessage({ type: "cells", cells: shownCells() } satisfies CellsMessage);
  }

  private async send(message: ToPage): Promise<void> {
    if (this.ready) await this.view?.webview.postMessage(message);
  }
}

/** A line where the daemon knows it: one of a cell is one of its notebook's text. */
function analysedLine(followed: Line | undefined): Line | undefined {
  if (!followed || !isCell(followed.uri)) return followed;
  const place = analysedPosition(followed.uri, new vscode.Position(followed.line, 0));
  return place && { uri: analysedUri(followed.uri), line: place.line };
}
