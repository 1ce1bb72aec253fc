/**
 * A tab with a page of ours. It sends only after the page has said `ready`, again after every reload of it; what the page says goes to
 * `hear`.
 */

import * as vscode from "vscode";

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { CellsMessage } from "../../webview/shared/cells.js";
import type { Context } from "../services/context.js";
import { messageOf } from "../orders/orders.js";
import { onDidShowInCells, revealPlace, shownCells } from "../common/places.js";
import type { About } from "../services/activePages.js";
import { type Page, pageOf } from "./pageHtml.js";

/** What every page says beside its own. */
type Common = { readonly type: "ready" } | { readonly type: "reveal"; readonly place: Location; readonly focus: boolean };

export abstract class PageTab<FromPage extends { readonly type: string }, ToPage> implements vscode.Disposable {
  protected ready = false;
  protected readonly disposables: vscode.Disposable[] = [];

  /** `kept` is what VS Code keeps of the tab over a restart; `about` says what it is of; `commands` are those that its links may run. */
  constructor(protected readonly context: Context, protected readonly panel: vscode.WebviewPanel, private readonly page: Page, private readonly kept: unknown, private readonly closed: () => void, about: () => About | undefined, commands: readonly string[] = []) {
    const { extensionUri } = context.extension;
    panel.webview.options = { enableScripts: true, enableCommandUris: commands, localResourceRoots: [vscode.Uri.joinPath(extensionUri, "out")] };
    panel.iconPath = vscode.Uri.joinPath(extensionUri, "media", "view.svg");
    this.disposables.push(
      context.activePages.add(panel, about),
      panel.webview.onDidReceiveMessage((message: FromPage | Common) => {
        this.receive(message).catch((error: unknown) => { context.notifications.answer(`${panel.title}: ${messageOf(error)}`); });
      }),
      panel.onDidDispose(() => { this.dispose(); }),
      onDidShowInCells(() => { if (this.ready) void this.sendCells(); }),
    );
    this.load();
  }

  /** Loads the page anew: it says `ready` again. */
  protected load(): void {
    this.ready = false;
    this.panel.webview.html = pageOf(this.panel.webview, this.context.extension, this.kept, this.page);
  }

  dispose(): void {
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
    this.closed();
  }

  /** The page has just been loaded: sends all that it shows. */
  protected abstract filled(): Promise<void>;

  protected abstract hear(message: FromPage): Promise<void>;

  protected async send(message: ToPage): Promise<void> {
    if (this.ready) await this.panel.webview.postMessage(message);
  }

  private async sendCells(): Promise<void> {
    await this.panel.webview.postMessage({ type: "cells", cells: shownCells() } satisfies CellsMessage);
  }

  private async receive(message: FromPage | Common): Promise<void> {
    if (isCommon(message)) {
      if (message.type === "reveal") await revealPlace(message.place, message.focus);
      else {
        this.ready = true;
        if (shownCells().length > 0) await this.sendCells();
        await this.filled();
      }
    } else await this.hear(message);
  }
}

function isCommon(message: { readonly type: string }): message is Common {
  return message.type === "ready" || message.type === "reveal";
}
