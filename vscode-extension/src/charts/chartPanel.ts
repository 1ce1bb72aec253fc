/** One tab with the chart of one target. It says when the file has been saved since; running again is the user's choice. */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import type { ChartAnswer, CompileTimeDocument, MemoryDocument, RooflineDocument } from "../../../shared_schema/generated/wire.js";
import type { Charts, ToHost, ToPage } from "../../webview/charts/messages.js";
import type { PageState } from "../../webview/shared/state.js";
import { carryOutIn, messageOf, type Order, reasonOf } from "../orders/orders.js";
import { PageTab } from "../pages/pageTab.js";
import type { Subject } from "../server/protocol.js";
import type { Context } from "../services/context.js";

const { t } = vscode.l10n;

export type ChartKind = Charts["kind"];
const COMMANDS = { memory: "inductorDebug.memory", roofline: "inductorDebug.roofline", "compile-time": "inductorDebug.compileTime" } as const;
type Heard = Exclude<ToHost, { type: "ready" | "reveal" }>;

export class ChartPanel extends PageTab<Heard, ToPage> {
  private charts: Charts | undefined;
  private state: PageState = { kind: "shown", note: "" };
  private lacksAccelerator = false;
  private running: vscode.CancellationTokenSource | undefined;

  constructor(context: Context, panel: vscode.WebviewPanel, private readonly kind: ChartKind, private readonly subject: Subject, closed: () => void) {
    super(context, panel, "charts", null, closed, () => subject);
    panel.title = titleOf(kind, subject.target);
    this.disposables.push(vscode.workspace.onDidSaveTextDocument((document) => {
      const settled = this.charts !== undefined && this.state.kind === "shown";
      if (settled && document.uri.toString() === subject.uri) this.tell({ kind: "shown", note: t("The file has been saved since; run again to see what it takes now.") });
    }));
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  /** Has the daemon run the target, and shows what came of it. */
  async run(): Promise<void> {
    this.running?.cancel();
    const running = new vscode.CancellationTokenSource();
    this.running = running;
    const mine = (): boolean => this.running === running;
    const what = workOf(this.kind, this.subject.target);
    const tell = (state: PageState): void => { if (mine()) this.tell(state); };
    const order: Order<(typeof COMMANDS)[ChartKind]> = { title: what, command: COMMANDS[this.kind], request: { ...this.subject } };
    try {
      const answer = await carryOutIn(this.context, tell, order, running.token);
      if (answer && mine()) await this.take(what, answer);
    } catch (error) {
      tell({ kind: "failed", what, why: messageOf(error) });
    } finally {
      if (mine()) this.running = undefined;
      running.dispose();
    }
  }

  override dispose(): void {
    this.running?.cancel();
    super.dispose();
  }

  protected override async hear(message: Heard): Promise<void> {
    if (message.type === "cancel") this.running?.cancel();
    else if (message.type === "chooseAccelerator") {
      await vscode.commands.executeCommand("inductorDebug.chooseAccelerator");
      await this.run();
    } else await this.run();
  }

  protected override async filled(): Promise<void> {
    if (this.charts) await this.send({ type: "charts", charts: this.charts });
    await this.send({ type: "state", state: this.state, lacksAccelerator: this.lacksAccelerator });
  }

  private async take(what: string, answer: ChartAnswer): Promise<void> {
    const texts = await Promise.all(answer.artifacts.map(({ path }) => readFile(path, "utf8")));
    this.lacksAccelerator = answer.lacks_accelerator === true;
    if (texts.length > 0) {
      this.charts = chartsOf(this.kind, texts);
      await this.send({ type: "charts", charts: this.charts });
      const early = answer.reason ?? answer.notes.join(" ");
      this.tell({ kind: "shown", note: answer.reason == null ? early : t("As far as it came: {0}", early) });
    } else if (this.lacksAccelerator) {
      this.charts = undefined;
      this.tell({ kind: "empty", why: reasonOf(answer) });
    } else this.tell({ kind: "failed", what, why: reasonOf(answer), place: answer.place ?? undefined });
  }

  private tell(state: PageState): void {
    this.state = state;
    void this.send({ type: "state", state, lacksAccelerator: this.lacksAccelerator });
  }
}

function titleOf(kind: ChartKind, target: string): string {
  switch (kind) {
    case "memory":
      return t("Memory: {0}", target);
    case "roofline":
      return t("Roofline: {0}", target);
    case "compile-time":
      return t("Compile Time: {0}", target);
  }
}

function workOf(kind: ChartKind, target: string): string {
  switch (kind) {
    case "memory":
      return t("Running {0} for its memory", target);
    case "roofline":
      return t("Counting what {0} costs", target);
    case "compile-time":
      return t("Compiling {0} under a clock", target);
  }
}

function chartsOf(kind: ChartKind, texts: readonly string[]): Charts {
  switch (kind) {
    case "memory":
      return { kind, documents: texts.map((text) => JSON.parse(text) as MemoryDocument) };
    case "roofline":
      return { kind, documents: texts.map((text) => JSON.parse(text) as RooflineDocument) };
    case "compile-time":
      return { kind, documents: texts.map((text) => JSON.parse(text) as CompileTimeDocument) };
  }
}
