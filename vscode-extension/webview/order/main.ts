/** The page of an order: how far it is, and then what came of it. */

import { element } from "../shared/dom.js";
import { StateView } from "../shared/stateView.js";
import { setTranslations } from "../shared/words.js";
import type { ToHost, ToPage } from "./messages.js";

declare function acquireVsCodeApi(): { postMessage(message: ToHost): void };

function start(): void {
  const api = acquireVsCodeApi();
  const translations = document.getElementById("translations")?.textContent ?? "";
  if (translations.trim() !== "") setTranslations(JSON.parse(translations) as Record<string, string>);
  const content = element("main");
  const state = new StateView({
    cancel: () => { api.postMessage({ type: "cancel" }); },
    retry: () => { api.postMessage({ type: "retry" }); },
    reveal: (place) => { api.postMessage({ type: "reveal", place, focus: true }); },
  });
  document.body.append(state.element, content);
  addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    if (data.type === "content") content.innerHTML = data.html; // the policy of the page lets no script in it run
    else state.show(data.state, content.childElementCount > 0);
  });
  api.postMessage({ type: "ready" });
}

start();
