/**
 * The entry of the page. In VS Code it says `ready` and the extension answers with what to show; in a browser the documents stand in the page
 * itself, put there by the daemon (`inductor_debug/report/charts/charts_html.py`).
 */

import { hearOfCells } from "../shared/hearOfCells.js";
import { ownData } from "../shared/ownData.js";
import { setTranslations } from "../shared/words.js";
import { App } from "./app.js";
import type { Charts, ToHost, ToPage } from "./messages.js";

declare function acquireVsCodeApi(): { postMessage(message: ToHost): void };

function start(): void {
  const translations = document.getElementById("translations")?.textContent ?? "";
  if (translations.trim() !== "") setTranslations(JSON.parse(translations) as Record<string, string>);
  hearOfCells();
  if (typeof acquireVsCodeApi === "function") {
    const api = acquireVsCodeApi();
    const app = new App((message) => { api.postMessage(message); });
    addEventListener("message", (event: MessageEvent<ToPage>) => { app.hear(event.data); });
    api.postMessage({ type: "ready" });
  } else showOwn(new App(undefined));
}

function showOwn(app: App): void {
  const charts = ownData() as Charts | undefined;
  if (charts) app.show(charts);
}

start();
