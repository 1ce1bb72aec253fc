/** What the page looks like, kept by VS Code while the tab is hidden and over a reload of the window. */

import type { App } from "./app.js";
import type { Host } from "./host.js";
import { nameOf } from "./model/table.js";
import { showTexts } from "./texts.js";
import { TEXTS } from "./view/paneHeader.js";

interface Remembered {
  readonly panes: readonly (string | undefined)[];
  readonly split: boolean;
  readonly texts?: boolean;
  readonly comparing: boolean;
  readonly cameras: readonly { readonly x: number; readonly y: number; readonly zoom: number }[];
  readonly open: Readonly<Record<string, readonly string[]>>;
  readonly selected: string | undefined;
}

let pending: ReturnType<typeof setTimeout> | undefined;
let restored = false;

/** Writes it down soon; what is remembered of the host itself (its key `host`) stays. */
export function keep(app: App, host: Host): void {
  if (host.kind !== "vscode" || !restored) return;
  clearTimeout(pending);
  pending = setTimeout(() => { host.write({ ...(host.read() as object | undefined), page: describe(app) }); }, 150);
}

/** Puts it back once, when the first documents have come. */
export async function restore(app: App, host: Host): Promise<void> {
  if (restored) return;
  restored = true;
  const state = (host.read() as { page?: Remembered } | undefined)?.page;
  if (!state) return;
  for (const { id } of app.library.entries) {
    const open = state.open[id];
    if (open) app.scenes.get(id)?.openByPaths(open);
  }
  const known = (id: string | undefined): id is string => id === TEXTS || app.library.entries.some((entry) => entry.id === id);
  const [first, second] = state.panes;
  if (state.split) await app.setSplit(true);
  if (state.texts === true) showTexts(app, true);
  if (known(first)) await app.show(0, first);
  if (state.split && known(second)) await app.show(1, second);
  if (state.split) app.setComparing(state.comparing);
  for (const [at, pane] of app.panes.entries()) {
    const scene = pane.scene;
    const open = scene && state.open[scene.entry.id];
    if (scene && open) {
      scene.openByPaths(open);
      await scene.update();
    }
    const camera = state.cameras[at];
    if (camera) pane.drawing.restoreCamera(camera);
  }
  const { scene } = app.panes[0];
  const selected = scene && state.selected !== undefined ? [...scene.entry.table.names.codes.keys()].find((node) => nameOf(scene.entry.table, node) === state.selected) : undefined;
  if (selected !== undefined) app.select(0, selected, false);
  app.redraw();
}

function describe(app: App): Remembered {
  const { scene } = app.panes[0];
  const selected = scene?.selected !== undefined && scene.selected < scene.entry.table.count ? nameOf(scene.entry.table, scene.selected) : undefined;
  return {
    panes: app.panes.map((pane) => (pane.showsText ? TEXTS : pane.scene?.entry.id)),
    split: app.split,
    texts: app.texts.shown,
    comparing: app.comparing,
    cameras: app.panes.map(({ drawing: { camera } }) => ({ x: camera.x, y: camera.y, zoom: camera.zoom })),
    open: Object.fromEntries([...app.scenes].map(([id, one]) => [id, one.openPaths()])),
    selected,
  };
}
