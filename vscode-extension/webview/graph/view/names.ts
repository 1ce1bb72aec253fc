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

/** The part of a graph's name that tells it from those of its kind: `1` of `1.forward`, `backward` of `0.backward.post_grad`. */
function shortest({ table }: Entry, alike: readonly Entry[]): string {
  const parts = table.name.split(".").filter((part, at) => alike.some((other) => other.table.name.split(".")[at] !== part));
  return parts.join(".");
}

/** Graphs in the order in which the compiler makes them. */
export function inOrder(entries: readonly Entry[]): Entry[] {
  const rank = ({ save, table }: Entry): number => (save === "now" ? 0 : 100) + ORDER.indexOf(table.kind);
  return [...entries].sort((left, right) => rank(left) - rank(right));
}

/** What to call a file: its path from the folder of the target's own file on, where it is there. */
export function pathBeside(own: string, path: string): string {
  const folder = /^.*[\\/]/u.exec(own)?.[0] ?? "";
  return path.startsWith(folder) ? path.slice(folder.length) : path;
}

/** A tab for each graph; `lowered` and `texts` are the ids of those for what can be had beside them. */
export function tabsOf(library: Library, lowered: string | undefined, texts: string | undefined): { readonly id: string; readonly title: string }[] {
  const graphs = inOrder(library.entries).map((entry) => ({ id: entry.id, title: titleOfEntry(library, entry) }));
  const more = [[lowered, t("Forward and backward")], [texts, t("Kernels and IR")]] as const;
  return [...graphs, ...more.flatMap(([id, title]) => (id === undefined ? [] : [{ id, title }]))];
}
