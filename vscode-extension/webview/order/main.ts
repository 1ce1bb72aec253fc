/** The page of an order: how far it is, and then what came of it. */

import { element } from "../shared/dom.js";
import { StateView } from "../shared/stateView.js";
import { setTranslations, t } from "../shared/words.js";
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
    if (data.type === "content") fill(content, data.html, (text) => { api.postMessage({ type: "copy", text }); });
    else {
      content.classList.toggle("goes-on", data.state.kind === "loading");
      state.show(data.state, content.childElementCount > 0);
    }
  });
  api.postMessage({ type: "ready" });
}

/** Shows the body of a document, or a part of one; command lines in it can be copied. The policy of the page lets no script in it run. */
function fill(content: HTMLElement, html: string, copy: (text: string) => void): void {
  content.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  for (const command of content.querySelectorAll("pre.command")) {
    const link = element("a", { href: "#", onclick: (event: Event) => { event.preventDefault(); copy(command.textContent); } }, t("Copy"));
    command.after(link);
  }
}

start();
