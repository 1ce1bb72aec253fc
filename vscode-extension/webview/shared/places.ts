/**
 * How people are told of a place in a file: all pages say it with these words. A notebook's cells are one text to the daemon; whoever shows a page
 * says which lines of it are which cell's, before it sends anything about them, and a page that stands alone has it among its data.
 */

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { ShownCell } from "./cells.js";
import { t } from "./words.js";

let known: readonly ShownCell[] = [];

/** From now on these are the cells of notebooks. */
export function showCells(cells: readonly ShownCell[]): void {
  known = cells;
}

/** The cells of which all that is shown was told. */
export function knownCells(): readonly ShownCell[] {
  return known;
}

/** What a line, from 0, is numbered beside the text: within its cell. */
export function numberOfLine(path: string, line: number): number {
  const start = { line, character: 0 };
  return line - (cellOf({ path, range: { start, end: start } })?.start ?? 0) + 1;
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
