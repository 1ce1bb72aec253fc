/** What the page looks like, kept by VS Code while the tab is hidden and over a reload of the window. */

import type { Item } from "./model/hierarchy.js";
import { indexOfNames } from "./model/table.js";
import { type State, TEXTS } from "./state/state.js";
import type { Pane } from "./view/pane.js";
import type { Host } from "./wire/host.js";

interface Remembered {
  readonly panes: readonly (string | undefined)[];
  readonly split: boolean;
  readonly texts?: boolean;
  readonly comparing: boolean;
  readonly cameras: readonly { readonly x: number; readonly y: number; readonly zoom: number }[];
  readonly open: Readonly<Record<string, readonly string[]>>;
  readonly selected: string | undefined;
}

/** Who makes the page look so again. */
export interface Restorer {
  show(at: number, id: string): Promise<void>;
  setSplit(split: boolean): Promise<void>;
  setComparing(comparing: boolean): void;
  showTexts(shown: boolean): void;
  select(at: number, item: Item, told: boolean): void;
}

export class Remembering {
  private pending: ReturnType<typeof setTimeout> | undefined;
  private restored = false;

  constructor(
    private readonly state: State,
    private readonly panes: readonly [Pane, Pane],
    private readonly host: Host,
    private readonly restorer: Restorer,
  ) {}

  /** Writes it down soon; what is remembered of the host itself (its key `host`) stays. */
  keep(): void {
    const { host } = this;
    if (host.kind !== "vscode" || !this.restored) return;
    clearTimeout(this.pending);
    this.pending = setTimeout(() => { host.write({ ...(host.read() as object | undefined), page: this.describe() }); }, 150);
  }

  /** Puts it back once, when the first documents have come. */
  async restore(): Promise<void> {
    if (this.restored) return;
    this.restored = true;
    const { state, restorer } = this;
    const page = (this.host.read() as { page?: Remembered } | undefined)?.page;
    if (!page) return;
    for (const [id, scene] of state.scenes) {
      const open = page.open[id];
      if (open) scene.openByPaths(open);
    }
    const known = (id: string | undefined): id is string => id === TEXTS || (id !== undefined && state.entry(id) !== undefined);
    const [first, second] = page.panes;
    if (page.split) await restorer.setSplit(true);
    if (page.texts === true) restorer.showTexts(true);
    if (known(first)) await restorer.show(0, first);
    if (page.split && known(second)) await restorer.show(1, second);
    if (page.split) restorer.setComparing(page.comparing);
    for (const [at, { scene, drawing }] of this.panes.entries()) {
      const open = scene && page.open[scene.entry.id];
      if (scene && open) {
        scene.openByPaths(open);
        await scene.update();
      }
      const camera = page.cameras[at];
      if (camera) drawing.restoreCamera(camera);
    }
    const [{ scene }] = state.stands;
    const selected = scene && page.selected !== undefined ? indexOfNames(scene.entry.table).get(page.selected) : undefined;
    if (selected !== undefined) restorer.select(0, selected, false);
    state.changed();
  }

  private describe(): Remembered {
    const { state } = this;
    return {
      panes: state.stands.map((_stand, at) => state.idIn(at)),
      split: state.split,
      texts: state.showsTexts,
      comparing: state.comparing,
      cameras: this.panes.map(({ drawing: { camera } }) => ({ x: camera.x, y: camera.y, zoom: camera.zoom })),
      open: Object.fromEntries([...state.scenes].map(([id, one]) => [id, one.openPaths()])),
      selected: state.selectedIn(0)?.node,
    };
  }
}
