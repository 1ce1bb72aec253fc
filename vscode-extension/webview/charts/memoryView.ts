/** One target's memory: the drawing, what its colours say, and a table of what is alive at the moment that is looked at. */

import type { MemoryDocument } from "../../../shared_schema/generated/wire.js";
import { amount } from "../shared/amounts.js";
import { button, element, iconButton } from "../shared/dom.js";
import { placeText } from "../shared/places.js";
import { table } from "../shared/table.js";
import { watchTheme } from "../shared/themes.js";
import { numberText, t } from "../shared/words.js";
import { bandAlpha, bandColour, MemoryChart } from "./memoryChart.js";
import { type Band, bandsOf, type By, type Held, heldAt, operationsIn, SAVED } from "./memoryModel.js";
import { type Reveal, sourceLink } from "./places.js";

export class MemoryView {
  readonly element: HTMLElement;
  private readonly chart: MemoryChart;
  private readonly legend = element("ul", { class: "legend", "aria-label": t("What colours say") });
  private readonly moment = element("div", { class: "moment" });
  private bands: readonly Band[] = [];

  constructor(private readonly shown: MemoryDocument, private readonly reveal: Reveal | undefined) {
    this.chart = new MemoryChart(operationsIn(shown), Math.max(0, shown.peak), {
      at: (operation, chosen, focus) => { this.look(operation, chosen, focus); },
    });
    const by = element("select", { "aria-label": t("Colours say"), onchange: () => { this.colour(by.value as By); } },
      element("option", { value: "kind" }, t("by kind")), element("option", { value: "module" }, t("by module")));
    const middle = (): number => (this.chart.plot.frame.left + this.chart.plot.frame.right) / 2;
    this.element = element(
      "section", { "aria-label": t("Memory of {0}", shown.target) },
      element("h2", {}, shown.target), this.headline(),
      element("div", { class: "tools" }, by, button(t("Peak"), t("Look at the operation at which most is alive"), () => { this.chart.look(shown.peak, true); }),
        iconButton("plus", t("Zoom in"), () => { this.chart.zoom(0.5, middle()); }), iconButton("minus", t("Zoom out"), () => { this.chart.zoom(2, middle()); })),
      this.chart.plot.element, this.legend, this.moment,
    );
    watchTheme(() => { this.key(); }); // after the plot, which reads the colours
    this.colour("kind");
    this.look(this.chart.moment, false, false);
  }

  private headline(): HTMLElement {
    const { operations, peak, peak_bytes: most, symbols, inputs = "", places, operation_places: at } = this.shown;
    const sizes = Object.entries(symbols).map(([name, size]) => `${name} = ${numberText(size)}`).join(", ");
    const counted = t("{0} of memory at the peak, while operation {1} of {2} runs", amount(most), numberText(peak), numberText(operations));
    const place = places[at[peak] ?? -1];
    return element("p", { class: "why" }, counted, place ? ": " : ".", place && sourceLink(place, place.text, this.reveal), 
      inputs !== "" ? ` ${t("With {0}.", inputs)}` : sizes !== "" && ` (${sizes})`);
  }

  private colour(by: By): void {
    this.bands = bandsOf(this.shown, by);
    this.chart.show(this.bands);
    this.key();
  }

  private key(): void {
    const { theme } = this.chart.plot;
    this.legend.replaceChildren(...[...this.bands].reverse().map((band) => {
      const sample = element("span", { class: band.saved ? "sample hatched" : "sample", "aria-hidden": "true" });
      sample.style.setProperty("--band", bandColour(band, theme));
      sample.style.opacity = String(bandAlpha(band));
      return element("li", {}, sample, this.nameOf(band));
    }));
  }

  private nameOf({ name, saved }: Band): string {
    const kinds = kindTexts();
    if (kinds.has(name)) return kinds.get(name) ?? name;
    const module = name === "" ? t("no module of its own") : name;
    return saved ? t("{0}, saved", module) : module;
  }

  private look(operation: number, chosen: boolean, focus: boolean): void {
    const { operations, operation_places: at, places, target } = this.shown;
    const held = operations > 0 ? heldAt(this.shown, operation) : [];
    const place = places[at[operation] ?? -1];
    if (chosen && place && this.reveal) this.reveal(place, focus);
    const sum = held.reduce((all, { bytes }) => all + bytes, 0);
    const runs = place ? sourceLink(place, place.text, this.reveal) : t("code outside of the project");
    const module = place?.module ?? "";
    const rows = held.map((one) => ({ cells: this.cellsOf(one), style: one.saved ? "saved" : undefined }));
    this.moment.replaceChildren(
      element("p", { class: "said", "aria-live": "polite" }, t("Operation {0} of {1}: ", numberText(operation), numberText(operations)), runs, module !== "" && ` · ${module}`, ` · ${amount(sum)}`),
      table(t("What is alive while operation {0} of {1} runs, the largest first", numberText(operation), target), [
        { title: t("Bytes"), numeric: true }, { title: t("Kind") }, { title: t("Made by") }, { title: t("Where") }, { title: t("Type") }, { title: t("Alive"), hint: t("The operations between which it is alive") },
      ], rows),
    );
  }

  private cellsOf({ piece, saved, count, bytes, first, end }: Held): (string | Node)[] {
    const place = this.shown.places[piece.place];
    const made = piece.name !== "" ? piece.name : (place?.text ?? "");
    const from = first < 0 ? t("from before") : numberText(first);
    const until = end >= operationsIn(this.shown) ? t("the end") : numberText(end);
    const type = `${piece.dtype}[${piece.shape.join(", ")}]`;
    return [
      amount(bytes), kindTexts().get(saved ? SAVED : piece.kind) ?? piece.kind, place ? sourceLink(place, made, this.reveal) : made,
      place ? placeText(place) : piece.module, count > 1 ? `${type} ×${count}` : type, `${from} – ${until}`,
    ];
  }
}

function kindTexts(): ReadonlyMap<string, string> {
  return new Map([
    ["parameter", t("parameters")], ["buffer", t("buffers")], ["constant", t("constants")], ["input", t("inputs")], ["activation", t("activations")],
    [SAVED, t("saved for the backward pass")],
  ]);
}

