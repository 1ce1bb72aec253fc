/** Other ways to compile a target of equal layers: what each took and computes, what to write for it; or the button that has them tried. */

import type { CompileTimeDocument, CompileTrial } from "../../../shared_schema/generated/wire.js";
import { button, element } from "../shared/dom.js";
import { inPercent, inSeconds } from "../shared/figures.js";
import { table } from "../shared/table.js";
import { numberText, t } from "../shared/words.js";

/** @param tryWays undefined where nobody can have them tried. */
export function compileWays(shown: CompileTimeDocument, tryWays: (() => void) | undefined): HTMLElement | undefined {
  const { tried, alike, problem } = shown;
  if (!tried) {
    const offered = tryWays && problem === "" && alike.some(({ count }) => count > 1);
    return offered ? element("p", { class: "tools" }, button(t("Try Other Ways to Compile"), t("Compile equal layers as nested regions, and each by itself; this takes as long as what is shown, a few times"), tryWays)) : undefined;
  }
  const [before] = tried.trials;
  if (!before) return element("p", { class: "why" }, t("Other ways to compile were not tried: {0}.", tried.why_not ?? ""));
  const layers = tried.layers.map(({ count, pattern, kind }) => `${numberText(count)} × ${kind} (${pattern})`).join(", ");
  const headers = [
    { title: t("Time"), hint: t("Of the processor"), numeric: true }, { title: t("Share"), hint: t("Of what it takes as it is"), numeric: true },
    { title: t("Graphs"), numeric: true }, { title: t("Operations"), hint: t("Of all graphs; the body of a region counts once"), numeric: true },
    { title: t("Compiled") }, { title: t("Computes the same") },
  ];
  const rows = tried.trials.map((trial) => ({
    cells: [
      trial.problem ? "" : inSeconds(trial.seconds), trial.problem ? "" : inPercent(trial.seconds / before.seconds), numberText(trial.graphs), numberText(trial.operations),
      wayText(trial), resultText(trial),
    ],
  }));
  const offered = tried.trials.filter((trial) => trial.offered === true);
  return element("div", {},
    element("h3", {}, t("Other ways to compile {0}", layers)),
    table(t("What compiling {0} takes in other ways", shown.target), headers, rows),
    ...(offered.length === 0 ? [element("p", {}, t("None of them saves much."))] : offered.flatMap((trial) => [
      element("p", {}, t("To compile {0}, write:", wayText(trial))), element("pre", {}, element("code", {}, trial.code ?? "")),
    ])));
}

function wayText({ compile_way: way }: CompileTrial): string {
  switch (way) {
    case "as-it-is":
      return t("as it is");
    case "nested-regions":
      return t("equal layers as nested regions, whose class is compiled once");
    case "each-layer":
      return t("each equal layer by itself, the model around them eagerly");
    case "each-layer-dynamic":
      return t("each equal layer by itself with dynamic=True, the model around them eagerly");
  }
}

function resultText({ compile_way: way, problem, same, difference }: CompileTrial): string {
  if (problem) return t("It ended early: {0}", problem);
  if (way === "as-it-is") return "";
  if (same === "yes") return t("yes");
  return same === "no" ? t("no: {0}", difference ?? "") : t("not compared: {0}", difference ?? "");
}
