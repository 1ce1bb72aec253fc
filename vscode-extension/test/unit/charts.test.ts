/** What charts draw and list: memory by kind and module, what is alive at a moment, costs below roofs, figures in words. */

import { expect, test } from "vitest";

import type { CompileTimeDocument, CostBound, ExpressionCost, ExpressionTime, MemoryDocument, MemoryPiece, RooflineDocument, RunProfileDocument } from "../../../shared_schema/generated/wire.js";
import { depthOf, layOut, partsOf, rowsOf as timesOf, type Slab, slabsOf } from "../../webview/charts/compileTimeModel.js";
import { bandsOf, byteTicks, heldAt, modulesIn, MOST_MODULES, totalsOf } from "../../webview/charts/memoryModel.js";
import { MOST_PARTS, overBound, partsOf as stepOf, profileRows, sortedProfile } from "../../webview/charts/profileModel.js";
import { decades, dotsOf, extentOf, rowsOf, shareWithoutDots, sortedRows } from "../../webview/charts/rooflineModel.js";
import { inPercent, inSeconds, inThousands } from "../../webview/shared/figures.js";

function piece(module: string, bytes: number, first: number, end: number, more: Partial<MemoryPiece> = {}): MemoryPiece {
  return { kind: "activation", name: "", module, shape: [bytes], dtype: "uint8", bytes, first, let_go: end, end, place: -1, ...more };
}

function memory(pieces: readonly MemoryPiece[], operations = 4): MemoryDocument {
  return { schema: 1, target: "Net", path: "/net.py", operations, peak: 0, peak_bytes: 0, place: null, kinds: [], held: [], symbols: {}, places: [], operation_places: Array.from({ length: operations }, () => -1), pieces };
}

test("memory by module: what a module has done with is apart, and all together is the whole", () => {
  const shown = memory([piece("a", 10, -1, 4, { kind: "parameter" }), piece("a", 5, 1, 4, { let_go: 2 }), piece("b.c", 7, 2, 3)]);
  const bands = bandsOf(shown, "module");
  expect(bands.map(({ name, saved, amounts }) => [name, saved, [...amounts]])).toEqual([["b.c", false, [0, 0, 7, 0]], ["a", false, [10, 15, 10, 10]], ["a", true, [0, 0, 5, 5]]]);
  expect([...totalsOf(bands, 4)]).toEqual([10, 15, 22, 15]);
});

test("what is alive at a moment, the largest first, and what of it only the backward pass needs", () => {
  const shown = memory([piece("a", 10, -1, 4), piece("a", 50, 1, 3, { let_go: 2 }), piece("b", 7, 3, 4)]);
  expect(heldAt(shown, 0).map(({ piece: { bytes } }) => bytes)).toEqual([10]);
  expect(heldAt(shown, 2).map(({ piece: { bytes }, saved }) => [bytes, saved])).toEqual([[50, true], [10, false]]);
  expect(heldAt(shown, 3).map(({ piece: { bytes } }) => bytes)).toEqual([10, 7]);
  const alike = memory([piece("a", 10, 0, 2, { place: 1 }), piece("b", 10, 1, 4, { place: 1 }), piece("b", 10, 1, 4, { place: 2 })]);
  expect(heldAt(alike, 1).map(({ count, bytes, first, end }) => [count, bytes, first, end])).toEqual([[2, 20, 0, 4], [1, 10, 1, 4]]);
});

test("modules are opened as long as there are colours, and all that was allocated is in one of them", () => {
  const deep = Array.from({ length: 40 }, (_none, layer) => piece(`body.layers.${String(layer)}.attention`, 1, 0, 4));
  expect(modulesIn(memory([...deep, piece("head", 1, 0, 4), piece("", 1, 0, 4)]))).toEqual(["body.layers", "head", ""]);
  const few = modulesIn(memory([piece("a.b.c", 3, 0, 4), piece("a.b.d", 2, 0, 4), piece("a.bx", 1, 0, 4)]));
  expect(few).toEqual(["a.b.c", "a.b.d", "a.bx"]);
  expect(MOST_MODULES).toBeLessThanOrEqual(14);
  expect(modulesIn(memory([]))).toEqual([]);
});

test.each([[0, [0]], [100, [0, 32, 64, 96]], [3 << 20, [0, 1 << 20, 2 << 20, 3 << 20]]])("steps up to %i bytes are powers of two", (most, ticks) => {
  expect(byteTicks(most, 4)).toEqual(ticks);
});

function cost(operations: number, bytes: number, seconds: number | null, share = 0.5): CostBound {
  return { ops: 1, bytes_read: bytes, bytes_written: 0, crossing_bytes: bytes, operations, seconds, unfused_seconds: seconds, limited_by: "memory", share, uncounted: 0 };
}

function expression(text: string, own: CostBound, backward = false): ExpressionCost {
  return { path: "/net.py", range: { start: { line: text.length, character: 0 }, end: { line: text.length, character: 3 } }, text, backward, ops: { "aten.mm.default": 2 }, modules: [""], cost: own };
}

const ROOFLINE: RooflineDocument = {
  schema: 1, bytes_per_second: 1e12, ceilings: [{ operations_per_second: 1e14, formats: ["bfloat16"] }, { operations_per_second: 1e13, formats: ["float32"] }],
  cost: {
    schema: 1, target: "Net", stage: "aot", path: "/net.py", title: "GPU", lines: [{ path: "/net.py", line: 5, cost: cost(10, 1, 1e-6) }],
    run: { accelerator: "gpu", total: cost(30, 10, 3e-6, 1), by_roof: { memory: 3e-6 }, peak_bytes: 100 },
    expressions: [expression("x @ w", cost(2e6, 1000, 2e-6, 0.6)), expression("copy", cost(0, 1e6, 1e-6, 0.25)), expression("y + z", cost(10, 1000, 1e-9, 0.15), true), expression("unknown", cost(5, 5, null, 0))],
    modules: [{ module: "", cost: cost(1, 1, 1) }, { module: "a", cost: cost(1, 1, 1) }], operators: [{ op: "aten.mm.default", cost: cost(1, 1, 1) }],
  },
};

test("dots are the expressions that count operations; the rest of the bound is told", () => {
  const dots = dotsOf(ROOFLINE);
  expect(dots.map(({ row: { text }, intensity, rate }) => [text, intensity, Math.round(rate)])).toEqual([["x @ w", 2000, 1e12], ["y + z", 0.01, 1e10]]);
  expect(shareWithoutDots(ROOFLINE, dots)).toBeCloseTo(0.25);
  const { left, right, bottom, top } = extentOf(ROOFLINE, dots);
  expect([left < 0.01, right > 2000, bottom < 1e10, top > 1e14]).toEqual([true, true, true, true]);
  expect(extentOf({ ...ROOFLINE, bytes_per_second: null, ceilings: [] }, [])).toMatchObject({ left: 0.1 / 3 * 3 });
});

test("rows are sorted by each column, either way, and lead to their place", () => {
  const rows = rowsOf(ROOFLINE.cost, "expression");
  expect(sortedRows(rows, "bound", true).map(({ name }) => name)).toEqual(["x @ w", "copy", "y + z", "unknown"]);
  expect(sortedRows(rows, "name", false).map(({ name }) => name)).toEqual(["copy", "unknown", "x @ w", "y + z"]);
  expect(sortedRows(rows, "intensity", false)[0]?.name).toBe("copy");
  expect(rowsOf(ROOFLINE.cost, "line").map(({ name, place }) => [name, place?.range.start.line])).toEqual([["x @ w", 5]]);
  expect(rowsOf(ROOFLINE.cost, "module").map(({ name, place }) => [name, place])).toEqual([["Net", undefined], ["a", undefined]]);
  expect(rowsOf(ROOFLINE.cost, "operator").map(({ name }) => name)).toEqual(["aten.mm.default"]);
});

test("figures are told as the daemon tells them", () => {
  expect([0, 999, 1000, 1_234_000, 9.894e14].map(inThousands)).toEqual(["0", "999", "1 k", "1.23 M", "989 T"]);
  expect([0, 7.31e-8, 4.2e-6, 0.0125, 1.5].map(inSeconds)).toEqual(["0 ns", "73.1 ns", "4.2 µs", "12.5 ms", "1.5 s"]);
  expect([0, 0.001, 0.38, 1].map(inPercent)).toEqual(["0 %", "<1 %", "38 %", "100 %"]);
  expect(decades(0.02, 3000, 3)).toEqual([-1, 1, 3]);
});

const RANGE = { start: { line: 3, character: 8 }, end: { line: 3, character: 20 } };
const TIMES: CompileTimeDocument = {
  schema: 1, target: "Net", path: "/net.py", seconds: 10, start_up: 1, placed: 7, graphs: 1, problem: "",
  compile_phases: [{ part: "Dynamo", phase: "tracing the code", seconds: 4 }, { part: "Inductor", phase: "lowering", seconds: 6 }],
  expressions: [
    { path: "/net.py", range: RANGE, text: "self.inner(x)", seconds: 6, parts: { Dynamo: 2, Inductor: 4 }, traced: 2, nodes: 4, modules: 2 },
    { path: null, range: null, text: "", seconds: 3, parts: { Dynamo: 1, Inductor: 2 }, traced: 0, nodes: 0, modules: 0 },
    { path: "/net.py", range: RANGE, text: "x.sum()", seconds: 1, parts: { Dynamo: 1 }, traced: 1, nodes: 0, modules: 1 },
  ],
  modules: [{ module: "layers.0", kind: "Layer", seconds: 3 }, { module: "layers.1", kind: "Layer", seconds: 3 }, { module: "layers.0.inner", kind: "Linear", seconds: 1 }],
  alike: [{ pattern: "layers.*", kind: "Layer", count: 2, seconds: 6 }, { pattern: "layers.0.inner", kind: "Linear", count: 1, seconds: 1 }],
  slices: { phases: [0, 0, 0, 0, 1, 1, 1], modules: [-1, -1, 0, 1, -1, 1, 2], expressions: [1, 2, 0, 0, 1, 0, 0], seconds: [1, 1, 1, 1, 2, 2, 2] },
};

function outline({ kind, name, count, seconds, inner }: Slab): unknown {
  const own = `${kind} ${name}${count > 1 ? ` × ${String(count)}` : ""}: ${String(seconds)}`;
  return inner.length === 0 ? own : [own, ...inner.map(outline)];
}

test("compile time is a tree of phases, modules and expressions; a list and its layer are one step, equal layers one piece", () => {
  expect(outline(slabsOf(TIMES, true))).toEqual([
    "target Net: 10",
    ["phase lowering: 6", ["module layers.* × 2: 4", "expression self.inner(x): 2", ["module inner: 2", "expression self.inner(x): 2"]]],
    ["phase tracing the code: 4", ["module layers.* × 2: 2", "expression self.inner(x): 2"], "expression x.sum(): 1"],
  ]);
  expect(outline(slabsOf(TIMES, false))).toContainEqual(
    ["phase tracing the code: 4", "expression x.sum(): 1", ["module layers.0: 1", "expression self.inner(x): 1"], ["module layers.1: 1", "expression self.inner(x): 1"]]);
  expect(depthOf(slabsOf(TIMES, true))).toBe(5);
});

test("pieces lie below what they are inside of, as wide as their time; a piece that is looked at closely is as wide as all", () => {
  const whole = slabsOf(TIMES, true);
  const placed = (focus: Slab, least = 0): [string, number, number, number][] => layOut(focus, least).map(({ slab: { name }, row, from, to }) => [name, row, Number(from.toFixed(3)), Number(to.toFixed(3))]);
  expect(placed(whole)).toEqual([
    ["Net", 0, 0, 1], ["lowering", 1, 0, 0.6], ["layers.*", 2, 0, 0.4], ["self.inner(x)", 3, 0, 0.2], ["inner", 3, 0.2, 0.4], ["self.inner(x)", 4, 0.2, 0.4],
    ["tracing the code", 1, 0.6, 1], ["layers.*", 2, 0.6, 0.8], ["self.inner(x)", 3, 0.6, 0.8], ["x.sum()", 2, 0.8, 0.9],
  ]);
  const [, tracing] = whole.inner;
  expect(tracing && placed(tracing)).toEqual([["Net", 0, 0, 1], ["tracing the code", 1, 0, 1], ["layers.*", 2, 0, 0.5], ["self.inner(x)", 3, 0, 0.5], ["x.sum()", 2, 0.5, 0.75]]);
  expect(placed(whole, 0.35).map(([name]) => name), "what nobody can see is left out").toEqual(["Net", "lowering", "layers.*", "tracing the code"]);
});

test("tables of compile time: expressions lead to their place, equal layers are one row, parts add up", () => {
  expect(timesOf(TIMES, "expression", true).map(({ name, place, detail }) => [name, place?.range.start.line, detail])).toEqual([["self.inner(x)", 3, "Inductor, Dynamo"], ["x.sum()", 3, "Dynamo"]]);
  expect(timesOf(TIMES, "module", true).map(({ name, detail }) => [name, detail])).toEqual([["layers.*", "Layer × 2"], ["layers.0.inner", "Linear"]]);
  expect(timesOf(TIMES, "module", false)).toHaveLength(3);
  expect(timesOf(TIMES, "phase", true).map(({ name, seconds }) => [name, seconds])).toEqual([["lowering", 6], ["tracing the code", 4]]);
  expect(partsOf(TIMES)).toEqual([["Inductor", 6], ["Dynamo", 4]]);
  expect(outline(slabsOf({ ...TIMES, compile_phases: [], slices: { phases: [], modules: [], expressions: [], seconds: [] } }, true))).toBe("target Net: 0");
});

function timed(text: string, share: number, more: Partial<ExpressionTime> = {}): ExpressionTime {
  const range = { start: { line: text.length, character: 0 }, end: { line: text.length, character: 3 } };
  return { path: "/net.py", range, text, function: "", backward: false, kernels: { "aten::mm": 2, "aten::t": 1 }, modules: [""], time: { seconds: share, low: share, high: share, calls: 3, share }, cost: null, bound_seconds: null, ...more };
}

function profile(expressions: readonly ExpressionTime[], idle: number): RunProfileDocument {
  const time = (share: number) => ({ seconds: share, low: share, high: share, calls: 1, share });
  return {
    schema: 1, target: "Net", path: "/net.py", side: "inductor", trace: "", training: true, device: "cpu", device_title: "", threads: 2, accelerator: "", title: "", bound_seconds: null, comparable: false, steps: 3,
    step: time(1), idle: time(idle), tied: "expressions", tied_share: 1, expressions, notes: [], problem: "",
    kernels: [{ name: "cpp_fused_mm", kind: "generated", backward: false, places: [], functions: ["net.py(3): forward"], modules: ["head"], time: time(0.5), bound_seconds: 0 }],
    gaps: [{ after: "", before: "aten::mm", after_place: null, before_place: { path: "/net.py", range: { start: { line: 1, character: 0 }, end: { line: 1, character: 3 } } }, time: time(0.1) }],
  };
}

test("a step is its longest expressions, both directions in one colour, then all others, then the time in which nothing computed", () => {
  const parts = stepOf(profile([timed("a", 0.4), timed("bb", 0.2), timed("a", 0.2, { backward: true })], 0.2));
  expect(parts.map(({ kind, row, group, width }) => [kind, row?.text, group, Number(width.toFixed(3))])).toEqual([["expression", "a", 0, 0.4], ["expression", "bb", 1, 0.2], ["expression", "a", 0, 0.2], ["idle", undefined, MOST_PARTS + 1, 0.2]]);
  const many = stepOf(profile(Array.from({ length: 20 }, (_none, at) => timed("x".repeat(at + 1), 0.05)), 0));
  expect(many.map(({ kind }) => kind)).toEqual([...Array.from({ length: MOST_PARTS }, () => "expression"), "rest"]);
  expect(many.at(-1)?.share).toBeCloseTo(0.05 * (20 - MOST_PARTS));
  const beside = stepOf(profile([timed("a", 0.9), timed("bb", 0.6)], 0)); // two streams of a device at once
  expect(beside.reduce((all, { width }) => all + width, 0)).toBeCloseTo(1);
});

test("rows of a profile: by expression, by kernel, by gap; what is fused is no multiple of its bound", () => {
  const shown = profile([timed("a", 0.4, { bound_seconds: 0.1 }), timed("bb", 0.5, { bound_seconds: 0 }), timed("", 0.1, { path: null, range: null, function: "net.py(3): forward" })], 0);
  const rows = profileRows(shown, "expression");
  expect(rows.map(({ name, detail, places }) => [name, detail, places.length])).toEqual([["a", "aten::mm ×2, aten::t", 1], ["bb", "aten::mm ×2, aten::t", 1], ["net.py(3): forward", "aten::mm ×2, aten::t", 0]]);
  expect(rows.map(overBound)).toEqual([4, undefined, undefined]);
  expect(sortedProfile(rows, "share", true).map(({ name }) => name)).toEqual(["bb", "a", "net.py(3): forward"]);
  expect(sortedProfile(rows, "over", true)[0]?.name).toBe("a");
  expect(sortedProfile(rows, "name", false)[0]?.name).toBe("a");
  expect(profileRows(shown, "kernel").map(({ name, detail }) => [name, detail])).toEqual([["cpp_fused_mm", "net.py(3): forward, head"]]);
  expect(profileRows(shown, "gap").map(({ name, detail, places }) => [name, detail, places.length])).toEqual([["", "aten::mm", 1]]);
});
