/** What keys and files do: the parts of the page that only pass something on. */

import { t } from "../shared/words.js";
import { pngOf, svgOf } from "./canvas/exports.js";
import { dotOf } from "./looks/dot.js";
import type { Item } from "./model/hierarchy.js";
import type { State } from "./state/state.js";
import { keyOf } from "./view/keys.js";
import type { Pane } from "./view/pane.js";
import type { ExportKind } from "./view/toolbar.js";
import type { Host } from "./wire/host.js";

/** What keys ask for, beside what the pane itself does; `at` is the pane. */
export interface KeyActions {
  select(at: number, item: Item | undefined, told: boolean): void;
  toggle(at: number, item: Item): void;
  open(at: number, item: Item): void;
  step(direction: 1 | -1, at: number): void;
  search(): void;
  outline(): void;
}

/** A key was pressed in the drawing of a pane. */
export function pressed(actions: KeyActions, { scene, drawing }: Pane, at: number, event: KeyboardEvent): void {
  const command = scene && keyOf(event, scene);
  if (!command) return;
  event.preventDefault();
  const item = scene.selected;
  switch (command.kind) {
    case "select":
      actions.select(at, command.item, true);
      return;
    case "toggle":
      if (item !== undefined) actions.toggle(at, item);
      return;
    case "open":
      if (item !== undefined) actions.open(at, item);
      return;
    case "fit":
      drawing.fit();
      return;
    case "in":
      drawing.zoomBy(1.3);
      return;
    case "out":
      drawing.zoomBy(1 / 1.3);
      return;
    case "search":
      actions.search();
      return;
    case "next":
      actions.step(1, at);
      return;
    case "previous":
      actions.step(-1, at);
      return;
    case "outline":
      actions.outline();
      return;
    case "clear":
      actions.select(at, undefined, false);
  }
}

/** Makes a file of the active pane's graph and gives it to the host. */
export async function exportAs(state: State, host: Host, kind: ExportKind): Promise<void> {
  const { library, theme, colouring, stand: { scene } } = state;
  if (!scene) return;
  const name = `${library.target}-${scene.entry.table.name}.${kind}`.replace(/[^\w.-]+/gu, "-");
  try {
    const content = kind === "dot" ? dotOf(scene.hierarchy) : kind === "svg" ? svgOf(scene, theme, colouring) : await pngOf(scene, theme, colouring);
    host.send({ type: "save", name, content });
  } catch (error) {
    state.say(t("The file could not be made: {0}", error instanceof Error ? error.message : String(error)));
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
