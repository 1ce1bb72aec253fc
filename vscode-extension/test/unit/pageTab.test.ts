/** A tab with a page: what goes wrong with what its reader has asked for is told. */

import type * as vscode from "vscode";
import { expect, test } from "vitest";

import type { Context } from "../../src/services/context.js";
import { ActivePages } from "../../src/services/activePages.js";
import { PageTab } from "../../src/pages/pageTab.js";
import { Uri } from "./vscode.js";

class Page extends PageTab<{ type: "ask" }, { type: "shown" }> {
  protected override filled(): Promise<void> {
    return this.send({ type: "shown" });
  }

  protected override hear(): Promise<void> {
    return Promise.reject(new Error("model.py is gone"));
  }
}

test("a page is filled when it is ready, and a click that leads nowhere is told", async () => {
  const told: string[] = [];
  const sent: unknown[] = [];
  let say: (message: unknown) => void = () => undefined;
  const webview = { asWebviewUri: (uri: unknown) => uri, cspSource: "self", postMessage: (message: unknown) => Promise.resolve(sent.push(message)), onDidReceiveMessage: (heard: typeof say) => { say = heard; } };
  const panel = { title: "Graph: Net", webview, onDidDispose: () => undefined } as unknown as vscode.WebviewPanel;
  const context = { activePages: new ActivePages(), extension: { extensionUri: Uri.file("/extension") }, notifications: { answer: (text: string) => told.push(text) } } as unknown as Context;
  new Page(context, panel, "graph", {}, () => undefined, () => ({ uri: "file:///model.py" }));
  say({ type: "ready" });
  say({ type: "ask" });
  await new Promise(setImmediate);
  expect(sent).toEqual([{ type: "shown" }]);
  expect(told).toEqual(["Graph: Net: model.py is gone"]);
});
