/** What pages of graphs and charts draw as heat, for the gutter: the newest page that does so counts, and when it stops, the editor is as before. */

import * as vscode from "vscode";

import type { Metric } from "../../webview/graph/looks/colours.js";
import type { HotLine } from "../../webview/graph/looks/overlay.js";

/** What heat can be of: what graphs draw, and seconds of charts. */
export type HeatMetric = Metric | "compile-time" | "measured-time";

export interface DrawnHeat {
  readonly target: string;
  readonly metric: HeatMetric;
  readonly lines: readonly HotLine[];
}

export class Overlays implements vscode.Disposable {
  private readonly shown = new Map<object, DrawnHeat>();
  private readonly changed = new vscode.EventEmitter<void>();

  readonly onDidChange = this.changed.event;

  get newest(): DrawnHeat | undefined {
    return [...this.shown.values()].at(-1);
  }

  /** `page` draws this from now on; undefined for nothing. */
  set(page: object, heat: DrawnHeat | undefined): void {
    if (!this.shown.delete(page) && !heat) return;
    if (heat) this.shown.set(page, heat);
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
  }
}
