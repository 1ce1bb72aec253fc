/** What is said of a box where two graphs are compared: in signs in the drawing, in words for screen readers. */

import { numberText, t } from "../../shared/words.js";
import type { Theme } from "./theme.js";

/** How many nodes in a box differ, and how. */
export interface Differences {
  readonly added: number;
  readonly removed: number;
  readonly changed: number;
}

/** `+1 ~2 −3` for a scope, the sign alone for a node. */
export function differenceSigns({ added, removed, changed }: Differences, isScope: boolean): string {
  const part = (sign: string, count: number): string => (count === 0 ? "" : isScope ? `${sign}${count}` : sign);
  return [part("+", added), part("~", changed), part("−", removed)].filter((text) => text !== "").join(" ");
}

export function differenceWords({ added, removed, changed }: Differences, isScope: boolean): string {
  if (!isScope) return added > 0 ? t("added") : removed > 0 ? t("removed") : t("changed");
  const parts = [added > 0 && t("{0} added", numberText(added)), changed > 0 && t("{0} changed", numberText(changed)), removed > 0 && t("{0} removed", numberText(removed))];
  return parts.filter((text) => text !== false).join(", ");
}

/** What holds for all that differs in a box; `changed` where it is of several kinds. */
export function kindOf({ added, removed, changed }: Differences): keyof Differences {
  if (changed > 0 || (added > 0 && removed > 0)) return "changed";
  return added > 0 ? "added" : "removed";
}

export function differenceColour(differences: Differences, theme: Theme): string {
  return theme[kindOf(differences)];
}
