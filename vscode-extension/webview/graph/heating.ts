/**
 * The metric that is drawn as heat, in every graph on show and, through the extension, in the editor's gutter. Off where colours say something
 * else.
 */

import type { Scene } from "./canvas/scene.js";
import { type Colouring, isMetric } from "./looks/colours.js";
import { largest, linesOf, type Measured, type Overlay, overlayOf, type Ranking } from "./looks/overlay.js";
import type { Entry } from "./model/library.js";
import type { State } from "./state/state.js";
import type { Host } from "./wire/host.js";

const MOST_RANKED = 10;

export class Heating {
  private overlays = new WeakMap<Entry, Overlay>();

  constructor(
    private readonly state: State,
    private readonly host: Host,
  ) {}

  /** Draws it everywhere, and tells the editor. */
  choose(colouring: Colouring): void {
    const { state } = this;
    state.colouring = colouring;
    this.overlays = new WeakMap();
    for (const scene of state.scenes.values()) scene.setOverlay(this.overlayOf(scene.entry));
    this.tell();
    state.changed();
  }

  /** What the last comparison has measured, or that there is none. */
  measure(measured: Measured | undefined): void {
    const { state } = this;
    state.measured = measured;
    if (state.colouring === "error") this.choose(measured ? "error" : "operation");
    else state.changed();
  }

  overlayOf(entry: Entry): Overlay | undefined {
    const { colouring, measured } = this.state;
    if (!isMetric(colouring)) return undefined;
    let overlay = this.overlays.get(entry);
    if (!overlay) this.overlays.set(entry, (overlay = overlayOf(entry.table, colouring, entry.save === "now" ? measured : undefined)));
    return overlay;
  }

  ranking({ entry }: Scene): Ranking | undefined {
    const overlay = this.overlayOf(entry);
    if (!overlay) return undefined;
    const rows = largest(entry.table, overlay, MOST_RANKED).map((row) => ({ ...row, level: overlay.levelOf(row.value), text: overlay.textOf(row.value) }));
    return { metric: overlay.metric, rows };
  }

  /** The lines of the graph in the active pane, for the gutter. */
  tell(): void {
    const entry = this.state.stand.scene?.entry;
    const overlay = entry && this.overlayOf(entry);
    this.host.send({ type: "heat", metric: overlay?.metric, lines: entry && overlay ? linesOf(entry.table, overlay) : [] });
  }
}
