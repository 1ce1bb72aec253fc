/** One graph's boxes and layout, for whatever is open: what the worker keeps of each graph. */

import { type Layout, layoutOf, Memory, type Sizes } from "./layout.js";
import type { Skeleton } from "./skeleton.js";
import { type Visible, visibleOf } from "./visible.js";

export interface Arrangement {
  readonly visible: Visible;
  readonly layout: Layout;
}

export class Arranger {
  private readonly memory = new Memory();

  constructor(private readonly skeleton: Skeleton) {}

  arrange(open: ReadonlySet<number>, sizes: Sizes): Arrangement {
    const problem = visibleOf(this.skeleton, open);
    const { items, open: flags, parents, ends, places, boxOfItem, boxOf, links } = problem;
    return { visible: { items, open: flags, parents, ends, places, boxOfItem, boxOf, links }, layout: layoutOf(problem, sizes, this.memory) };
  }
}
