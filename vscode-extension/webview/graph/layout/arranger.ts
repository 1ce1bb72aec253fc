/** One graph's boxes and layout, for whatever is open: what the worker keeps of each graph. */

import { type Layout, layoutOf, Memory, type Sizes } from "./layout.js";
import type { Skeleton } from "./skeleton.js";
import { Room, type Visible, visibleOf } from "./visible.js";

export interface Arrangement {
  readonly visible: Visible;
  readonly layout: Layout;
}

/** Items and how large they are, folded. */
export interface Measured {
  readonly items: Int32Array;
  readonly widths: Float32Array;
  readonly heights: Float32Array;
}

export class Arranger {
  private readonly memory = new Memory();
  private readonly room = new Room();
  private readonly sizes: Sizes;

  constructor(private readonly skeleton: Skeleton) {
    const items = skeleton.count + skeleton.parents.length;
    this.sizes = { widths: new Float32Array(items), heights: new Float32Array(items) };
  }

  /** Sizes stay known; only new ones have to be told. */
  measured({ items, widths, heights }: Measured): void {
    items.forEach((item, at) => {
      this.sizes.widths[item] = widths[at] ?? 0;
      this.sizes.heights[item] = heights[at] ?? 0;
    });
  }

  arrange(open: ReadonlySet<number>): Arrangement {
    const problem = visibleOf(this.skeleton, open, this.room);
    const { items, open: flags, parents, ends, places, boxOfItem, boxOf, links } = problem;
    return { visible: { items, open: flags, parents, ends, places, boxOfItem, boxOf, links }, layout: layoutOf(problem, this.sizes, this.memory) };
  }
}
