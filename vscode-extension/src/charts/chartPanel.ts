/** One tab with charts of one run. It says when the file has been saved since; running again is the user's choice. */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import type { ChartAnswer } from "../../../shared_schema/generated/wire.js";
import type { Charts, ToHost, ToPage } from "../../webview/charts/messages.js";
import type { PageState } from "../../webview/shared/state.js";
import { readWritten } from "../../webview/shared/wire.js";
import { carryOutIn, messageOf, type Order, reasonOf } from "../orders/orders.js";
import { PageTab } from "../pages/pageTab.js";
import { heatOfCharts } from "./chartHeat.js";
import type { Context } from "../services/context.js";
import type { About } from "../services/activePages.js";

/** The daemon's commands that are answered with charts. */
type ChartCommand = "inductorDebug.memory" | "inductorDebug.roofline" | "inductorDebug.profile" | "inductorDebug.recording" | "inductorDebug.compileTime";

/** What a tab shows. */
export interface Chart {
  readonly title: string;
  /** The order, as the page has it chosen: with a backend, or with other ways to compile, where there are such. */
  readonly order: (backend: string, ways: boolean) => Order<ChartCommand>;
  /** The target; undefined of what another run has recorded. */
  readonly about: About | undefined;
  /** Whether the page lets one choose a backend. */
  readonly runsBackends: boolean;
}

type Heard = Exclude<ToHost, { type: "ready" | "reveal" }>;
const { t } = vscode.l10n;

export class ChartPanel extends PageTab<Heard, ToPage> {
  private charts: Charts | undefined;
  private state: PageState = { kind: "shown", note: "" };
  private lacksAccelerator = false;
  private running: vscode.CancellationTokenSource | undefined;
  private backend = "inductor";
  private ways = false;

  constructor(context: Context, panel: vscode.WebviewPanel, private readonly chart: Chart, closed: () => void) {
    super(context, panel, "charts", null, closed, () => chart.about);
    panel.title = chart.title;
    this.disposables.push(vscode.workspace.onDidSaveTextDocument((document) => {
      const settled = this.charts !== undefined && this.state.kind === "shown";
      if (settled && document.uri.toString() === chart.about?.uri) this.tell({ kind: "shown", note: t("The file has been saved since; run again to see what it takes now.") });
    }));
  }

  reveal(): void {
    this.panel.reveal(undefined, true);
  }

  /** Has the daemon run the target or read the recording, and shows what came of it. */
  async run(): Promise<void> {
    this.running?.cancel();
    const running = new vscode.CancellationTokenSource();
    this.running = running;
    const mine = (): boolean => this.running === running;
    const tell = (state: PageState): void => { if (mine()) this.tell(state); };
    const order = this.chart.order(this.backend, this.ways);
    try {
      const answer = await carryOutIn(this.context, tell, order, running.token);
      if (answer && mine()) await this.take(order.title, answer);
    } catch (error) {
      tell({ kind: "failed", what: order.title, why: messageOf(error) });
    } finally {
      if (mine()) this.running = undefined;
      running.dispose();
    }
  }

  override dispose(): void {
    this.running?.cancel();
    this.context.overlays.set(this, undefined);
    super.dispose();
  }

  protected override async hear(message: Heard): Promise<void> {
    if (message.type === "cancel") {
      this.running?.cancel();
      return;
    }
    if (message.type === "chooseAccelerator") await vscode.commands.executeCommand("inductorDebug.chooseAccelerator");
    else if (message.type === "backend") this.backend = message.backend;
    else if (message.type === "ways") this.ways = true;
    await this.run();
  }

  protected override async filled(): Promise<void> {
    if (this.charts) await this.send({ type: "charts", charts: this.charts });
    await this.send({ type: "state", state: this.state, lacksAccelerator: this.lacksAccelerator });
  }

  private async take(what: string, answer: ChartAnswer): Promise<void> {
    const texts = await Promise.all(answer.artifacts.map(({ path }) => readFile(path, "utf8")));
    this.lacksAccelerator = answer.lacks_accelerator === true;
    if (texts.length > 0) {
      this.charts = chartsOf(answer.kind, texts, this.chart.runsBackends ? this.backend : undefined);
      await this.send({ type: "charts", charts: this.charts });
      const early = answer.reason ?? answer.notes.join(" ");
      this.tell({ kind: "shown", note: answer.reason == null ? early : t("As far as it came: {0}", early) });
      this.context.overlays.set(this, heatOfCharts(this.charts));
    } else if (this.lacksAccelerator) {
      this.charts = undefined;
      this.context.overlays.set(this, undefined);
      this.tell({ kind: "empty", why: reasonOf(answer) });
    } else this.tell({ kind: "failed", what, why: reasonOf(answer), place: answer.place ?? undefined });
  }

  private tell(state: PageState): void {
    this.state = state;
    void this.send({ type: "state", state, lacksAccelerator: this.lacksAccelerator });
  }
}

function chartsOf(kind: ChartAnswer["kind"], texts: readonly string[], backend: string | undefined): Charts {
  switch (kind) {
    case "memory":
      return { kind, documents: texts.map((text) => readWritten("MemoryDocument", text)) };
    case "roofline":
      return { kind, documents: texts.map((text) => readWritten("RooflineDocument", text)) };
    case "compile-time":
      return { kind, documents: texts.map((text) => readWritten("CompileTimeDocument", text)) };
    case "profile":
      return { kind, documents: texts.map((text) => readWritten("RunProfileDocument", text)), backend };
  }
}
