/**
 * What is known of each open document: the daemon's newest notification and the findings on show. Views only read it.
 *
 * Findings of the last run stay while a newer one runs; `Analysis.outdated` says that they are of an older text. The order of
 * the notifications is the daemon's (it drops what is stale), so the newest is simply the last one.
 */

import * as vscode from "vscode";

import type { AnalysisNotification, FindingData, TargetReport } from "../../../shared_schema/generated/wire.js";
import { readPartOf } from "../../webview/shared/wire.js";
import type { Session } from "../server/session.js";
import { SessionState } from "../server/state.js";
import { isNotebook, showInCells } from "../common/places.js";
import { Soon } from "../common/soon.js";

export interface Analysis {
  readonly uri: vscode.Uri;
  readonly notification: AnalysisNotification;
  /** The targets to show: those of the last run until the running one has some. */
  readonly targets: readonly TargetReport[];
  /** When the editor learned of the run that is going on (milliseconds), or of the last one. */
  readonly since: number;
}

const BUSY = new Set(["queued", "running"]);

export class Analyses implements vscode.Disposable {
  private readonly known = new Map<string, Analysis>();
  private readonly found = new Map<string, readonly vscode.Diagnostic[]>();
  private readonly shownIn = new WeakMap<vscode.Diagnostic, vscode.Uri>();
  /** By document: the newest generation that has brought findings of its own. */
  private readonly refreshed = new Map<string, number>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri | undefined>();
  private readonly context = new Soon(() => { void vscode.commands.executeCommand("setContext", "inductorDebug.busy", this.busy); });
  private readonly disposables: vscode.Disposable[] = [this.changed, this.context];

  /** Something about a document, or (undefined) about all of them, is new. */
  readonly onDidChange = this.changed.event;

  constructor(session: Session) {
    this.disposables.push(
      session.onAnalysis((notification) => { this.hear(notification); }),
      session.onDiagnostics(([uri, diagnostics]) => { this.show(uri, diagnostics); }),
      session.onDidChangeState((state) => { if (state !== SessionState.Running) this.clear(); }),
      vscode.workspace.onDidCloseTextDocument((document) => { this.forget(document.uri); }),
      vscode.workspace.onDidCloseNotebookDocument(({ uri }) => {
        showInCells(uri, []);
        this.forget(uri);
      }),
    );
  }

  get(uri: vscode.Uri): Analysis | undefined {
    return this.known.get(uri.toString());
  }

  all(): readonly Analysis[] {
    return [...this.known.values()];
  }

  /** The findings on show in a document; in a notebook those in its cells, one after the other. */
  findings(uri: vscode.Uri): readonly vscode.Diagnostic[] {
    if (!isNotebook(uri)) return this.found.get(uri.toString()) ?? [];
    const cells = vscode.workspace.notebookDocuments.find((notebook) => notebook.uri.toString() === uri.toString())?.getCells() ?? [];
    return cells.flatMap(({ document }) => this.findings(document.uri));
  }

  /** The document that shows a finding: a cell, where it is one of a notebook. */
  shownBy(finding: vscode.Diagnostic, analysed: vscode.Uri): vscode.Uri {
    return this.shownIn.get(finding) ?? analysed;
  }

  /** Whether the findings on show are of an older run: the going one has not brought any yet. */
  showsOlder(analysis: Analysis): boolean {
    return isOutdated(analysis) && this.refreshed.get(analysis.uri.toString()) !== analysis.notification.generation;
  }

  /** Whether any document is being analysed. */
  get busy(): boolean {
    return this.all().some(isBusy);
  }

  dispose(): void {
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
  }

  private hear(notification: AnalysisNotification): void {
    const uri = vscode.Uri.parse(notification.uri);
    if (isNotebook(uri)) showInCells(uri, notification.cells ?? []);
    if (notification.state === "gone") {
      this.forget(uri);
      return;
    }
    const before = this.known.get(uri.toString());
    const wasBusy = before !== undefined && isBusy(before);
    const busy = BUSY.has(notification.state);
    const targets = notification.targets ?? [];
    this.known.set(uri.toString(), {
      uri,
      notification,
      targets: busy && targets.length === 0 ? (before?.targets ?? []) : targets,
      since: wasBusy && before.notification.generation === notification.generation ? before.since : Date.now(),
    });
    this.tell(uri);
  }

  private show(uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]): void {
    for (const diagnostic of diagnostics) this.shownIn.set(diagnostic, uri);
    if (diagnostics.length > 0) this.found.set(uri.toString(), diagnostics);
    else this.found.delete(uri.toString());
    // Diagnostics come before the notification of their state: those before "running" are the old ones, moved.
    const known = this.known.get(uri.toString())?.notification;
    if (known?.state === "running") this.refreshed.set(uri.toString(), known.generation);
    this.tell(uri);
  }

  private forget(uri: vscode.Uri): void {
    if (this.known.delete(uri.toString())) this.tell(uri);
  }

  private clear(): void {
    this.known.clear();
    this.found.clear();
    this.refreshed.clear();
    this.tell(undefined);
  }

  private tell(uri: vscode.Uri | undefined): void {
    this.context.request();
    this.changed.fire(uri);
  }
}

/** The targets that can be run; of others nobody knows the inputs. */
export function readyTargets(analysis: Analysis | undefined): readonly TargetReport[] {
  return (analysis?.targets ?? []).filter(({ inferred }) => !inferred?.reason);
}

/** Whether the document waits for its analysis or is being analysed. */
export function isBusy(analysis: Analysis): boolean {
  return BUSY.has(analysis.notification.state);
}

/** Whether the findings on show are of an older text than the one in the editor. */
export function isOutdated(analysis: Analysis): boolean {
  return isBusy(analysis) || analysis.notification.state === "stale";
}

/** What a finding carries beside its diagnostic; nothing, where another tool has made that. */
export function dataOf(diagnostic: vscode.Diagnostic): Partial<FindingData> {
  return readPartOf("FindingData", "data" in diagnostic ? diagnostic.data : undefined);
}

/** The rule of a finding. */
export function ruleNameOf(diagnostic: vscode.Diagnostic): string {
  const { code } = diagnostic;
  return String(typeof code === "object" ? code.value : (code ?? ""));
}
