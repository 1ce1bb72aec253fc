/**
 * The language status (the braces beside "Python" in the status bar): what is being done and for how long, what was found, which
 * torch and which accelerator. Three items, because each has one command: cancel or output, choose the interpreter, choose the accelerator.
 */

import * as vscode from "vscode";

import { NO_ACCELERATOR, titleOfNone } from "../accelerator/accelerator.js";
import type { Analyses, Analysis } from "../services/analyses.js";
import { isBusy } from "../services/analyses.js";
import type { Context } from "../services/context.js";
import type { Session } from "../server/session.js";
import { SessionState } from "../server/state.js";
import { analysedUri, isCell } from "../common/places.js";
import { SECTION } from "../common/settings.js";
import { Soon } from "../common/soon.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;
const SELECTOR: vscode.DocumentSelector = [{ language: "python" }];
const TICK = 1000;

export function activate(context: Context): void {
  const status = new Status(context.session, context.analyses);
  const redraw = new Soon(() => { status.update(); });
  context.extension.subscriptions.push(
    status,
    redraw,
    context.session.onDidChangeState(() => { status.update(); }),
    context.analyses.onDidChange(() => { redraw.request(); }),
    vscode.window.onDidChangeActiveTextEditor(() => { status.update(); }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(SECTION)) status.update();
    }),
  );
  status.update();
}

class Status implements vscode.Disposable {
  // VS Code sorts them by these ids.
  private readonly state = vscode.languages.createLanguageStatusItem("inductorDebug.analysis", SELECTOR);
  private readonly accelerator = vscode.languages.createLanguageStatusItem("inductorDebug.device", SELECTOR);
  private readonly server = vscode.languages.createLanguageStatusItem("inductorDebug.python", SELECTOR);
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly session: Session,
    private readonly analyses: Analyses,
  ) {
    this.state.name = t("Inductor Debug: Analysis");
    this.server.name = t("Inductor Debug: Daemon");
    this.accelerator.name = t("Inductor Debug: Accelerator");
  }

  update(): void {
    const document = vscode.window.activeTextEditor?.document;
    const analysis = document && this.analyses.get(analysedUri(document.uri));
    this.updateState(document, analysis);
    this.updateServer();
    this.updateAccelerator(document, analysis);
    const busy = analysis !== undefined && isBusy(analysis);
    if (busy && !this.timer) this.timer = setInterval(() => { this.update(); }, TICK);
    if (!busy) {
      clearInterval(this.timer);
      this.timer = undefined;
    }
  }

  dispose(): void {
    clearInterval(this.timer);
    for (const item of [this.state, this.server, this.accelerator]) item.dispose();
  }

  private updateState(document: vscode.TextDocument | undefined, analysis: Analysis | undefined): void {
    const { state } = this;
    const { Error, Warning, Information } = vscode.LanguageStatusSeverity;
    state.busy = this.session.state === SessionState.Starting || (analysis !== undefined && isBusy(analysis));
    state.severity = Information;
    state.detail = "";
    state.command = { command: "inductorDebug.showOutput", title: t("Output") };
    if (this.session.state === SessionState.Failed) {
      state.text = t("Inductor Debug is not running");
      state.detail = t("the output says why");
      state.severity = Error;
      return;
    }
    if (this.session.state !== SessionState.Running) {
      state.text = t("Inductor Debug is starting");
      return;
    }
    if (!analysis && document && isCell(document.uri)) {
      state.text = t("Inductor Debug: cells are checked as you run them");
      state.detail = t("or all together, as they stand");
      state.command = { command: "inductorDebug.checkNotebook", title: t("Check All") };
      return;
    }
    if (!analysis || document?.isUntitled) {
      state.text = t("Inductor Debug: not checked");
      state.detail = document?.isUntitled ? t("save the file to have it checked: a check runs it, and imports need its folder") : "";
      state.command = { command: "inductorDebug.checkFile", title: t("Check") };
      return;
    }
    const { notification } = analysis;
    if (isBusy(analysis)) {
      state.text = progressText(analysis);
      state.detail = words.seconds(Math.max(0, Date.now() - analysis.since) / 1000);
      state.command = { command: "inductorDebug.cancelAnalysis", title: t("Cancel") };
      return;
    }
    state.text = settledText(analysis);
    state.detail = notification.state === "done" ? words.seconds(notification.seconds) : (notification.cause ?? "");
    if (notification.state === "failed") state.severity = Warning;
    if (notification.state !== "done") state.command = { command: "inductorDebug.checkFile", title: t("Check") };
  }

  private updateServer(): void {
    const { interpreter, versions } = this.session;
    const known = versions.torch !== "" ? t("torch {0}", versions.torch) : t("no torch");
    this.server.text = versions.python === "" ? t("torch: not known yet") : known;
    this.server.detail = interpreter ? shortened(interpreter.path) : t("no interpreter");
    const missing = versions.python !== "" && versions.torch === "";
    this.server.severity =
      missing || !interpreter ? vscode.LanguageStatusSeverity.Error : vscode.LanguageStatusSeverity.Information;
    this.server.command = { command: "inductorDebug.chooseInterpreter", title: t("Choose") };
  }

  private updateAccelerator(document: vscode.TextDocument | undefined, analysis: Analysis | undefined): void {
    const set = vscode.workspace.getConfiguration(SECTION, document?.uri ?? null).get<string>("accelerator", "");
    const said = analysis?.notification.accelerator;
    this.accelerator.text = t("Accelerator: {0}", said === null ? titleOfNone() : shownName(said === undefined || said === "" ? set : said));
    this.accelerator.command = { command: "inductorDebug.chooseAccelerator", title: t("Choose") };
  }
}

/** What a setting names, in a few words: a profile without its folders. */
function shownName(set: string): string {
  if (set === NO_ACCELERATOR) return titleOfNone();
  return set === "" ? t("default") : (set.split(/[/\\]/u).at(-1) ?? set);
}

function progressText(analysis: Analysis): string {
  const { state, stage } = analysis.notification;
  if (state === "queued") return t("Inductor Debug: waiting");
  if (stage === "load") return t("Inductor Debug: loading the file");
  return stage ? t("Inductor Debug: {0}", words.stage(stage)) : t("Inductor Debug: checking");
}

function settledText(analysis: Analysis): string {
  const { notification } = analysis;
  switch (notification.state) {
    case "done":
      return t("Inductor Debug: {0}", words.outcome(notification, analysis.targets));
    case "cancelled":
      return t("Inductor Debug: cancelled");
    case "stale":
      return t("Inductor Debug: {0} in an earlier text", words.outcome(notification, analysis.targets));
    default:
      return t("Inductor Debug: the check failed");
  }
}

/** The end of a path says more than its beginning. */
function shortened(path: string): string {
  const parts = path.split(/[/\\]/u);
  return parts.length > 4 ? ["…", ...parts.slice(-4)].join("/") : path;
}
