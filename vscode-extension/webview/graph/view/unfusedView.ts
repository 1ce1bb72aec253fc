/** Kernels that could have been part of another one, and why they are not: each reason once. */

import type { Kernel } from "../../../../shared_schema/generated/wire.js";
import { element } from "../../shared/dom.js";
import { t } from "../../shared/words.js";
import type { Whole } from "../model/specs.js";

export function unfusedView({ unfused }: Whole<Kernel>): HTMLElement[] {
  const reasons = new Map<string, Set<string>>();
  for (const { kernel, why } of unfused) reasons.set(why, (reasons.get(why) ?? new Set()).add(kernel));
  return [...reasons].map(([why, kernels]) => element("p", { class: "note" }, t("Not fused with {0}: {1}.", [...kernels].join(", "), why)));
}
