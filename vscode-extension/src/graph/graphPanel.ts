/** One tab with the graphs of one target. It captures anew when the file was saved, and keeps the capture before the newest for comparing. */

import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as vscode from "vscode";

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { Depth, ToHost, ToPage } from "../../webview/graph/wire/messages.js";
import type { PageState } from "../../webview/shared/state.js";
import { isOutdated } from "../services/analyses.js";
import { analysedPosition } from "../common/places.js";
import type { Context } from "../services/context.js";
import { measuredIn } from "../heat/measured.js";
import { keyOf } from "../services/comparisons.js";
import { messageOf } from "../orders/orders.js";
import { PageTab } from "../pages/pageTab.js";
import type { Subject } from "../server/protocol.js";
import { SessionState } from "../server/state.js";
import { type Capture, CaptureError, contentsOf, type GraphSource } from "./captures.js";
import { findingsFor } from "./nodeFindings.js";
import { linkText } from "./graphLinks.js";
import type { Texts } from "./graphTexts.js";

const { t } = vscode.l10n;

type Heard = Exclude<ToHost, { type: "ready" | "reveal" }>;

export class GraphPanel extends PageTab<Heard, ToPage> {
  private now: Capture | undefined;
  private before: Capture | undefined;
  private running: vscode.CancellationTokenSource | undefined;
  private wanted = false;
  /** How deep captures go: as deep as somebody has asked for. */
  private wish: Depth;
  private state: PageState = { kind: "shown", note: "" };
  private awaited: { readonly graph: string; readonly node: string } | undefined;
  private readonly uri: vscode.Uri;

  constructor(
    context: Context,
    panel: vscode.WebviewPanel,
    readonly subject: Subject,
    private readonly source: GraphSource,
    private readonly texts: Texts,
    closed: () => void,
  ) {
    super(context, panel, "graph", subject, closed, () => (source.linked ? subject : undefined));
    this.uri = vscode.Uri.parse(subject.uri);
    this.wish = source.depth;
    this.disposables.push(
      panel.onDidChangeViewState(() => { this.refreshIfWanted(); }),
      context.analyses.onDidChange((changed) => { if (changed?.toString() === this.uri.toString()) this.analysed(); }),
      context.comparisons.onDidChange(() => { this.sendMeasured(); }),
      context.session.onDidChangeState((state) => { if (state === SessionState.Running) this.captureFirst(); }),
      vscode.workspace.onDidSaveTextDocument((document) => { if (document.uri.toString() === this.uri.toString()) this.saved(); }),
      // What the kernels ask of the accelerator is of the one that was chosen; the check that follows says when it holds.
      vscode.workspace.onDidChangeConfiguration((change) => { if (change.affectsConfiguration("inductorDebug.accelerator", this.uri)) this.wanted = true; }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor, selections, kind }) => {
        const [selection] = selections;
        const place = kind === undefined || !selection ? undefined : analysedPosition(textEditor.document.uri, selection.active);
        if (place) void this.send({ type: "cursor", ...place });
      }),
    );
  }

  show(): void {
    this.panel.reveal();
  }

  /** Shows a node, as soon as its graph is there. */
  goTo(graph: string, node: string): void {
    this.awaited = { graph, node };
    this.sendAwaited();
  }

  /** Captures, shows how far it is, and sends what came of it. A capture that is running is given up for the new one. */
  async capture(depth: Depth, fresh = false): Promise<void> {
    this.running?.cancel();
    const running = new vscode.CancellationTokenSource();
    this.running = running;
    this.wanted = false;
    const { what } = this.source;
    const since = Date.now();
    this.tell({ kind: "loading", what, since });
    try {
      const made = await this.source.capture(depth, fresh, running.token, (step, percentage) => {
        if (this.running === running) this.tell({ kind: "loading", what, step, percentage, since });
      }, (build) => {
        if (this.running === running) void this.send({ type: "builds", builds: [build] });
      });
      if (this.running !== running) return;
      if (this.now && this.now.version !== made.version) this.before = this.now;
      this.now = made;
      await this.sendAll();
      this.say(made.notes.join("  "));
    } catch (error) {
      if (this.running !== running) return;
      if (error instanceof vscode.CancellationError) this.tell({ kind: "cancelled", what });
      else {
        this.tell({ kind: "failed", what, why: messageOf(error), place: this.culprit() });
        if (!(error instanceof CaptureError)) this.context.log.error(`graph: ${String(error)}`);
      }
    } finally {
      if (this.running === running) this.running = undefined;
      running.dispose();
    }
  }

  override dispose(): void {
    this.running?.cancel();
    this.context.overlays.set(this, undefined);
    super.dispose();
  }

  protected override async filled(): Promise<void> {
    await this.sendAll();
    await this.send({ type: "state", state: this.state });
    this.sendAwaited();
    this.captureFirst();
  }

  protected override async hear(message: Heard): Promise<void> {
    switch (message.type) {
      case "openText":
        await this.texts.open(this.subject, message.text, this.panel.viewColumn ?? vscode.ViewColumn.Active);
        return;
      case "save":
        await this.save(message.name, message.content);
        return;
      case "capture":
        this.wish = message.depth;
        await this.capture(message.depth, message.fresh);
        return;
      case "retry":
        await this.capture(this.wish);
        return;
      case "heat":
        this.context.overlays.set(this, message.metric && { target: this.subject.target, metric: message.metric, lines: message.lines });
        return;
      case "copyLink": {
        if (!this.source.linked) {
          this.say(t("There are links to nodes of captured graphs only."));
          return;
        }
        const { uriScheme, clipboard } = vscode.env;
        await clipboard.writeText(linkText(uriScheme, this.context.extension.extension.id, { file: this.uri.fsPath, target: this.subject.target, graph: message.graph, node: message.node }));
        this.say(t("Copied a link to {0}", message.node));
        return;
      }
      case "cancel":
        this.running?.cancel();
    }
  }

  /** There is nothing to show yet. After a restart of VS Code the page is there before the daemon. */
  private captureFirst(): void {
    if (!this.ready || this.now || this.running) return;
    if (this.context.session.state === SessionState.Running) void this.capture(this.wish);
    else this.tell({ kind: "empty", why: t("Waiting for the daemon…") });
  }

  private async sendAll(): Promise<void> {
    const { now, before } = this;
    if (now && this.ready) {
      const [newest, older] = await Promise.all([contentsOf(now.files), contentsOf(before?.files ?? [])]);
      if (newest.length === 0 && this.now === now) this.now = undefined; // its files were cleaned away
      else void this.send({ type: "documents", now: newest, before: older, depth: now.depth });
    }
    this.sendFindings();
    this.sendMeasured();
  }

  private sendAwaited(): void {
    if (!this.ready || !this.awaited) return;
    void this.send({ type: "goTo", ...this.awaited });
    this.awaited = undefined;
  }

  private sendMeasured(): void {
    const found = this.context.comparisons.all().find(({ subject }) => keyOf(subject) === keyOf(this.subject));
    void this.send({ type: "measured", measured: found && measuredIn(found.document) });
  }

  private sendFindings(): void {
    void this.send({ type: "findings", findings: findingsFor(this.context.analyses, this.uri, this.subject.target) });
  }

  private analysed(): void {
    this.sendFindings();
    this.refreshIfWanted();
  }

  private saved(): void {
    this.wanted = true;
    this.refreshIfWanted();
  }

  /** After a save: once the check of the file is through, and only while somebody can see it. */
  private refreshIfWanted(): void {
    const analysis = this.context.analyses.get(this.uri);
    if (!this.wanted || !this.panel.visible || (analysis && isOutdated(analysis))) return;
    void this.capture(this.wish);
  }

  private async save(name: string, content: string | Uint8Array): Promise<void> {
    const folder = vscode.workspace.getWorkspaceFolder(this.uri)?.uri.fsPath ?? dirname(this.uri.fsPath);
    const chosen = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.file(join(folder, name)), title: t("Save the Graph") });
    if (!chosen) return;
    try {
      await writeFile(chosen.fsPath, content);
      this.say(t("Saved as {0}", chosen.fsPath));
    } catch (error) {
      this.context.notifications.answer(t("The file could not be written: {0}", messageOf(error)));
    }
  }

  /** Where the first error of the file is: what keeps its graphs from being captured. */
  private culprit(): Location | undefined {
    const found = findingsFor(this.context.analyses, this.uri, this.subject.target);
    return found.find(({ severity }) => severity === "error")?.place;
  }

  private say(note: string): void {
    this.tell({ kind: "shown", note });
  }

  private tell(state: PageState): void {
    this.state = state;
    void this.send({ type: "state", state });
  }
}
