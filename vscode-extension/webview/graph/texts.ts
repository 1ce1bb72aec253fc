/** Kernels, IR and sources: where they stand, and what a click in them does. */

import type { App } from "./app.js";
import { keep } from "./remembered.js";
import { CodeView } from "./view/codeView.js";

export function makeCode(app: App): CodeView {
  const { host } = app;
  return new CodeView({
    reveal: (place) => { app.following.reveal(place, true); },
    lightKernel: (kernel) => { app.following.lightKernel(kernel); },
    lightPlace: ({ path, range }) => { app.following.cursor(path, range.start.line, range.start.character); },
    open: host.kind === "vscode" ? (text): void => { host.send({ type: "openText", text: { title: text.title, language: text.language, text: text.text, links: text.links } }); } : undefined,
  });
}

/** Shows or hides the pane for texts beside the graphs. */
export function showTexts(app: App, shown: boolean): void {
  if (shown) app.loading.askFor("kernels");
  app.texts.show(shown);
  app.toolbar.setTexts(shown);
  app.following.again();
  keep(app, app.host);
}

/** The texts on show. */
export function textsOnShow({ panes, texts, split }: App): CodeView[] {
  const inPanes = panes.filter(({ showsText }, at) => showsText && (at === 0 || split));
  return [...(texts.shown ? [texts] : []), ...inPanes].map(({ code }) => code);
}
