/** Which places of the screen have something already: what is smaller than a pixel need not be drawn there again. */

import type { View } from "./pens.js";

export class Coverage {
  private readonly columns: number;
  private readonly rows: number;
  private readonly cells: Uint8Array;

  constructor(private readonly view: View) {
    this.columns = Math.ceil((view.right - view.left) * view.zoom) + 1;
    this.rows = Math.ceil((view.bottom - view.top) * view.zoom) + 1;
    this.cells = new Uint8Array(this.columns * this.rows);
  }

  /** Takes the pixel of a point of the world; false where it was taken. */
  take(x: number, y: number): boolean {
    const column = Math.min(this.columns - 1, Math.max(0, Math.floor((x - this.view.left) * this.view.zoom)));
    const row = Math.min(this.rows - 1, Math.max(0, Math.floor((y - this.view.top) * this.view.zoom)));
    const cell = row * this.columns + column;
    if (this.cells[cell] === 1) return false;
    this.cells[cell] = 1;
    return true;
  }
}
