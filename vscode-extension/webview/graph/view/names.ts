/** What graphs are called in tabs and lists. */

import type { GraphKind } from "../../../../shared_schema/generated/wire.js";
import { t } from "../../shared/words.js";
import type { Entry, Library } from "../model/library.js";

const ORDER: readonly GraphKind[] = ["fx", "joint", "forward", "backward", "post_grad", "ir"];

function kindText(kind: GraphKind): string {
  switch (kind) {
    case "fx":
      return t("FX");
    case "joint":
      return t("Joint");
    case "forward":
      return t("Forward");
    case "backward":
      return t("Backward");
    case "post_grad":
      return t("Post-grad");
    case "ir":
      return t("IR");
  }
}

/** `Forward`, or with the graph's name where there are several: `Forward 1.forward`. */
export function titleOfEntry(library: Library, entry: Entry): string {
  const alike = library.entries.filter(({ save, table }) => save === entry.save && table.kind === entry.table.kind);
  const title = alike.length > 1 ? `${kindText(entry.table.kind)} ${shortest(entry, alike)}` : kindText(entry.table.kind);
  return entry.save === "before" ? t("{0}, previous save", title) : title;
}

/** The part of a graph's name that tells it from those of its kind: `1` of `1.forward`, if that is enough. */
function shortest(entry: Entry, alike: readonly Entry[]): string {
  const head = (name: string): string => name.split(".", 1)[0] ?? name;
  const heads = new Set(alike.map(({ table }) => head(table.name)));
  return heads.size === alike.length ? head(entry.table.name) : entry.table.name;
}

/** Graphs in the order in which the compiler makes them. */
export function inOrder(entries: readonly Entry[]): Entry[] {
  const rank = ({ save, table }: Entry): number => (save === "now" ? 0 : 100) + ORDER.indexOf(table.kind);
  return [...entries].sort((left, right) => rank(left) - rank(right) || left.table.name.localeCompare(right.table.name, "en", { numeric: true }));
}
