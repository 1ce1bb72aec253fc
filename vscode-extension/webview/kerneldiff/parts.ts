/** Parts of the page that only read the document: the worst elements of a result, and how it was compared. */

import { element } from "../shared/dom.js";
import { numberText, t } from "../shared/words.js";
import type { DiffDocument, DiffTensor } from "../../../shared_schema/generated/wire.js";
import { short } from "./model.js";
import { type Header, table } from "../shared/table.js";

/** The elements that differ most, and the tolerances that would pass. */
export function worst({ worst: found, passes_with: passes }: DiffTensor): HTMLElement {
  const headers: Header[] = [{ title: t("Index") }, { title: t("Reference"), numeric: true }, { title: t("Backend"), numeric: true }];
  const rows = found.map(({ index, reference, actual }) => ({ cells: [`[${index.join(", ")}]`, exact(reference), exact(actual)] }));
  const tolerances = [passes.atol === null ? "" : `atol ${short(passes.atol)}`, passes.rtol === null ? "" : `rtol ${short(passes.rtol)}`].filter((text) => text !== "");
  return element(
    "div", {},
    rows.length > 0 ? table(t("The elements that differ most"), headers, rows) : element("p", { class: "pale" }, t("no difference")),
    tolerances.length > 0 && element("p", { class: "pale" }, t("It would pass with {0}.", tolerances.join(t(" or ")))),
  );
}

/** Seven digits, as many as a float32 has. */
function exact(value: unknown): string {
  return typeof value === "number" ? String(Number(value.toPrecision(7))) : short(value);
}

/** What was compared, and how. */
export function facts(shown: DiffDocument): HTMLElement {
  const { deterministic, seconds } = shown;
  const repeated = deterministic === null ? "" : deterministic ? t("The reference gives the same each time.") : t("The reference itself gives other results each time.");
  const total = seconds["total"];
  const lines = [
    [
      t("Seed {0}", shown.seed),
      shown.runs === 1 ? t("1 run") : t("{0} runs", shown.runs),
      shown.nodes.length === 1 ? t("1 operation measured") : t("{0} operations measured", numberText(shown.nodes.length)),
    ].join(", ") + ".",
    shown.weights === "" ? "" : t("Weights: {0}.", shown.weights),
    repeated,
    shown.first_divergent === null ? "" : t("Errors begin to grow at {0}.", shown.first_divergent),
    total === undefined ? "" : t("It took {0} s.", total.toFixed(1)),
    ...shown.notes,
  ];
  return element("ul", { class: "facts" }, ...lines.filter((line) => line !== "").map((line) => element("li", {}, line)));
}
