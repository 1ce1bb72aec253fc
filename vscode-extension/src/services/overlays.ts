/** What graph pages draw as heat, for the gutter: the newest page that does so counts, and when it stops, the editor is as before. */

import * as vscode from "vscode";

import type { Metric } from "../../webview/graph/looks/colours.js";
import type { HotLine } from "../../webview/graph/looks/overlay.js";

export interface GraphHeat {
  readonly target: string;
  readonly metric: Metric;
  readonly lines: readonly HotLine[];
}

export class Overlays implements vscode.Disposable {
  private readonly shown = new Map<object, GraphHeat>();
  private readonly changed = new vscode.EventEmitter<void>();

  readonly onDidChange = this.changed.event;

  get newest(): GraphHeat | undefined {
    return [...this.shown.values()].at(-1);
  }

  /** `page` draws this from now on; undefined for nothing. */
  set(page: object, heat: GraphHeat | undefined): void {
    if (!this.shown.delete(page) && !heat) return;
    if (heat) this.shown.set(page, heat);
    this.changed.fire();
  }

  dispose(): void {
    this.changed.dispose();
  }
}
