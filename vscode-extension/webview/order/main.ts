/** The page of an order: how far it is, and then what came of it. */

import { element } from "../shared/dom.js";
import { StateView } from "../shared/stateView.js";
import { hearOfCells } from "../shared/hearOfCells.js";
import { setTranslations, t } from "../shared/words.js";
import type { ToHost, ToPage } from "./messages.js";

declare function acquireVsCodeApi(): { postMessage(message: ToHost): void };

function start(): void {
  const api = acquireVsCodeApi();
  const translations = document.getElementById("translations")?.textContent ?? "";
  if (translations.trim() !== "") setTranslations(JSON.parse(translations) as Record<string, string>);
  hearOfCells();
  const content = element("main");
  const state = new StateView({
    cancel: () => { api.postMessage({ type: "cancel" }); },
    retry: () => { api.postMessage({ type: "retry" }); },
    reveal: (place) => { api.postMessage({ type: "reveal", place, focus: true }); },
  });
  document.body.append(state.element, content);
  addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    if (data.type === "content") fill(content, data.html, api.postMessage.bind(api));
    else {
      content.classList.toggle("goes-on", data.state.kind === "loading");
      state.show(data.state, content.childElementCount > 0);
    }
  });
  api.postMessage({ type: "ready" });
}

const VALUES = [0, 4, 16, 64];

/** Shows the body of a document, or a part of one; command lines in it can be copied, and how many values are shown can be chosen. The policy of the page lets no script in it run. */
function fill(content: HTMLElement, html: string, tell: (message: ToHost) => void): void {
  content.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  for (const command of content.querySelectorAll("pre.command")) {
    const link = element("a", { href: "#", onclick: (event: Event) => { event.preventDefault(); tell({ type: "copy", text: command.textContent }); } }, t("Copy"));
    command.after(link);
  }
  for (const place of content.querySelectorAll<HTMLElement>("span[data-values]")) {
    const shown = Number(place.dataset["values"]);
    const counts = [...new Set([...VALUES, shown])].sort((one, other) => one - other);
    const options = counts.map((count) => element("option", { value: count, selected: count === shown }, count === 0 ? t("no values") : t("{0} first, last and differing", String(count))));
    const choice = element("select", { onchange: () => { tell({ type: "values", count: Number(choice.value) }); } }, ...options);
    place.replaceChildren(element("label", {}, t("Of each tensor: "), choice));
  }
}

start();
