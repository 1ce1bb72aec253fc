/**
 * How people are told of a place in a file: all pages say it with these words. A notebook's cells are one text to the daemon; the extension says
 * which lines of it are which cell's, before it sends anything about them. In a browser nobody does, and lines are those of the text.
 */

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { ShownCell } from "./cells.js";
import { t } from "./words.js";

let known: readonly ShownCell[] = [];

/** From now on these are the cells of notebooks. */
export function showCells(cells: readonly ShownCell[]): void {
  known = cells;
}

/** `line 12`, or `cell 3, line 2`. */
export function lineText(place: Location): string {
  const cell = cellOf(place);
  const { line } = place.range.start;
  return cell ? t("cell {0}, line {1}", cell.number, line - cell.start + 1) : t("line {0}", line + 1);
}

/** The same where it stands first. */
export function lineTitle(place: Location): string {
  const cell = cellOf(place);
  const { line } = place.range.start;
  return cell ? t("Cell {0}, line {1}", cell.number, line - cell.start + 1) : t("Line {0}", line + 1);
}

/** `model.py:12`, or `model.ipynb, cell 3, line 2`. */
export function placeText(place: Location): string {
  return cellOf(place) ? `${nameOf(place)}, ${lineText(place)}` : `${nameOf(place)}:${place.range.start.line + 1}`;
}

export function nameOf({ path }: Location): string {
  return path.split(/[\\/]/u).at(-1) ?? path;
}

function cellOf({ path, range }: Location): ShownCell | undefined {
  return known.find((cell) => cell.path === path && cell.start <= range.start.line && range.start.line < cell.start + cell.lines);
}
