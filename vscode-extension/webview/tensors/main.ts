/** Begins the tensor view: translations, what was remembered, and the way to the extension. */

import { hearOfCells } from "../shared/hearOfCells.js";
import { setTranslations } from "../shared/words.js";
import { type Remembered, TensorView } from "./app.js";
import type { ToHost, ToPage } from "./messages.js";

declare function acquireVsCodeApi(): { postMessage(message: ToHost): void; getState(): Remembered | undefined; setState(state: Remembered): void };

const api = acquireVsCodeApi();
const translations = document.getElementById("translations")?.textContent ?? "";
if (translations.trim() !== "") setTranslations(JSON.parse(translations) as Record<string, string>);
hearOfCells();
const view = new TensorView(
  (message) => { api.postMessage(message); },
  api.getState() ?? { order: "line", closed: ["saved", "parameter", "buffer"] },
  (state) => { api.setState(state); },
);
addEventListener("message", ({ data }: MessageEvent<ToPage>) => { view.hear(data); });
api.postMessage({ type: "ready" });
