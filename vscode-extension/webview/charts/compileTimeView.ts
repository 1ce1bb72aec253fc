/** Where compiling one target goes: the drawing, what its pieces say, and a table by expression, module or phase. */

import type { CompileTimeDocument } from "../../../shared_schema/generated/wire.js";
import { button, element } from "../shared/dom.js";
import { placeText } from "../shared/places.js";
import { inPercent, inSeconds } from "../shared/figures.js";
import { table } from "../shared/table.js";
import { watchTheme } from "../shared/themes.js";
import { numberText, t } from "../shared/words.js";
import { CompileTimeChart, nameOf, partColour } from "./compileTimeChart.js";
import { type By, partsOf, rowsOf, type Slab, slabsOf } from "./compileTimeModel.js";
import { compileWays } from "./compileWaysView.js";
import { type Reveal, sourceLink } from "./places.js";

export class CompileTimeView {
  readonly element: HTMLElement;
  private readonly chart: CompileTimeChart;
  private readonly legend = element("ul", { class: "legend", "aria-label": t("What colours say") });
  private readonly said = element("p", { class: "said", "aria-live": "polite" });
  private readonly rows = element("div");
  private by: By = "expression";
  private together = true;

  /** @param tryWays has other ways to compile tried; undefined where nobody can. */
  constructor(private readonly shown: CompileTimeDocument, private readonly reveal: Reveal | undefined, tryWays: (() => void) | undefined) {
    this.chart = new CompileTimeChart(slabsOf(shown, true), { at: (slab, chosen, focus) => { this.look(slab, chosen, focus); } });
    const by = element("select", { "aria-label": t("Rows are"), onchange: () => { this.list(by.value as By); } },
      element("option", { value: "expression" }, t("by expression")), element("option", { value: "module" }, t("by module")), element("option", { value: "phase" }, t("by phase")));
    const layers = element("input", { type: "checkbox", checked: true, onchange: () => { this.join(layers.checked); } });
    const joined = element("label", {}, layers, ` ${t("Equal layers as one")}`);
    this.element = element("section", { "aria-label": t("Compile time of {0}", shown.target) },
      element("h2", {}, shown.target), this.headline(),
      element("div", { class: "tools" }, button(t("All of it"), t("Look at the whole again"), () => { this.chart.show(slabsOf(shown, this.together)); }), joined),
      this.chart.plot.element, this.legend, this.said, compileWays(shown, tryWays), element("div", { class: "tools" }, by), this.rows);
    watchTheme(() => { this.key(); }); // after the plot, which reads the colours
    this.key();
    this.said.textContent = t("Point at a piece, or use the arrow keys. A click goes to the code of an expression, and closer to anything else.");
    this.list("expression");
  }

  private headline(): HTMLElement {
    const { seconds, graphs, placed, start_up: before, problem } = this.shown;
    const shares = partsOf(this.shown).map(([part, own]) => `${part} ${inPercent(own / seconds)}`).join(", ");
    const lines = [
      graphs === 1 ? t("{0} of processor time for 1 graph: {1}.", inSeconds(seconds), shares) : t("{0} of processor time for {1} graphs: {2}.", inSeconds(seconds), numberText(graphs), shares),
      t("{0} of it is work on your expressions, the rest on whole graphs.", inPercent(placed / seconds)),
      t("Not in it: {0} that every process takes once before it compiles anything, and the compilers of kernels.", inSeconds(before)),
    ];
    return element("p", { class: "why" }, problem === "" ? "" : `${t("It ended early: {0}", problem)} `, lines.join(" "));
  }

  private key(): void {
    const { theme } = this.chart.plot;
    this.legend.replaceChildren(...partsOf(this.shown).map(([part, seconds]) => {
      const sample = element("span", { class: "sample", "aria-hidden": "true" });
      sample.style.setProperty("--band", partColour(part, theme));
      return element("li", {}, sample, `${part} ${inSeconds(seconds)}`);
    }));
  }

  private join(together: boolean): void {
    this.together = together;
    this.chart.show(slabsOf(this.shown, together));
    this.list(this.by);
  }

  private look(slab: Slab, chosen: boolean, focus: boolean): void {
    if (chosen && slab.place && this.reveal) this.reveal(slab.place, focus);
    const name = slab.place ? sourceLink(slab.place, slab.name, this.reveal) : element("code", {}, nameOf(slab));
    const own = slab.seconds - slab.inner.reduce((sum, { seconds }) => sum + seconds, 0);
    const parts = [
      inSeconds(slab.seconds), inPercent(slab.seconds / this.shown.seconds), slab.part,
      ...(slab.place ? [placeText(slab.place)] : []), ...(slab.inner.length > 0 && own > 0 ? [t("{0} of it on nothing inside", inSeconds(own))] : []),
    ];
    this.said.replaceChildren(name, ` · ${parts.filter((part) => part !== "").join(" · ")}`);
  }

  private list(by: By): void {
    this.by = by;
    const rows = rowsOf(this.shown, by, this.together);
    const where = by === "expression";
    const headers = [
      { title: t("Time"), hint: t("Of the processor"), numeric: true }, { title: t("Share"), hint: t("Of all of the time"), numeric: true },
      { title: by === "expression" ? t("Expression") : by === "module" ? t("Module") : t("Phase") }, { title: by === "module" ? t("Class") : t("Part of the compiler") },
      ...(where ? [{ title: t("Where") }] : []),
    ];
    this.rows.replaceChildren(table(t("Where compiling {0} goes", this.shown.target), headers, rows.map(({ name, seconds, place, detail }) => ({
      cells: [
        inSeconds(seconds), inPercent(seconds / this.shown.seconds), place ? sourceLink(place, name, this.reveal) : element("code", {}, name), detail,
        ...(where ? [place ? placeText(place) : ""] : []),
      ],
    }))));
  }
}
