/** What the extension tells every page of notebooks. Types only. */

/** The lines of a notebook's text that are a cell's, and the number that people know the cell by. */
export interface ShownCell {
  readonly path: string;
  readonly start: number;
  readonly lines: number;
  readonly number: number;
}

/** What the extension says to every page. */
export interface CellsMessage {
  readonly type: "cells";
  readonly cells: readonly ShownCell[];
}
