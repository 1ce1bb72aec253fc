/** A comparison that goes on, put together from the pieces that come (as `engine/orders/partial_comparisons.py` does). Pure. */

import type { GrowingDocument, OutputResult, Piece } from "./document.js";

const NOTHING: GrowingDocument = {
  schema: 1, target: "", reference: "", backend: "", verdict: null, why: "", outputs: [], gradients: [], nodes: [], segments: [], blame: [],
  first_divergent: null, largest_growth: null, deterministic: null, seed: 0, runs: 1, weights: "", notes: [], seconds: {}, partial: true,
};

/** The document with what a piece adds to it; without a document, that of the first piece. */
export function grown(document: GrowingDocument | undefined, piece: Piece): GrowingDocument {
  const before = document ?? NOTHING;
  return {
    ...before, ...piece,
    outputs: byName(before.outputs, piece.outputs),
    gradients: byName(before.gradients, piece.gradients),
    nodes: [...before.nodes, ...(piece.nodes ?? [])],
    segments: [...(before.segments ?? []), ...(piece.segments ?? [])],
  };
}

/** Of several runs, the worst one's row is told again. */
function byName(rows: readonly OutputResult[], more: readonly OutputResult[] = []): readonly OutputResult[] {
  return more.length === 0 ? rows : [...new Map([...rows, ...more].map((row) => [row.name, row])).values()];
}
