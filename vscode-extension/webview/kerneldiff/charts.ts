/** Small drawings as SVG: the growth of errors along the graph, and how errors are distributed. Colours are those of the style sheet. */

import { element } from "../shared/dom.js";
import { numberText, t } from "../shared/words.js";
import type { ErrorMap } from "./maps.js";
import { INFINITE, opText, type Ranked, relativeOf, short } from "./model.js";

const SPACE = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [560, 190]; // about as wide as half a window, so that letters have their size
const EDGE = { left: 56, right: 12, top: 10, bottom: 30 } as const;

function shape(tag: string, attributes: Readonly<Record<string, string | number>>, text?: string): SVGElement {
  const made = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

function canvas(label: string): SVGElement {
  return shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": label });
}

/** Decades between two values, at most `most` of them. */
function decades(low: number, high: number, most: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first) / most));
  return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_none, index) => first + index * step);
}

/**
 * The error of every node on a log scale, in the order of the graph: a line for the accumulated one, dots for those of single operations.
 * `choose` is told of a node that was clicked.
 */
export function growthChart(nodes: readonly Ranked[], choose: (node: Ranked) => void): HTMLElement {
  const values = nodes.flatMap(({ row }) => [relativeOf(row.isolated), relativeOf(row.accumulated)]).filter((value) => value > 0 && value < Infinity);
  if (values.length === 0) return element("p", { class: "pale" }, t("No operation has an error."));
  const [low, high] = [Math.min(...chunked(values, Math.min)), Math.max(...chunked(values, Math.max))];
  const ticks = decades(low, high * 1.0001, 6);
  const [bottom, top] = [ticks[0] ?? 0, Math.max(ticks.at(-1) ?? 1, Math.log10(high), (ticks[0] ?? 0) + 1)];
  const x = (order: number): number => EDGE.left + ((order + 0.5) / Math.max(nodes.length, 1)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value: number): number => {
    const part = Math.max(0, Math.min(1, (Math.log10(value) - bottom) / (top - bottom)));
    return EDGE.top + (1 - part) * (HEIGHT - EDGE.top - EDGE.bottom);
  };
  const drawing = canvas(nodes.length === 1 ? t("Relative error of 1 operation, from {0} to {1}", short(low), short(high)) : t("Relative error of {0} operations in the order of the graph, from {1} to {2}", nodes.length, short(low), short(high)));
  for (const tick of ticks) {
    const height = y(10 ** tick);
    drawing.append(
      shape("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: height, y2: height }),
      shape("text", { class: "tick", x: EDGE.left - 6, y: height + 4, "text-anchor": "end" }, `1e${tick}`),
    );
  }
  for (const { order, blame } of nodes) {
    if (blame !== undefined) drawing.append(shape("line", { class: "blamed", x1: x(order), x2: x(order), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }));
  }
  let path = "";
  for (const { row, order } of nodes) {
    const value = relativeOf(row.accumulated);
    if (value > 0) path += `${path === "" ? "M" : "L"}${x(order).toFixed(1)} ${y(Math.min(value, 10 ** top)).toFixed(1)}`;
  }
  drawing.append(shape("path", { class: "accumulated", d: path }));
  for (const { row, order } of nodes) {
    const value = relativeOf(row.isolated);
    if (value > 0) drawing.append(shape("circle", { class: value === Infinity ? "own invalid" : "own", cx: x(order).toFixed(1), cy: y(Math.min(value, 10 ** top)).toFixed(1), r: 3 }));
  }
  drawing.append(shape("text", { class: "tick", x: (WIDTH + EDGE.left) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, t("operations in the order of the graph")));
  return following(drawing, nodes, x, choose);
}

/** The drawing with what is under the pointer, or at the place that the arrow keys have reached, below it. */
function following(drawing: SVGElement, nodes: readonly Ranked[], x: (order: number) => number, choose: (node: Ranked) => void): HTMLElement {
  const line = shape("line", { class: "pointer", x1: 0, x2: 0, y1: EDGE.top, y2: HEIGHT - EDGE.bottom, visibility: "hidden" });
  const said = element("p", { class: "said", "aria-live": "polite" }, t("Point at an operation, or use the arrow keys; click or press Enter to see its source."));
  let at = -1;
  const show = (index: number): void => {
    at = Math.max(0, Math.min(nodes.length - 1, index));
    const node = nodes[at];
    if (!node) return;
    line.setAttribute("x1", x(at).toFixed(1));
    line.setAttribute("x2", x(at).toFixed(1));
    line.setAttribute("visibility", "visible");
    const { row } = node;
    const errors = t("error of its own {0}, accumulated {1}", errorText(row.isolated), errorText(row.accumulated));
    said.textContent = [`${opText(row.op)} (${row.node})`, row.module, errors, node.blame === undefined ? "" : t("blamed")].filter((part) => part !== "").join(" · ");
  };
  const indexAt = (event: MouseEvent): number => {
    const box = drawing.getBoundingClientRect();
    const scale = WIDTH / box.width;
    return Math.floor((((event.clientX - box.left) * scale - EDGE.left) / (WIDTH - EDGE.left - EDGE.right)) * nodes.length);
  };
  drawing.append(line);
  drawing.setAttribute("tabindex", "0");
  drawing.addEventListener("pointermove", (event) => { show(indexAt(event)); });
  const pick = (): void => {
    const node = nodes[at];
    if (node) choose(node);
  };
  drawing.addEventListener("click", pick);
  drawing.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20, Home: -nodes.length, End: nodes.length }[event.key];
    if (step !== undefined) show(at + step);
    else if (event.key === "Enter") pick();
    else return;
    event.preventDefault();
  });
  return element("div", {}, drawing, said, legend());
}

function legend(): HTMLElement {
  const entry = (style: string, text: string): HTMLElement => element("span", { class: `key ${style}` }, text);
  return element("p", { class: "legend" }, entry("accumulated", t("accumulated along the graph")), entry("own", t("of the operation alone")), entry("blamed", t("blamed")));
}

function errorText(error: { readonly invalid: boolean; readonly relative: number | null } | null): string {
  return error ? short(error.invalid ? INFINITE : (error.relative ?? INFINITE)) : "–";
}

function* chunked(values: readonly number[], of: (...some: number[]) => number): Iterable<number> {
  for (let start = 0; start < values.length; start += 10_000) yield of(...values.slice(start, start + 10_000));
}

/** How many elements have an error of which size. */
export function histogramChart(map: ErrorMap): HTMLElement {
  const { counts, firstDecade, binsPerDecade } = map;
  const agree = map.equal === 1 ? t("1 element agrees exactly") : t("{0} elements agree exactly", numberText(map.equal));
  const beside = t("{0}; in {1} only one side is a finite number.", agree, numberText(map.invalid));
  const note = element("p", { class: "pale" }, beside);
  if (counts.length === 0) return element("div", {}, note);
  const most = counts.reduce((all, count) => Math.max(all, count), 1);
  const last = firstDecade + counts.length / binsPerDecade;
  const drawing = canvas(t("Elements by absolute error, from 1e{0} to 1e{1}", firstDecade, last));
  const wide = (WIDTH - EDGE.left - EDGE.right) / counts.length;
  const high = HEIGHT - EDGE.top - EDGE.bottom;
  const height = (count: number): number => (Math.log10(count + 1) / Math.log10(most + 1)) * high;
  for (const part of [1, most]) {
    const line = HEIGHT - EDGE.bottom - height(part);
    drawing.append(
      shape("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: line, y2: line }),
      shape("text", { class: "tick", x: EDGE.left - 6, y: line + 4, "text-anchor": "end" }, short(part)),
    );
  }
  counts.forEach((count, index) => {
    if (count === 0) return;
    const bar = shape("rect", { class: "bar", x: EDGE.left + index * wide + 0.5, width: Math.max(wide - 1, 1), y: HEIGHT - EDGE.bottom - height(count), height: height(count) });
    bar.append(shape("title", {}, `≥ ${short(10 ** (firstDecade + index / binsPerDecade))}: ${numberText(count)}`));
    drawing.append(bar);
  });
  const step = Math.max(1, Math.ceil((last - firstDecade) / 10));
  for (let tick = firstDecade; tick <= last; tick += step) {
    drawing.append(shape("text", { class: "tick", x: EDGE.left + (tick - firstDecade) * binsPerDecade * wide, y: HEIGHT - 10, "text-anchor": "middle" }, `1e${tick}`));
  }
  return element("div", {}, drawing, note);
}
