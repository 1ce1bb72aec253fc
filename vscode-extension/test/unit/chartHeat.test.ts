/** Heat of charts: seconds by line, each as a part of what the chart is about, and the pages that draw it. */

import { expect, test } from "vitest";

import type { CompileExpression, CompileTimeDocument, CostBound, ExpressionTime, RooflineDocument, RunProfileDocument } from "../../../shared_schema/generated/wire.js";
import { heatOfCharts } from "../../src/charts/chartHeat.js";
import { Overlays } from "../../src/services/overlays.js";

function at(line: number, character = 4): CompileExpression["range"] {
  return { start: { line, character }, end: { line, character: character + 3 } };
}

function compiled(path: string | null, line: number, seconds: number): CompileExpression {
  return { path, range: path === null ? null : at(line), text: "", seconds, parts: {}, traced: 0, nodes: 0, modules: 1 };
}

const COMPILED = {
  target: "Net", seconds: 10,
  expressions: [compiled("/net.py", 7, 5), compiled("/net.py", 7, 1), compiled("/layer.py", 7, 0.005), compiled(null, 0, 3)],
} as unknown as CompileTimeDocument;

test("compile time: what begins on a line is one, and the rest of the whole is nobody's", () => {
  expect(heatOfCharts({ kind: "compile-time", documents: [COMPILED] })).toEqual({
    target: "Net", metric: "compile-time",
    lines: [{ path: "/net.py", line: 7, level: 4, text: "6 s (60 %)" }, { path: "/layer.py", line: 7, level: 1, text: "5 ms (<1 %)" }],
  });
});

test("a profile's expressions are parts of a step, also where steps took no time that is known", () => {
  const time = { seconds: 0.002, low: 0.001, high: 0.003, calls: 1, share: 0.5 };
  const expressions = [{ path: "/net.py", range: at(3), time }, { path: null, range: null, time }] as unknown as readonly ExpressionTime[];
  const document = { target: "Net", step: { ...time, seconds: 0.004 }, expressions } as unknown as RunProfileDocument;
  const heat = heatOfCharts({ kind: "profile", documents: [document] });
  expect([heat?.metric, heat?.lines]).toEqual(["measured-time", [{ path: "/net.py", line: 3, level: 4, text: "2 ms (50 %)" }]]);
  expect(heatOfCharts({ kind: "profile", documents: [{ ...document, step: null }] })?.lines).toEqual([{ path: "/net.py", line: 3, level: 0, text: "2 ms" }]);
});

test("a roofline's lines are parts of the bound, and what has none is left out", () => {
  const bound = (seconds: number | null): CostBound => ({ seconds }) as unknown as CostBound;
  const lines = [{ path: "/net.py", line: 3, cost: bound(1e-6) }, { path: "/net.py", line: 4, cost: bound(null) }];
  const documents = [{ cost: { target: "Net", lines, run: { total: bound(1e-4) } } }] as unknown as readonly RooflineDocument[];
  expect(heatOfCharts({ kind: "roofline", documents })).toEqual({ target: "Net", metric: "bound", lines: [{ path: "/net.py", line: 3, level: 2, text: "1 µs (1 %)" }] });
});

test("charts without seconds of lines have no heat", () => {
  expect(heatOfCharts({ kind: "memory", documents: [] })).toBeUndefined();
  expect(heatOfCharts({ kind: "compile-time", documents: [] })).toBeUndefined();
  expect(heatOfCharts({ kind: "compile-time", documents: [{ ...COMPILED, expressions: [compiled(null, 0, 10)] }] })).toBeUndefined();
});

test("of several pages the one that drew last counts, until it is closed", () => {
  const [overlays, chart, graph] = [new Overlays(), {}, {}];
  const times = heatOfCharts({ kind: "compile-time", documents: [COMPILED] });
  let changes = 0;
  overlays.onDidChange(() => (changes += 1));
  overlays.set(graph, { target: "Net", metric: "flops", lines: [] });
  overlays.set(chart, times);
  expect(overlays.newest).toBe(times);
  overlays.set(chart, undefined);
  overlays.set(chart, undefined);
  expect([overlays.newest?.metric, changes]).toEqual(["flops", 3]);
});
