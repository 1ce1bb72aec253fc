/**
 * The host of a page in a browser, in place of VS Code: it stands before the page's own script, hands messages to the page around it, and says
 * which theme there is as VS Code would. The page around sends with `postMessage`, as VS Code does.
 */

import { themeNow, watchChoice } from "./theme.js";

let kept: unknown;

Object.assign(globalThis, {
  acquireVsCodeApi: () => ({
    postMessage: (message: unknown) => { parent.postMessage(message, location.origin); },
    getState: () => kept,
    setState: (state: unknown) => { kept = state; },
  }),
});

function applyTheme(): void {
  const theme = themeNow();
  document.documentElement.dataset["theme"] = theme;
  const { body } = document as { body: HTMLElement | null };
  body?.classList.toggle("vscode-dark", theme === "dark");
  body?.classList.toggle("vscode-light", theme === "light");
}

applyTheme();
const awaitingBody = new MutationObserver(() => {
  if (!(document as { body: HTMLElement | null }).body) return;
  awaitingBody.disconnect();
  applyTheme();
});
awaitingBody.observe(document.documentElement, { childList: true });
watchChoice(applyTheme);

/** Links to places in pages that the daemon has written go to the source that is shown beside. */
addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[data-range]") : null;
  if (!link) return;
  event.preventDefault();
  parent.postMessage({ type: "place", href: link.getAttribute("href") ?? "", range: link.getAttribute("data-range") ?? "" }, location.origin);
});
