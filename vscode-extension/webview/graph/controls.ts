/** What keys and files do: the parts of the app that only pass something on. */

import { t } from "../shared/words.js";
import type { App } from "./app.js";
import { dotOf } from "./model/dot.js";
import { pngOf, svgOf } from "./view/exports.js";
import { keyOf } from "./view/keys.js";
import type { Theme } from "./view/theme.js";
import type { ExportKind } from "./view/toolbar.js";

/** A key was pressed in the drawing of a pane. */
export function pressed(app: App, at: number, event: KeyboardEvent): void {
  const pane = app.panes[at];
  const scene = pane?.scene;
  const command = scene && keyOf(event, scene);
  if (!command) return;
  event.preventDefault();
  const item = scene.selected;
  switch (command.kind) {
    case "select":
      app.select(at, command.item, true);
      return;
    case "toggle":
      if (item !== undefined) app.toggle(at, item);
      return;
    case "open":
      if (item !== undefined) app.open(at, item);
      return;
    case "fit":
      pane.drawing.fit();
      return;
    case "in":
      pane.drawing.zoomBy(1.3);
      return;
    case "out":
      pane.drawing.zoomBy(1 / 1.3);
      return;
    case "search":
      app.toolbar.search.focus();
      app.toolbar.search.select();
      return;
    case "next":
      app.step(1, at);
      return;
    case "previous":
      app.step(-1, at);
      return;
    case "outline":
      app.outline.element.focus();
      return;
    case "clear":
      app.select(at, undefined, false);
  }
}

/** Makes a file of the active pane's graph and gives it to the host. */
export async function exportAs(app: App, kind: ExportKind, theme: Theme): Promise<void> {
  const { scene, drawing } = app.pane;
  if (!scene) return;
  const name = `${app.library.target}-${scene.entry.table.name}.${kind}`.replace(/[^\w.-]+/gu, "-");
  try {
    const content = kind === "dot" ? dotOf(scene.hierarchy) : kind === "svg" ? svgOf(scene, theme, drawing.colouring) : await pngOf(scene, theme, drawing.colouring);
    app.host.send({ type: "save", name, content });
  } catch (error) {
    app.say(t("The file could not be made: {0}", error instanceof Error ? error.message : String(error)));
  }
}

/** In a window as narrow as that (`graph.css` has the same number) one side column at a time leaves room for the graph. */
const ROOM_FOR_ONE = 560;

/** The offline page's own themes. */
export function switchTheme(): void {
  const { dataset } = document.documentElement;
  const dark = (dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  dataset["theme"] = dark ? "light" : "dark";
}

/** Shows or hides a side column. Narrow windows hide them by themselves, so what counts is what one sees. */
export function toggleSide(main: HTMLElement, column: HTMLElement, name: "outline" | "details"): void {
  const seen = column.offsetParent !== null;
  if (!seen && innerWidth <= ROOM_FOR_ONE) main.classList.remove(name === "outline" ? "with-details" : "with-outline");
  main.classList.toggle(`no-${name}`, seen);
  main.classList.toggle(`with-${name}`, !seen);
}
