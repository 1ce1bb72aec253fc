/** What the colours in the drawing mean, in the line at the foot of the page. */

import { element } from "../../shared/dom.js";
import { t } from "../../shared/words.js";
import { categoriesIn, COLOURS, type Colouring, kernelsOf } from "../model/colours.js";
import type { Category } from "../model/labels.js";
import { dtypesIn } from "../model/search.js";
import type { GraphTable } from "../model/table.js";
import type { Theme } from "./theme.js";

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

function entriesOf(table: GraphTable, colouring: Colouring, { categories, palette, pale }: Theme): Entry[] {
  switch (colouring) {
    case "operation":
      return categoriesIn(table).map((category) => ({ colour: categories[category], text: categoryText(category) }));
    case "dtype": {
      const dtypes = dtypesIn(table);
      const known = dtypes.slice(0, COLOURS).map(([text], rank) => ({ colour: palette[rank] ?? pale, text }));
      return dtypes.length > COLOURS ? [...known, { colour: pale, text: t("others") }] : known;
    }
    case "kernel":
      return [{ colour: "", text: kernelsOf(table).size === 0 ? t("No kernels here: the post-grad graphs have them") : t("One colour for each kernel; colours come again after {0}", COLOURS) }];
  }
}

function categoryText(category: Category): string {
  switch (category) {
    case "product":
      return t("Products");
    case "reduction":
      return t("Reductions");
    case "shape":
      return t("Shapes and indices");
    case "conversion":
      return t("Conversions");
    case "random":
      return t("Random numbers");
    case "other":
      return t("Others");
  }
}
