/** Which graph stands best beside another. */

import type { Entry, Library } from "./library.js";

/** The other half of a graph, what was made from it, or what it was made from; undefined where it is the only one of its save. */
export function partnerOf(library: Library, { id, save, table }: Entry): Entry | undefined {
  const others = library.entries.filter((one) => one.save === save && one.id !== id);
  return others.find((one) => table.kind !== "fx" && one.table.kind !== table.kind && ["forward", "backward"].includes(one.table.kind) && one.table.madeFrom === table.madeFrom)
    ?? others.find((one) => one.table.madeFrom === table.name) ?? others.find((one) => one.table.name === table.madeFrom) ?? others[0];
}
