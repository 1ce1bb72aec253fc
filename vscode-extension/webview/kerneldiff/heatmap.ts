/**
 * Where one output is wrong: a table of cells in the colours of their errors, as multiples of the error to expect (log scale), with a slider
 * for each dimension before the last two. Where nobody knows what was to be expected, colours go from the smallest error to the largest. Pointer and arrow keys say what a cell stands for.
 */

import { element } from "../shared/dom.js";
import { css, ERROR_BOUNDS, ERROR_SCALE, errorPart, partColour } from "../shared/heat.js";
import { brightness } from "../shared/heatView.js";
import { t } from "../shared/words.js";
import { elementsOf, type ErrorMap, leadingOf, scaleOf, sliceOf, worstSlice } from "./maps.js";
import { short } from "./model.js";

const WIDEST = 520;
const TALLEST = 360;

/** @param expected the absolute error to expect; undefined where nobody knows. */
export function heatmap(map: ErrorMap, expected: number | undefined): HTMLElement {
  return map.cells.length === 0 ? element("p", { class: "pale" }, t("There are no elements.")) : new Heatmap(map, expected).root;
}

class Heatmap {
  readonly root: HTMLElement;
  private readonly canvas = element("canvas", { class: "heatmap", tabindex: 0, role: "img" });
  private readonly said = element("p", { class: "said", "aria-live": "polite" });
  private readonly at: number[];
  private cursor: readonly [number, number] = [0, 0];

  constructor(private readonly map: ErrorMap, private readonly expected: number | undefined) {
    this.at = worstSlice(map);
    const sliders = leadingOf(map).flatMap((bins, dimension) => (bins > 1 ? [this.slider(bins, dimension)] : []));
    this.root = element("div", {}, ...sliders, this.canvas, this.said, this.scale());
    this.canvas.addEventListener("pointermove", (event) => { this.point(event); });
    this.canvas.addEventListener("keydown", (event) => { this.key(event); });
    this.draw();
    this.said.textContent = t("Point at a cell, or use the arrow keys.");
  }

  private slider(bins: number, dimension: number): HTMLElement {
    const value = element("output", {}, elementsOf(this.map, dimension, this.at[dimension] ?? 0));
    const input = element("input", {
      type: "range", min: 0, max: bins - 1, step: 1, value: this.at[dimension] ?? 0, "aria-valuetext": value.textContent,
      oninput: () => {
        this.at[dimension] = Number(input.value);
        value.textContent = elementsOf(this.map, dimension, Number(input.value));
        input.setAttribute("aria-valuetext", value.textContent);
        this.draw();
        this.tell(...this.cursor);
      },
    });
    return element("label", { class: "slider" }, t("Dimension {0} (of {1})", dimension, this.map.shape[dimension] ?? 0), input, value);
  }

  private draw(): void {
    const { rows, columns, cells } = sliceOf(this.map, this.at);
    const scale = scaleOf(this.map);
    this.canvas.width = columns;
    this.canvas.height = rows;
    const zoom = Math.max(1, Math.min(WIDEST / columns, TALLEST / rows, 24));
    this.canvas.style.width = `${Math.min(columns * zoom, WIDEST)}px`;
    this.canvas.style.height = `${Math.max(Math.min(rows * zoom, TALLEST), rows === 1 ? 36 : 4)}px`;
    const type = `${this.map.name} [${this.map.shape.join(", ")}]`;
    this.canvas.setAttribute("aria-label", t("Absolute error of {0}, largest {1}", type, short(scale?.high ?? 0)));
    const context = this.canvas.getContext("2d");
    if (!context) return;
    const image = context.createImageData(columns, rows);
    cells.forEach((value, index) => {
      const [red, green, blue, alpha] = this.pixel(value, scale);
      image.data.set([red, green, blue, alpha], index * 4);
    });
    context.putImageData(image, 0, 0);
  }

  private pixel(value: number, scale: { low: number; high: number } | undefined): readonly [number, number, number, number] {
    if (value === Infinity) return [224, 45, 45, 255];
    if (!(value > 0) || !scale) return [128, 128, 128, 40];
    const part = this.expected === undefined ? Math.log(value / scale.low) / Math.log(scale.high / scale.low) : errorPart(value / this.expected);
    return [...partColour(part, brightness()), 255];
  }

  private point(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    this.tell(Math.floor(y * this.canvas.height), Math.floor(x * this.canvas.width));
  }

  private key(event: KeyboardEvent): void {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    this.tell(this.cursor[0] + (step[0] ?? 0), this.cursor[1] + (step[1] ?? 0));
  }

  private tell(row: number, column: number): void {
    const { rows, columns, cells } = sliceOf(this.map, this.at);
    this.cursor = [Math.max(0, Math.min(rows - 1, row)), Math.max(0, Math.min(columns - 1, column))];
    const value = cells[this.cursor[0] * columns + this.cursor[1]] ?? 0;
    const { length } = this.map.shape;
    const cell = length === 0 ? [] : length === 1 ? [this.cursor[1]] : [...this.at, ...this.cursor];
    const index = cell.map((one, dimension) => elementsOf(this.map, dimension, one)).join(", ");
    this.said.textContent = `[${index}]: ${value === Infinity ? t("only one side is a finite number") : value > 0 ? this.amount(value) : t("no difference")}`;
  }

  private amount(value: number): string {
    return this.expected === undefined ? short(value) : t("{0}, {1} times the error to expect", short(value), short(value / this.expected));
  }

  private scale(): HTMLElement {
    const scale = scaleOf(this.map);
    const same = element("span", { class: "key same" }, t("no difference"));
    const invalid = this.map.invalid > 0 && element("span", { class: "key invalid" }, t("only one side is a finite number"));
    if (!scale) return element("p", { class: "legend" }, same, invalid);
    const stops = Array.from({ length: 9 }, (_none, at) => css(partColour(at / 8, brightness()))).join(", ");
    const bar = element("span", { class: "scale", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(to right, ${stops})`;
    const [least, most] = this.expected === undefined ? [short(scale.low), t("{0} absolute error", short(scale.high))] : [`${ERROR_SCALE[0]}×`, t("{0}× the error to expect", ERROR_SCALE[1])];
    const marks = this.expected !== undefined && element("span", {}, t("suspicious from {0}×, wrong from {1}×", ERROR_BOUNDS[1], ERROR_BOUNDS[2]));
    return element("p", { class: "legend" }, element("span", {}, least), bar, element("span", {}, most), marks, same, invalid);
  }
}
