/** Compares the graphs of the two panes, and says which nodes are partners. */

import { compare, type Comparison } from "../diff/diffing.js";
import { nodesBelow } from "../model/hierarchy.js";
import type { Scene } from "../canvas/scene.js";

export class Comparing {
  current: Comparison | undefined;

  /** Marks the scenes of a comparison; takes the marks from all others. Returns those to be laid out again. */
  update(scenes: Iterable<Scene>, left: Scene | undefined, right: Scene | undefined, again: boolean): Scene[] {
    const wanted = left && right && left !== right ? compare(left.entry.table, right.entry.table) : undefined;
    if (wanted === this.current && !again) return [];
    this.current = wanted;
    const changed: Scene[] = [];
    for (const scene of scenes) {
      const side = scene === left ? "left" : scene === right ? "right" : undefined;
      const before = scene.changes;
      scene.setDiff(side && wanted?.diff, side ?? "left");
      if (scene.changes !== before) changed.push(scene);
    }
    return changed;
  }

  /** The nodes that the selected ones of the other side are compared with; undefined where nothing is compared. */
  partners(scene: Scene | undefined, from: "left" | "right"): Set<number> | undefined {
    if (!this.current || scene?.selected === undefined) return undefined;
    const partner = from === "left" ? this.current.diff.right : this.current.diff.left;
    return new Set(nodesBelow(scene.hierarchy, scene.selected).map((node) => partner[node] ?? -1).filter((node) => node >= 0));
  }
}
