/** A comparison that goes on, put together from the pieces that come, by the daemon's own table of what grows how (`ROWS`). Pure. */

import { ROWS } from "../../../shared_schema/generated/growing.js";
import type { DiffDocument, DiffPiece } from "../../../shared_schema/generated/wire.js";

/** The document with what a piece adds to it; undefined where no piece has begun one. */
export function grown(document: DiffDocument | undefined, { begun, ...said }: DiffPiece): DiffDocument | undefined {
  const before = begun ?? document;
  if (!before) return undefined;
  const after: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(said)) {
    if (name in ROWS) after[name] = withRows(after[name] as Rows, value as unknown as Rows, ROWS[name as keyof typeof ROWS]);
    else if (value !== null) after[name] = value; // what is null has not changed
  }
  return after as unknown as DiffDocument;
}

type Rows = readonly Readonly<Record<string, unknown>>[];

function withRows(rows: Rows, more: Rows, key: string): Rows {
  const all = [...rows, ...more];
  return key === "" || more.length === 0 ? all : [...new Map(all.map((row) => [row[key], row])).values()];
}
