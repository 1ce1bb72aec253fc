/** Small drawings: a tensor's sticks with their padding, and the memory over a run. Shapes and hatching say it, colours only help. */

import type { LineTensors, TensorRow } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import { numberText, t } from "../shared/words.js";
import { bytesText, curvePoints, sticksOf, wasteOf } from "./model.js";

const SPACE = "http://www.w3.org/2000/svg";
const MOST_STICKS = 6;
const MOST_ROWS = 3;
const STICK = { width: 36, height: 7, gap: 2 } as const;
const CURVE = { width: 240, height: 34 } as const;

function shape(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

function drawing(width: number, height: number, label: string, kind: string): SVGElement {
  return shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: kind });
}

/** The sticks of the first rows of a tensor: what holds elements is full, what is padding is hatched. */
export function sticksPicture(row: TensorRow): HTMLElement | undefined {
  const { layout } = row;
  const sticks = layout ? sticksOf(layout, row.sizes) : undefined;
  if (!layout || !sticks) return undefined;
  const columns = Math.min(sticks.perRow, MOST_STICKS);
  const lines = Math.min(sticks.rows, MOST_ROWS);
  const said = row.dims[sticks.dimension] ?? "";
  const name = said === "" ? t("dimension {0}", sticks.dimension) : said;
  const words = layout.padding_bytes > 0
    ? t("{0} of {1} elements used in the last stick of each row along {2}; {3} % of {4} is padding", Math.round(sticks.last * sticks.elements), sticks.elements, name, Math.round(wasteOf(layout) * 100), bytesText(layout.bytes))
    : t("{0} full sticks of {1} elements along {2}, no padding", numberText(sticks.perRow * sticks.rows), sticks.elements, name);
  const width = columns * (STICK.width + STICK.gap);
  const picture = drawing(width, lines * (STICK.height + STICK.gap), words, "sticks");
  for (let line = 0; line < lines; line += 1) {
    for (let column = 0; column < columns; column += 1) {
      // Of a row that is too long for the picture the last stick is shown, which is the one with the padding.
      const full = column < columns - 1 ? 1 : sticks.last;
      const x = column * (STICK.width + STICK.gap);
      const y = line * (STICK.height + STICK.gap);
      picture.append(shape("rect", { x, y, width: STICK.width, height: STICK.height, class: "stick-padding" }));
      for (let mark = 3; mark < STICK.width * (1 - full); mark += 4) {
        const left = x + STICK.width * full + mark;
        picture.append(shape("path", { d: `M${left - 2} ${y + STICK.height}l4 -${STICK.height}`, class: "stick-hatch" }));
      }
      picture.append(shape("rect", { x, y, width: STICK.width * full, height: STICK.height, class: "stick-full" }));
    }
  }
  const left = sticks.rows > lines ? t("{0} more rows", numberText(sticks.rows - lines)) : "";
  const skipped = sticks.perRow > columns ? t("{0} more sticks a row", numberText(sticks.perRow - columns)) : "";
  const more = [left, skipped].filter((part) => part !== "").join(", ");
  return element("figure", { class: "layout" }, picture, element("figcaption", {}, words, more !== "" && element("span", { class: "faint" }, ` · ${more}`)));
}

/** The memory over the run as steps, with this line and the peak. */
export function memoryPicture({ curve = [], here = 0, peak }: LineTensors): SVGElement | undefined {
  if (curve.length < 2) return undefined;
  const { width, height } = CURVE;
  const { points, top } = curvePoints(curve, width, height - 4);
  const label = t("Memory over the run; this line is at {0} of {1} steps, the peak of {2} at {3}", here + 1, curve.length, bytesText(peak?.bytes ?? 0), top + 1);
  const picture = drawing(width, height, label, "curve");
  picture.setAttribute("preserveAspectRatio", "none");
  const middle = (step: number): number => ((step + 0.5) * width) / curve.length;
  const path = points.map(([x, y]) => `${x.toFixed(1)} ${(y + 4).toFixed(1)}`).join("L");
  picture.append(
    shape("path", { d: `M0 ${height}L${path}L${width} ${height}Z`, class: "curve-area" }),
    shape("path", { d: `M${middle(top) - 3} 0h6l-3 5z`, class: "curve-peak" }),
    shape("path", { d: `M${middle(here)} 0V${height}`, class: "curve-here" }),
  );
  return picture;
}
