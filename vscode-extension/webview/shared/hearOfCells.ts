/** How a page learns of the cells of notebooks, whatever else it hears. */

import type { CellsMessage } from "./cells.js";
import { showCells } from "./places.js";

/** To be called before a page listens: it does not hear of cells itself. */
export function hearOfCells(): void {
  addEventListener("message", (event: MessageEvent<{ readonly type?: string }>) => {
    if (event.data.type !== "cells") return;
    event.stopImmediatePropagation();
    showCells((event.data as CellsMessage).cells);
  });
}
