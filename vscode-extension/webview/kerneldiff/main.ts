/** The entry of the KernelDiff page: says `ready`, and shows what the extension answers. */

import { hearOfCells } from "../shared/hearOfCells.js";
import { setTranslations } from "../shared/words.js";
import { App } from "./app.js";
import type { ToPage } from "./messages.js";

interface VsCode {
  postMessage(message: unknown): void;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCode;

function start(): void {
  const api = acquireVsCodeApi();
  const translations = document.getElementById("translations")?.textContent ?? "";
  if (translations.trim() !== "") setTranslations(JSON.parse(translations) as Record<string, string>);
  hearOfCells();
  const remember = (subject: unknown): void => { api.setState({ subject }); }; // for a restart of VS Code
  remember(JSON.parse(document.getElementById("subject")?.textContent ?? "null") as unknown);
  const app = new App((message) => { api.postMessage(message); });
  addEventListener("message", (event: MessageEvent<ToPage>) => {
    if (event.data.type === "comparison") remember(event.data.subject);
    app.hear(event.data);
  });
  api.postMessage({ type: "ready" });
}

start();
