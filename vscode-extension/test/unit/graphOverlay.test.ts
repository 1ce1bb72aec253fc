/** A metric over a graph: what nodes, boxes and lines have of it, and which expressions have most. */

import { expect, test } from "vitest";

import { joined, largest, linesOf, overlayOf } from "../../webview/graph/looks/overlay.js";
import { knowsSeconds, nameOf } from "../../webview/graph/model/table.js";
import { document, graph, place, read, transformer } from "./graphDocuments.js";

const [TABLE] = read(document([graph([
  { name: "x", op: "placeholder", role: "input", bytes: 1 << 30 },
  { name: "a", op: "aten.mm.default", inputs: ["x"], written: 600, flops: 4000, seconds: 3e-6, place: place(3), module: "layers.0.two" },
  { name: "b", op: "aten.mm.default", inputs: ["a"], written: 300, flops: 4000, place: place(3), module: "layers.1.two" },
  { name: "c", op: "aten.relu.default", inputs: ["b"], written: 100, flops: 0, seconds: 1e-6, place: place(4) },
  { name: "d", op: "aten.add.Tensor", inputs: ["c"], place: place(4, 30) },
  { name: "e", op: "aten.neg.default", inputs: ["d"], written: 50, flops: 2000 },
])])).graphs;

test("expressions are ranked with all that they come to, in every layer that runs them", () => {
  const overlay = overlayOf(TABLE!, "flops");
  expect(largest(TABLE!, overlay, 10).map(({ node, title, module, nodes, value }) => [nameOf(TABLE!, node), title, module, nodes, value])).toEqual([
    ["a", "mm", "layers.*.two", 2, 8000], ["e", "neg", "", 1, 2000],
  ]);
  expect(largest(TABLE!, overlay, 1)).toHaveLength(1);
  expect([overlay.levelOf(8000), overlay.levelOf(0), overlay.textOf(8000)]).toEqual([4, 0, "8 K (80 %)"]);
});

test("inputs are no work, what is not known is no zero, and lines have the sum of what is on them", () => {
  const overlay = overlayOf(TABLE!, "bytes");
  expect([joined(overlay, [0]), joined(overlay, [4]), joined(overlay, [0, 1, 2, 4])]).toEqual([undefined, undefined, 900]);
  expect(linesOf(TABLE!, overlay).map(({ line, level, text }) => [line, level, text])).toEqual([[3, 4, "900 B (86 %)"], [4, 3, "100 B (9.5 %)"]]);
});

test("bounds are in seconds, and nobody knows them where no node has one", () => {
  const overlay = overlayOf(TABLE!, "bound");
  expect(linesOf(TABLE!, overlay).map(({ line, level, text }) => [line, level, text])).toEqual([[3, 4, "3 µs (75 %)"], [4, 4, "1 µs (25 %)"]]);
  expect([knowsSeconds(TABLE!), knowsSeconds(read(document([graph([{ name: "x", op: "aten.neg.default" }])])).graphs[0]!)]).toEqual([true, false]);
});

test("errors are those of the expression in the module that was measured; of several, the largest", () => {
  const measured = { backend: "spyre", passes: false, errors: [{ place: place(3), module: "layers.0.two", multiple: 2 }, { place: place(3), module: "layers.1.two", multiple: 300 }, { place: place(4), module: "other", multiple: Infinity }] };
  const overlay = overlayOf(TABLE!, "error", measured);
  expect([...overlay.values]).toEqual([-1, 2, 300, Infinity, -1, -1]);
  expect([1, 2, 3].map((node) => overlay.levelOf(overlay.values[node]!))).toEqual([1, 4, 4]);
  expect([joined(overlay, [1, 2]), overlay.textOf(Infinity), overlay.textOf(2.345)]).toEqual([300, "∞", "2.3×"]);
  const passing = overlayOf(TABLE!, "error", { ...measured, passes: true });
  expect(Math.max(...[1, 2, 3].map((node) => passing.levelOf(passing.values[node]!)))).toBe(1);
});

test("a deep model's hottest line is hot, though no single node of it is", () => {
  const [deep] = read(document([transformer(80)])).graphs;
  const overlay = overlayOf(deep!, "flops");
  const lines = linesOf(deep!, overlay);
  expect(Math.max(...lines.map(({ level }) => level))).toBe(4);
  expect(Math.max(...[...overlay.values].map((value) => overlay.levelOf(value)))).toBeLessThan(4);
  expect(largest(deep!, overlay, 10).every(({ nodes }) => nodes >= 1)).toBe(true);
});
