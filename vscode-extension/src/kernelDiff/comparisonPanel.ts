/** One tab with the newest comparison of one target. */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import type { DiffDocument, DiffPiece } from "../../../shared_schema/generated/wire.js";
import { grown } from "../../webview/kerneldiff/growing.js";
import type { ToHost, ToPage } from "../../webview/kerneldiff/messages.js";
import type { PageState } from "../../webview/shared/state.js";
import type { Context } from "../services/context.js";
import { PageTab } from "../pages/pageTab.js";
import type { Comparison, Kept } from "../services/comparisons.js";

const { t } = vscode.l10n;

type Heard = Exclude<ToHost, { type: "ready" | "reveal" }>;

export class KernelDiffPanel extends PageTab<Heard, ToPage> {
  private shown: Comparison | undefined;
  /** What has come of a comparison that goes on, or of one that did not come to an end. */
  private growing: DiffDocument | undefined;
  private stopped = false;
  private state: PageState = { kind: "shown", note: "" };
  private running: vscode.CancellationTokenSource | undefined;

  constructor(
    context: Context,
    panel: vscode.WebviewPanel,
    kept: Kept,
    private readonly compareAgain: () => unknown,
    closed: () => void,
  ) {
    super(context, panel, "kerneldiff", kept, closed, () => kept.subject);
    panel.title = t("KernelDiff: {0}", kept.subject.target);
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  async show(comparison: Comparison): Promise<void> {
    this.shown = comparison;
    this.growing = undefined;
    await this.filled();
  }

  /** Adds what has come of a comparison that goes on; `first` begins it. */
  grow(piece: DiffPiece, first: boolean): void {
    this.growing = grown(first ? undefined : this.growing, piece);
    this.stopped = false;
    void this.send({ type: "piece", piece, first });
  }

  /** No more will come of it. */
  stop(): void {
    this.stopped = true;
    if (this.growing) void this.send({ type: "stopped" });
  }

  /** What goes on, or why there is nothing. */
  tell(state: PageState): void {
    this.state = state;
    void this.send({ type: "state", state });
  }

  /** A comparison begins, which the page can cancel; one that went on is given up. */
  begin(): vscode.CancellationToken {
    this.running?.cancel();
    this.running = new vscode.CancellationTokenSource();
    return this.running.token;
  }

  override dispose(): void {
    this.running?.cancel();
    super.dispose();
  }

  protected override async hear(message: Heard): Promise<void> {
    if (message.type === "cancel") this.running?.cancel();
    else await this.compareAgain();
  }

  protected override async filled(): Promise<void> {
    if (!this.ready) return;
    const { shown, growing } = this;
    if (growing) {
      await this.send({ type: "piece", piece: { begun: growing }, first: true });
      if (this.stopped) await this.send({ type: "stopped" });
    } else if (shown) {
      const { subject, options, report, maps } = shown;
      const message: ToPage = { type: "comparison", document: shown.document, maps: await contentOf(maps), subject: { subject, options, report, maps } };
      if (this.shown === shown && !this.growing) await this.send(message);
    }
    await this.send({ type: "state", state: this.state });
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
