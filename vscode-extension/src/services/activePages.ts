/** Which page of ours is used now, and what it is of: a command of the palette is about that then, as it is about the editor's file otherwise. */

import type * as vscode from "vscode";

/** A file, and the target in it where the page is of one. */
export interface About {
  readonly uri: string;
  readonly target?: string;
}

export class ActivePages {
  private readonly pages = new Map<vscode.WebviewPanel, () => About | undefined>();

  /** Knows a page until it is disposed of; `about` is asked whenever somebody wants to know. */
  add(panel: vscode.WebviewPanel, about: () => About | undefined): vscode.Disposable {
    this.pages.set(panel, about);
    return { dispose: () => { this.pages.delete(panel); } };
  }

  /** What the page with the focus is of; undefined where none has it. */
  get about(): About | undefined {
    for (const [panel, about] of this.pages) if (panel.active) return about();
    return undefined;
  }
}
