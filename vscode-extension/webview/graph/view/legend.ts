/** What the colours in the drawing mean, in the line at the foot of the page. */

import { element } from "../../shared/dom.js";
import { t } from "../../shared/words.js";
import { type Brightness, css, ERROR_RANGES, type Level, levelColour, SHARE_RANGES, SIGNS } from "../../shared/heat.js";
import { COLOURS, type Colouring, kernelsOf, kindsIn } from "../looks/colours.js";
import { kindText } from "../looks/labels.js";
import { dtypesIn } from "../search/search.js";
import type { GraphTable } from "../model/table.js";
import type { Theme } from "../canvas/theme.js";

interface Entry {
  readonly colour: string;
  readonly text: string;
}

export class Legend {
  readonly element = element("ul", { class: "legend", "aria-label": t("What colours say") });
  private shown: readonly unknown[] = [];

  show(table: GraphTable | undefined, colouring: Colouring, theme: Theme): void {
    const wanted = [table, colouring, theme];
    if (wanted.every((one, at) => one === this.shown[at])) return;
    this.shown = wanted;
    this.element.replaceChildren(...(table ? entriesOf(table, colouring, theme) : []).map(({ colour, text }) => {
      const sample = element("span", { class: "sample", "aria-hidden": "true", hidden: colour === "" });
      sample.style.background = colour;
      return element("li", {}, sample, text);
    }));
  }
}

function entriesOf(table: GraphTable, colouring: Colouring, { kinds, palette, pale, brightness }: Theme): Entry[] {
  switch (colouring) {
    case "operation":
      return kindsIn(table).map((kind) => ({ colour: kinds[kind], text: kindText(kind) }));
    case "dtype": {
      const dtypes = dtypesIn(table);
      const known = dtypes.slice(0, COLOURS).map(([text], rank) => ({ colour: palette[rank] ?? pale, text }));
      return dtypes.length > COLOURS ? [...known, { colour: pale, text: t("others") }] : known;
    }
    case "kernel":
      return [{ colour: "", text: kernelsOf(table).size === 0 ? t("No kernels here: the post-grad graphs have them") : t("One colour for each kernel; colours come again after {0}", COLOURS) }];
    case "bytes":
      return [{ colour: "", text: t("Bytes written, of all in this graph:") }, ...levels(SHARE_RANGES, brightness)];
    case "flops":
      return [{ colour: "", text: t("Floating-point operations, of all in this graph:") }, ...levels(SHARE_RANGES, brightness)];
    case "bound":
      return [{ colour: "", text: t("Time at least on the accelerator, of all in this graph:") }, ...levels(SHARE_RANGES, brightness)];
    case "error":
      return [{ colour: "", text: t("Measured error, as a multiple of the error to expect:") }, ...levels(ERROR_RANGES, brightness)];
  }
}

function levels(ranges: readonly string[], brightness: Brightness): Entry[] {
  return ranges.map((range, level) => ({ colour: css(levelColour(level as Level, brightness)), text: `${SIGNS[level] ?? ""} ${range}` }));
}
