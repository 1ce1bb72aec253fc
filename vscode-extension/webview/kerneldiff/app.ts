/** The page: what was compared and what came of it, its outputs, one output in detail, and the graph's operations. */

import type { DiffDocument, DiffNode, DiffSegment, DiffTensor, DiffVerdict, Location } from "../../../shared_schema/generated/wire.js";
import { button, element } from "../shared/dom.js";
import { ERROR_RANGES, errorLevel, type Level } from "../shared/heat.js";
import { levelSign } from "../shared/heatView.js";
import { placeText } from "../shared/places.js";
import { StateView } from "../shared/stateView.js";
import { t } from "../shared/words.js";
import { growthChart, histogramChart } from "./charts.js";
import { grown } from "./growing.js";
import { heatmap } from "./heatmap.js";
import { keepingPlaces } from "./keepingPlaces.js";
import { type ErrorMap, MapsError, readMaps } from "./maps.js";
import type { ToHost, ToPage } from "./messages.js";
import { blameGroups, type Column, INFINITE, multipleOf, opText, type Placed, placeOf, type Ranked, rankedNodes, short, sorted, typeText } from "./model.js";
import { facts, worst } from "./parts.js";
import { type Header, table } from "../shared/table.js";

/** Milliseconds between two drawings of a comparison that goes on. */
const PACE = 250;

export class App {
  private readonly state: StateView;
  private readonly main = element("main");
  private readonly details = element("section", { class: "details", "aria-label": t("One result") });
  private readonly head = element("header");
  private readonly nodes = element("div");
  private results: HTMLElement | undefined;
  private document: DiffDocument | undefined;
  private growing: DiffDocument | undefined;
  private pending: ReturnType<typeof setTimeout> | undefined;
  private maps: readonly ErrorMap[] = [];
  private chosen: string | undefined;
  private order: { column: Column; descending: boolean } = { column: "blame", descending: true };

  constructor(private readonly send: (message: ToHost) => void) {
    this.state = new StateView({
      cancel: () => { send({ type: "cancel" }); },
      retry: () => { send({ type: "retry" }); },
      reveal: (place) => { this.select(place); },
    });
    document.body.append(this.state.element, this.main);
    new MutationObserver(() => { keepingPlaces(this.main, () => { this.draw(); }); }).observe(document.body, { attributes: true, attributeFilter: ["class"] }); // another theme
  }

  hear(message: ToPage): void {
    switch (message.type) {
      case "state":
        this.state.show(message.state, this.document !== undefined);
        return;
      case "comparison":
        this.growing = undefined;
        this.show(message.document, message.maps);
        return;
      case "piece":
        this.growing = grown(message.first ? undefined : this.growing, message.piece);
        this.pending ??= setTimeout(() => { this.drawGrowing(); }, message.first ? 0 : PACE);
        return;
      case "stopped":
        this.take(); // what came last may not be drawn yet
        this.growing = undefined;
        keepingPlaces(this.main, () => { this.draw(); });
    }
  }

  /** What has come of a comparison that goes on. The place that the user has scrolled to, and the focus, stay. */
  private drawGrowing(): void {
    this.take();
    keepingPlaces(this.main, () => { this.draw(); });
  }

  /** What has come until now is what is shown from now on. */
  private take(): void {
    clearTimeout(this.pending);
    this.pending = undefined;
    if (!this.growing) return;
    if (!this.document?.partial) this.maps = [];
    this.document = this.growing;
  }

  private show(shown: DiffDocument, maps: ArrayBuffer | undefined): void {
    clearTimeout(this.pending);
    this.pending = undefined;
    this.document = shown;
    try {
      this.maps = maps ? readMaps(maps) : [];
    } catch (error) {
      if (!(error instanceof MapsError)) throw error;
      this.maps = [];
    }
    keepingPlaces(this.main, () => { this.draw(); });
  }

  private draw(): void {
    const shown = this.document;
    if (!shown) return;
    const ranked = rankedNodes(shown);
    const results = resultsOf(shown);
    const { segments } = shown;
    if (!results.some(({ name }) => name === this.chosen)) this.chosen = (results.find(({ verdict }) => verdict !== "pass") ?? results[0])?.name;
    this.drawHead(shown);
    this.main.replaceChildren(this.head);
    if (shown.blame.length > 0) this.main.append(section(t("To blame"), this.blame(shown)));
    if (results.length > 0) this.main.append(section(t("Outputs"), this.outputs(shown)), this.details);
    this.showResult();
    if (ranked.length > 0) {
      this.drawNodes(ranked);
      this.main.append(
        section(t("Errors along the graph"), growthChart(ranked, ({ row }) => { this.reveal(row); })),
        section(t("Operations"), this.nodes),
      );
    }
    if (segments.length > 0) this.main.append(section(t("Pieces of the graph"), this.segments(segments)));
    this.main.append(section(t("About this comparison"), facts(shown)));
  }

  private drawHead(shown: DiffDocument): void {
    const goesOn = this.growing !== undefined;
    this.head.replaceChildren(
      element(
        "h1", {}, shown.verdict ? badge(shown.verdict) : "", shown.verdict ? " " : "",
        goesOn ? mark("comparing", t("comparing")) : shown.partial ? mark("unfinished", t("unfinished")) : "",
        " ", t("{0}: {1} against {2}", shown.target, shown.backend, shown.reference),
      ),
      goesOn ? "" : button(t("Compare Again"), t("Compare again, with the file as it is now"), () => { this.send({ type: "compare" }); }, { class: "primary" }),
      element("p", { class: "why" }, shown.why),
    );
  }

  /** What an opaque backend was given by itself while the operation at fault was looked for, in that order. */
  private segments(rows: readonly DiffSegment[]): HTMLElement {
    const headers: Header[] = [
      { title: t("Operations"), hint: t("Their places in the graph") },
      { title: t("From … to") },
      { title: t("Source") },
      { title: t("Own error"), hint: t("Relative error of what the piece returns, compiled by itself, on the reference's inputs"), numeric: true },
      { title: t("× expected"), hint: t("Its own error, as a multiple of what this precision makes of it anyway"), numeric: true },
      { title: t("Outcome") },
    ];
    return table(t("Pieces of the graph that were compiled and compared by themselves"), headers, rows.map((row) => ({
      style: row.wrong ? "blamed" : undefined,
      cells: [
        row.end - row.start === 1 ? String(row.start + 1) : `${row.start + 1}–${row.end}`,
        element("span", { title: row.ops.map(opText).join(", ") }, [...new Set([row.ops[0], row.ops.at(-1)])].map((op) => opText(op ?? "")).join(" … ")),
        this.link(row), errorCell(row.isolated), short(row.isolated?.anchored_ratio), row.why !== "" ? row.why : row.wrong ? t("wrong") : t("pass"),
      ],
    })));
  }

  private blame(shown: DiffDocument): HTMLElement {
    return element("ol", { class: "blame" }, ...blameGroups(shown).map(({ first, modules }) =>
      element(
        "li", {},
        this.link(first), " ", element("code", {}, opText(first.op)), modules.length === 0 ? "" : ` ${t("in {0}", modules.join(", "))}`,
        element("span", { class: "pale" }, ` ${first.why}`),
      )));
  }

  private outputs(shown: DiffDocument): HTMLElement {
    const headers: Header[] = [
      { title: t("Result") },
      { title: t("Type") },
      { title: t("Verdict") },
      { title: t("× expected"), hint: t("The error, as a multiple of what this precision makes of it anyway"), numeric: true },
      ...[t("Max error"), t("Mean error"), t("RMSE"), t("Max relative"), t("SNR dB"), t("Cosine"), t("Max ULP"), t("Outside tolerances")].map((title) => ({ title, numeric: true })),
      { title: t("Not finite"), hint: t("Elements where only one side is a finite number"), numeric: true },
    ];
    const row = (result: DiffTensor): { cells: (string | Node)[] } => {
      const { metrics } = result;
      const choose = (): void => { this.choose(result.name); };
      const percent = metrics.mismatch_percent === null ? "–" : `${short(metrics.mismatch_percent)} %`;
      return {
        cells: [
          element("button", { type: "button", class: "link", "aria-current": String(result.name === this.chosen), onclick: choose }, result.name),
          element("code", {}, typeText(result.dtype, result.shape)),
          badge(result.verdict),
          short(metrics.anchored_ratio), short(metrics.max_abs), short(metrics.mean_abs), short(metrics.rmse), short(metrics.max_rel),
          short(metrics.snr_db), metrics.cosine === null ? "–" : metrics.cosine.toFixed(6), short(metrics.max_ulp), percent, short(metrics.nonfinite_mismatches),
        ],
      };
    };
    this.results = table(t("Outputs and gradients with their metrics"), headers, resultsOf(shown).map(row));
    return this.results;
  }

  /** The table stays as it is: how far it was scrolled and opened, and the focus. */
  private choose(name: string): void {
    this.chosen = name;
    for (const one of this.results?.querySelectorAll("[aria-current]") ?? []) one.setAttribute("aria-current", String(one.textContent === name));
    this.showResult();
    this.details.scrollIntoView({ block: "nearest" });
  }

  private showResult(): void {
    const result = this.document && resultsOf(this.document).find(({ name }) => name === this.chosen);
    this.details.replaceChildren();
    if (!result) return;
    const map = this.maps.find(({ name }) => name === result.name);
    const where = map ? heatmap(map, expectedOf(result)) : element("p", { class: "pale" }, t("There is no map of the errors of this result."));
    this.details.append(
      element("h2", {}, t("Errors of {0}", result.name)),
      result.why === "" ? "" : element("p", { class: "why" }, result.why),
      element(
        "div", { class: "columns" },
        element("div", {}, element("h3", {}, t("Where")), where),
        element("div", {}, ...(map ? [element("h3", {}, t("How large")), histogramChart(map)] : []), element("h3", {}, t("Worst elements")), worst(result)),
      ),
    );
  }

  private drawNodes(ranked: readonly Ranked[]): void {
    const { column, descending } = this.order;
    const header = (of: Column, title: string, hint: string, numeric = true): Header => ({
      title, hint, numeric,
      sorted: of === column ? (descending ? "descending" : "ascending") : undefined,
      sort: () => {
        this.order = { column: of, descending: of === column ? !descending : of !== "order" && of !== "op" };
        this.drawNodes(ranked);
        this.nodes.querySelector<HTMLElement>(`[data-column="${of}"] button, th[aria-sort$="cending"] button`)?.focus();
      },
    });
    const headers = [
      header("blame", t("Blame"), t("Those that compute something wrong, in the order of how likely it is their fault"), false),
      header("op", t("Operation"), t("The ATen operation"), false),
      { title: t("Source") },
      header("isolated", t("Own error"), t("Relative error on the reference's inputs")),
      header("ratio", t("× expected"), t("Its own error, as a multiple of what this precision makes of it anyway")),
      header("accumulated", t("Accumulated"), t("Relative error of everything up to here")),
      header("growth", t("Growth"), t("The accumulated error over the largest one among the inputs")),
      header("replaced", t("Left if fixed"), t("The error of the graph's results that is left when this one result is put right")),
      { title: t("Module") },
      header("order", "#", t("The order of the graph")),
    ];
    const passes = this.document?.verdict === "pass";
    const rows = sorted(ranked, column, descending).map(({ row, order, blame }) => ({
      style: blame === undefined ? undefined : "blamed",
      cells: [
        blame === undefined ? "" : String(blame + 1), element("span", { title: row.node }, opText(row.op)), this.link(row),
        errorCell(row.isolated), multipleCell(row.isolated, passes), errorCell(row.accumulated), short(row.growth), short(row.replaced),
        row.module, String(order + 1),
      ],
    }));
    const legend = ERROR_RANGES.map((range, level) => element("span", {}, levelSign(level as Level), ` ${range}`));
    this.nodes.replaceChildren(element("p", { class: "legend" }, t("Own error, as a multiple of the error to expect:"), ...legend), table(t("Operations with their errors"), headers, rows));
  }

  private link(placed: Placed): Node {
    const place = placeOf(placed);
    if (!place) return element("span", { class: "pale" }, "–");
    return element("button", { type: "button", class: "link", title: place.path, onclick: () => { this.select(place); } }, placeText(place));
  }

  private reveal(row: DiffNode): void {
    const place = placeOf(row);
    if (place) this.select(place);
  }

  private select(place: Location): void {
    this.send({ type: "reveal", place, focus: false });
  }
}

function resultsOf(shown: DiffDocument): readonly DiffTensor[] {
  return [...shown.outputs, ...shown.gradients];
}

function section(title: string, ...content: Node[]): HTMLElement {
  return element("section", { "aria-label": title }, element("h2", {}, title), ...content);
}

function badge(verdict: DiffVerdict): HTMLElement {
  const words: Readonly<Record<DiffVerdict, string>> = { pass: t("pass"), suspicious: t("suspicious"), wrong: t("wrong"), failed: t("failed") };
  return mark(verdict, words[verdict]);
}

function mark(kind: string, text: string): HTMLElement {
  return element("span", { class: `badge ${kind}` }, text);
}

function errorCell(error: DiffNode["isolated"]): string {
  return error ? short(error.invalid ? INFINITE : (error.relative ?? INFINITE)) : "–";
}

/** How many times the error to expect, with the sign of its level. */
function multipleCell(error: DiffNode["isolated"], passes: boolean): string | Node {
  const multiple = multipleOf(error);
  if (multiple === undefined) return "–";
  return element("span", {}, levelSign(errorLevel(multiple, passes)), ` ${short(multiple)}`);
}

/** The absolute error that was to be expected of a result; undefined where nobody knows. */
function expectedOf({ metrics: { max_abs: largest, anchored_ratio: ratio } }: DiffTensor): number | undefined {
  return typeof ratio === "number" && ratio > 0 && largest !== null && largest > 0 ? largest / ratio : undefined;
}
