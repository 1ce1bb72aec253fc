/** One target's costs: the roofline, what its marks say, and a table that can be sorted, by expression, line, module or operator. */

import type { CostBound, RooflineDocument } from "../../../shared_schema/generated/wire.js";
import { amount } from "../shared/amounts.js";
import { element } from "../shared/dom.js";
import { placeText } from "../shared/places.js";
import { inPercent, inSeconds, inThousands } from "../shared/figures.js";
import { table } from "../shared/table.js";
import { watchTheme } from "../shared/themes.js";
import { numberText, t } from "../shared/words.js";
import { type Reveal, shortened, sourceLink } from "./places.js";
import { RooflineChart, roofColour } from "./rooflineChart.js";
import { type By, type Column, type CostRow, type Dot, dotsOf, intensityOf, nameOfOps, rowsOf, shareWithoutDots, sortedRows } from "./rooflineModel.js";
import { placeOf } from "./rowPlaces.js";

export class RooflineView {
  readonly element: HTMLElement;
  private readonly dots: readonly Dot[];
  private readonly chart: RooflineChart;
  private readonly legend = element("ul", { class: "legend", "aria-label": t("What colours say") });
  private readonly said = element("p", { class: "said", "aria-live": "polite" });
  private readonly rows = element("div");
  private by: By = "expression";
  private sorting: { readonly column: Column; readonly descending: boolean } = { column: "bound", descending: true };

  constructor(private readonly shown: RooflineDocument, private readonly reveal: Reveal | undefined) {
    const { cost } = shown;
    this.dots = dotsOf(shown);
    this.chart = new RooflineChart(shown, this.dots, { at: (dot, chosen, focus) => { this.look(dot, chosen, focus); } });
    const by = element("select", { "aria-label": t("Rows are"), onchange: () => { this.list(by.value as By); } },
      element("option", { value: "expression" }, t("by expression")), element("option", { value: "line" }, t("by line")),
      element("option", { value: "module" }, t("by module")), element("option", { value: "operator" }, t("by operator")));
    this.element = element("section", { "aria-label": t("Roofline of {0}", cost.target) },
      element("h2", {}, t("{0} on {1}", cost.target, cost.title === "" ? cost.run.accelerator : cost.title)), this.headline(), this.chart.plot.element, this.legend, this.said,
      element("div", { class: "tools" }, by), this.rows);
    watchTheme(() => { this.key(); }); // after the plot, which reads the colours
    this.key();
    this.look(undefined, false, false);
    this.list("expression");
  }

  private headline(): HTMLElement {
    const { inputs = "", run: { total, by_roof: roofs, peak_bytes: peak, backward } } = this.shown.cost;
    const parts = Object.entries(roofs).filter(([, seconds]) => seconds > 0).sort(([, one], [, other]) => other - one);
    const sum = parts.reduce((all, [, seconds]) => all + seconds, 0);
    const shares = parts.map(([roof, seconds]) => `${roofText(roof)} ${inPercent(seconds / sum)}`).join(", ");
    const bound = total.seconds == null ? t("Nobody says how fast it is.") : t("At least {0}: no run is faster, which is no prediction ({1}).", inSeconds(total.seconds), shares);
    const passes = backward == null ? "" : backward ? `${t("Forward and backward.")} ` : `${t("Forward pass.")} `;
    return element("p", { class: "why" }, passes, bound, ` ${t("{0} FLOP; {1} cross the border of the memory at least; {2} at the peak.", inThousands(total.operations), amount(total.crossing_bytes), amount(peak))}`, inputs !== "" && ` ${t("With {0}.", inputs)}`);
  }

  private key(): void {
    const { theme } = this.chart.plot;
    const samples = (["memory", "compute", "launch"] as const).map((roof) => {
      const sample = element("span", { class: "sample round", "aria-hidden": "true" });
      sample.style.setProperty("--band", roofColour(roof, theme));
      return element("li", {}, sample, t("limited by {0}", roofText(roof)));
    });
    const rest = shareWithoutDots(this.shown, this.dots);
    this.legend.replaceChildren(...samples, element("li", {}, element("span", { class: "sample round ring", "aria-hidden": "true" }), t("backward pass")), element("li", {}, t("area: share of the bound")),
      ...(rest > 0.005 ? [element("li", {}, t("{0} of the bound counts no operations and is in the table alone", inPercent(rest)))] : []));
  }

  private look(dot: Dot | undefined, chosen: boolean, focus: boolean): void {
    if (!dot) {
      this.said.textContent = this.dots.length > 0 ? t("Point at an expression, or use the arrow keys.") : t("No expression counts floating-point operations.");
      return;
    }
    const { row } = dot;
    const place = placeOf(row);
    if (chosen && place && this.reveal) this.reveal(place, focus);
    const name = row.text === "" ? nameOfOps(row) : row.text;
    this.said.replaceChildren(place ? sourceLink(place, name, this.reveal) : element("code", {}, shortened(name)), row.backward ? ` ${t("(backward)")}` : "", ` · ${figuresOf(row.cost)}`, ...(place ? [` · ${placeText(place)}`] : []));
  }

  private list(by: By): void {
    this.by = by;
    const rows = sortedRows(rowsOf(this.shown.cost, by), this.sorting.column, this.sorting.descending);
    const where = by === "expression" || by === "line";
    const headers = [
      this.header("bound", t("Bound"), t("No run is faster")), this.header("share", t("Share"), t("Of the bounds of all operations")), this.header("roof", t("Roof"), t("What keeps it from being faster"), false),
      this.header("operations", t("FLOP"), t("Floating-point operations")), this.header("crossing", t("Crosses"), t("Bytes that cross the border of the memory, however well operations are fused")),
      this.header("intensity", t("FLOP/B"), t("Operations for each byte that crosses")), this.header("name", nameOfRows(by), "", false), ...(where ? [{ title: t("Where") }] : []),
    ];
    const caption = t("What {0} costs at least, {1}", this.shown.cost.target, nameOfRows(by));
    this.rows.replaceChildren(table(caption, headers, rows.map((row) => ({ cells: this.cellsOf(row, where), style: this.dots.some((dot) => dot.row === row.expression) ? "dotted" : undefined }))));
  }

  private header(column: Column, title: string, hint: string, numeric = true): { title: string; hint: string; numeric: boolean; sorted: "ascending" | "descending" | undefined; sort: () => void } {
    const mine = this.sorting.column === column;
    return {
      title, hint, numeric, sorted: mine ? (this.sorting.descending ? "descending" : "ascending") : undefined,
      sort: () => {
        this.sorting = { column, descending: mine ? !this.sorting.descending : numeric };
        this.list(this.by);
        const at = ["bound", "share", "roof", "operations", "crossing", "intensity", "name"].indexOf(column);
        this.rows.querySelectorAll<HTMLElement>("button.sort")[at]?.focus();
      },
    };
  }

  private cellsOf({ name, detail, backward, cost, place, expression }: CostRow, where: boolean): (string | Node)[] {
    const dot = this.dots.find(({ row }) => row === expression);
    const shown = (target: NonNullable<typeof place>, focus: boolean): void => {
      this.chart.mark(dot);
      this.reveal?.(target, focus);
    };
    const text = place ? sourceLink(place, name, this.reveal && shown) : element("code", {}, shortened(name));
    const said = element("span", { title: detail }, text, backward ? ` ${t("(backward)")}` : "");
    return [
      cost.seconds == null ? "–" : inSeconds(cost.seconds), cost.share == null ? "–" : inPercent(cost.share), cost.limited_by == null ? "" : roofText(cost.limited_by), inThousands(cost.operations),
      amount(cost.crossing_bytes), cost.crossing_bytes === 0 ? "" : numberText(Number(intensityOf(cost).toPrecision(3))), said, ...(where ? [place ? placeText(place) : ""] : []),
    ];
  }
}

function figuresOf(cost: CostBound): string {
  const bound = cost.seconds == null ? "" : t("at least {0}", inSeconds(cost.seconds));
  const share = cost.share == null ? "" : t("{0} of the bound", inPercent(cost.share));
  return [bound, share, cost.limited_by == null ? "" : t("limited by {0}", roofText(cost.limited_by)), `${inThousands(cost.operations)} FLOP`, amount(cost.crossing_bytes)].filter((part) => part !== "").join(" · ");
}

function roofText(roof: string): string {
  return roof === "memory" ? t("memory") : roof === "compute" ? t("compute") : t("launches");
}

function nameOfRows(by: By): string {
  switch (by) {
    case "expression":
      return t("Expression");
    case "line":
      return t("Line");
    case "module":
      return t("Module");
    case "operator":
      return t("Operator");
  }
}
