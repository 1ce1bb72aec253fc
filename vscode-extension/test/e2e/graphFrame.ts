/** The frame of the graph page in a window, and what it lists. */

import type { Frame } from "playwright-core";

import { until } from "./harness.js";
import type { Window } from "./window.js";

/** The first frame with a graph page of which a condition holds. */
export function graphFrameWhere(window: Window, what: string, condition: string): Promise<Frame> {
  return until(what, async () => {
    for (const frame of window.page.frames()) {
      if ((await frame.evaluate(`globalThis.inductorDebugGraph !== undefined && (${condition})`).catch(() => false)) === true) return frame;
    }
    return undefined;
  });
}

/** The frame of the page, once it shows a graph. */
export function drawnGraph(window: Window): Promise<Frame> {
  return graphFrameWhere(window, "the graph is drawn", "inductorDebugGraph.panes[0].scene?.layout !== undefined");
}

/** What the rows of the outline say. */
export function outlineRows(frame: Frame, which = ""): Promise<string[]> {
  return frame.locator(`[role="treeitem"]${which}`).evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""));
}
