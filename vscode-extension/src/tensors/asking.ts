/**
 * Asks the daemon for the tensors at a line, page by page. A newer question cancels the one before: only the last answer counts.
 */

import * as vscode from "vscode";

import type { LineTensors } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../services/context.js";

/** What is asked: a zero-based line, and which of its runs. */
export interface Question {
  readonly uri: vscode.Uri;
  readonly line: number;
  readonly target: string;
  readonly call: number;
  readonly module: string;
}

/** More rows than anybody reads are not asked for. */
const MOST_ROWS = 3000;

export class Asking implements vscode.Disposable {
  private running: vscode.CancellationTokenSource | undefined;

  constructor(private readonly context: Pick<Context, "session">) {}

  /** Tells every page of the answer as it comes; undefined where the daemon does not run. Nothing is told once a newer question was asked. */
  async ask({ uri, ...rest }: Question, tell: (page: LineTensors | undefined) => void): Promise<void> {
    this.cancel();
    const running = new vscode.CancellationTokenSource();
    this.running = running;
    try {
      for (let first = 0, wanted = 1; first < wanted; ) {
        const page = await this.context.session.perform("inductorDebug.tensors", { uri: uri.toString(), ...rest, first }, running.token, () => undefined);
        if (this.running !== running) return;
        tell(page);
        const found = page?.rows?.length ?? 0;
        wanted = found === 0 ? 0 : Math.min(page?.row_count ?? 0, MOST_ROWS);
        first += found;
      }
    } catch (error) {
      if (this.running === running && !(error instanceof vscode.CancellationError)) throw error;
    } finally {
      if (this.running === running) this.running = undefined;
      running.dispose();
    }
  }

  cancel(): void {
    this.running?.cancel();
    this.running = undefined;
  }

  dispose(): void {
    this.cancel();
  }
}
