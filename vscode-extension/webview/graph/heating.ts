/**
 * The metric that is drawn as heat, in every graph on show and, through the extension, in the editor's gutter. Off where colours say something
 * else.
 */

import type { Level } from "../shared/heat.js";
import type { App } from "./app.js";
import { type Colouring, isMetric, type Metric } from "./model/colours.js";
import type { Entry } from "./model/library.js";
import { largest, linesOf, type Measured, type Overlay, overlayOf, type Ranked } from "./model/overlay.js";
import type { Scene } from "./view/scene.js";

const MOST_RANKED = 10;

/** The expressions that have most of a metric. */
export interface Ranking {
  readonly metric: Metric;
  readonly rows: readonly (Ranked & { readonly level: Level; readonly text: string })[];
}

export class Heating {
  colouring: Colouring = "operation";
  private measured: Measured | undefined;
  private overlays = new WeakMap<Entry, Overlay>();

  constructor(private readonly app: App) {}

  choose(colouring: Colouring): void {
    this.colouring = colouring;
    this.overlays = new WeakMap();
    this.apply();
  }

  /** What the last comparison has measured, or that there is none. */
  measure(measured: Measured | undefined): void {
    this.measured = measured;
    this.app.toolbar.setMeasured(measured?.backend);
    if (this.colouring === "error") this.choose(measured ? "error" : "operation");
  }

  /** Draws it everywhere, and tells the editor. */
  apply(): void {
    const { app, colouring } = this;
    app.toolbar.setColouring(colouring);
    for (const { drawing } of app.panes) drawing.colouring = colouring;
    for (const scene of app.scenes.values()) scene.setOverlay(this.overlayOf(scene.entry));
    app.remark();
    this.tell();
    app.redraw();
  }

  overlayOf(entry: Entry): Overlay | undefined {
    if (!isMetric(this.colouring)) return undefined;
    let overlay = this.overlays.get(entry);
    if (!overlay) this.overlays.set(entry, (overlay = overlayOf(entry.table, this.colouring, entry.save === "now" ? this.measured : undefined)));
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
    const { app } = this;
    const entry = app.pane.scene?.entry;
    const overlay = entry && this.overlayOf(entry);
    app.host.send({ type: "heat", metric: overlay?.metric, lines: entry && overlay ? linesOf(entry.table, overlay) : [] });
  }
}
