/**
 * The one way to a pop-up. Everything said here is in the output, too; a problem is told once until it is mended.
 *
 * Nothing is ever shown because the extension started, and nothing that concerns a model: those are diagnostics.
 */

import * as vscode from "vscode";

/** A button below a message: what it says and what it does. */
export interface Action {
  readonly title: string;
  run(): unknown;
}

type Level = "error" | "warning" | "information";

export class Notifications {
  private readonly known = new Map<string, string>();

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** A problem that keeps the tool from working. `subject` says which, so that the same is not told twice. */
  error(subject: string, message: string, ...actions: Action[]): void {
    this.tell("error", subject, message, actions);
  }

  /** Something the user should know, though the tool goes on. */
  warning(subject: string, message: string, ...actions: Action[]): void {
    this.tell("warning", subject, message, actions);
  }

  /** The answer to something the user has just asked for; shown whatever the settings say. */
  answer(message: string, ...actions: Action[]): void {
    this.log.info(message);
    void this.show("information", message, actions);
  }

  /** Whether the user wants what `action` says, asked before anything that changes their machine. */
  async agrees(question: string, detail: string, action: string): Promise<boolean> {
    return (await vscode.window.showInformationMessage(question, { modal: true, detail }, action)) === action;
  }

  /** The user has learned of the problem in another way. */
  told(subject: string): void {
    this.known.set(subject, "");
  }

  /** Whether the user knows of the problem, in whatever words. */
  isTold(subject: string): boolean {
    return this.known.has(subject);
  }

  /** The problem is gone: should it come back, it is told again. */
  mended(subject: string): void {
    this.known.delete(subject);
  }

  private tell(level: Level, subject: string, message: string, actions: readonly Action[]): void {
    if (this.known.get(subject) === message) return;
    this.known.set(subject, message);
    if (level === "error") this.log.error(message);
    else this.log.warn(message);
    const wanted = vscode.workspace.getConfiguration("inductorDebug").get<string>("showNotifications", "onError");
    if (wanted === "off" || (wanted === "onError" && level !== "error")) return;
    void this.show(level, message, actions);
  }

  private async show(level: Level, message: string, actions: readonly Action[]): Promise<void> {
    const output = { title: vscode.l10n.t("Show Output"), run: () => { this.log.show(true); } };
    const offered = level === "information" ? actions : [...actions, output];
    const titles = offered.map((action) => action.title);
    const text = message.startsWith("Inductor Debug") ? message : `Inductor Debug: ${message}`;
    const chosen =
      level === "error"
        ? await vscode.window.showErrorMessage(text, ...titles)
        : level === "warning"
          ? await vscode.window.showWarningMessage(text, ...titles)
          : await vscode.window.showInformationMessage(text, ...titles);
    await offered.find((action) => action.title === chosen)?.run();
  }
}
