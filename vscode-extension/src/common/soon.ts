/**
 * Puts off what may come a moment later. Updates of an analysis come in bursts while its findings are on their way to the screen;
 * whatever else is redrawn then would keep the window from showing them.
 */

import type * as vscode from "vscode";

const PATIENCE = 200;

export class Soon implements vscode.Disposable {
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly run: () => void) {}

  /** Runs it in a moment: once, however often this is called until then. */
  request(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.run();
    }, PATIENCE);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
