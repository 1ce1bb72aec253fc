/** KernelDiff in the editor: what is read of the daemon's files, how nodes are ordered, which lines are hot, what commands may say. */

import { encode } from "@msgpack/msgpack";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";

import { afterEdit, type HeatLine, heatOf } from "../../src/heat/lines.js";
import type { DiffBlame, DiffDocument, DiffError, DiffNode, DiffPiece, DiffTensor } from "../../../shared_schema/generated/wire.js";
import { type Ask, Comparisons } from "../../src/services/comparisons.js";
import { optionsIn } from "../../src/kernelDiff/kernelDiff.js";
import { grown } from "../../webview/kerneldiff/growing.js";
import { elementsOf, leadingOf, MapsError, readMaps, scaleOf, sliceOf, worstSlice } from "../../webview/kerneldiff/maps.js";
import { placeText } from "../../webview/shared/places.js";
import { blameGroups, placeOf, rankedNodes, relativeOf, short, sorted, typeText } from "../../webview/kerneldiff/model.js";

const golden = readFileSync(join(import.meta.dirname, "..", "..", "..", "shared_schema", "golden", "ErrorMaps.maps"));

test("the golden file, written by Python, is read as it was sent", () => {
  const [first, second] = readMaps(golden);
  expect(first).toMatchObject({ name: "output['a']", shape: [2, 2, 3], bins: [2, 2, 3], steps: [1, 1, 1], equal: 10, invalid: 1, firstDecade: -1, binsPerDecade: 5 });
  expect([...first!.cells]).toEqual([0, 0, 0, 0, Infinity, 0, 0, 0, 0.5, 0, 0, 0]);
  expect(first!.counts.reduce((all, count) => all + count, 0)).toBe(1);
  expect(second).toMatchObject({ name: "output['b']", shape: [3], equal: 3 });
  expect(scaleOf(second!)).toBeUndefined();
});

test("slices of a map, the worst one first, and what their cells stand for", () => {
  const map = readMaps(golden)[0]!;
  expect(leadingOf(map)).toEqual([2]);
  expect(worstSlice(map)).toEqual([0]);
  expect([...sliceOf(map, [1]).cells]).toEqual([0, 0, 0.5, 0, 0, 0]);
  expect(sliceOf(map, [1])).toMatchObject({ rows: 2, columns: 3 });
  expect(scaleOf(map)).toEqual({ low: 0.5, high: 5 });
  const coarse = { ...map, shape: [7, 2, 3], steps: [4, 1, 1] };
  expect([0, 1].map((cell) => elementsOf(coarse, 0, cell))).toEqual(["0–3", "4–6"]);
  expect(elementsOf(coarse, 2, 2)).toBe("2");
  const one = { ...map, shape: [], bins: [], steps: [], cells: Float32Array.of(2) };
  expect([sliceOf(one, []), leadingOf(one), worstSlice(one)]).toEqual([{ rows: 1, columns: 1, cells: one.cells }, [], []]);
});

test.each([
  ["nothing", new Uint8Array()],
  ["half a file", golden.subarray(0, golden.length / 2)],
  ["another format", encode({ format: "other" })],
  ["another schema", encode({ format: "inductor-debug-diff-maps", schema: 2, outputs: [] })],
  ["no list", encode({ format: "inductor-debug-diff-maps", schema: 1, outputs: 3 })],
  ["cells that do not fit", encode({ format: "inductor-debug-diff-maps", schema: 1, outputs: [{ shape: [2], bins: [2], steps: [1], cells: new Uint8Array(4) }] })],
  ["a negative size", encode({ format: "inductor-debug-diff-maps", schema: 1, outputs: [{ shape: [-2], bins: [-2], steps: [1], cells: new Uint8Array(4) }] })],
])("%s is refused", (_what, content) => {
  expect(() => readMaps(content)).toThrow(MapsError);
});

const PATH = "/work/model.py";

function error(relative: number | null, ratio: number | string | null = null, invalid = false): DiffError {
  return { max_abs: 1, rmse: 1, relative, anchored_ratio: ratio, invalid };
}

function node(name: string, line: number | null, more: Partial<DiffNode> = {}): DiffNode {
  const range = line === null ? null : { start: { line, character: 4 }, end: { line, character: 9 } };
  return { node: name, graph: "0", op: `aten.${name}.default`, module: "", isolated: null, accumulated: null, growth: null, replaced: null, path: line === null ? null : PATH, range, ...more };
}

function blame(row: DiffNode, module: string): DiffBlame {
  return { op: row.op, node: row.node, graph: row.graph, module, nodes: [row.node], why: "because", path: row.path, range: row.range };
}

function diff(nodes: readonly DiffNode[], blames: readonly DiffBlame[] = []): DiffDocument {
  return {
    schema: 1, target: "Net", reference: "eager", backend: "spyre", verdict: "wrong", why: "", outputs: [], gradients: [], nodes, segments: [], blame: blames, faults: [],
    first_divergent: null, largest_growth: null, deterministic: true, seed: 0, runs: 1, weights: "", notes: [], seconds: {}, partial: false,
  };
}

test("nodes come by blame: the blamed, then what is worse than to be expected, then the larger error", () => {
  const nodes = [
    node("small", 1, { isolated: error(0.1) }), node("large", 2, { isolated: error(0.2) }), node("odd", 3, { isolated: error(0.01, 90) }),
    node("guilty", 4, { isolated: error(0.001, 5) }), node("broken", 5, { isolated: error(null, "Infinity", true) }), node("none", 6),
  ];
  const ranked = rankedNodes(diff(nodes, [blame(nodes[3]!, "")]));
  const names = (...how: Parameters<typeof sorted> extends [unknown, ...infer Rest] ? Rest : never): string[] => sorted(ranked, ...how).map(({ row }) => row.node);
  expect(names("blame", true)).toEqual(["guilty", "broken", "odd", "large", "small", "none"]);
  expect(names("order", false)).toEqual(nodes.map((one) => one.node));
  expect(names("isolated", true)).toEqual(["broken", "large", "small", "odd", "guilty", "none"]);
  expect(names("op", false)[0]).toBe("broken");
});

const output = (name: string, why = ""): DiffTensor => ({
  name, why, verdict: "pass", shape: [2], dtype: "float32", passed: true, metrics: {} as DiffTensor["metrics"], worst: [], passes_with: { atol: null, rtol: null },
});
const BEGUN: DiffPiece = { begun: { ...diff([]), verdict: null, partial: true } };
const piece = (said: Omit<DiffPiece, "begun">): DiffPiece => ({ begun: null, ...said });
const grownFrom = (...pieces: readonly DiffPiece[]): DiffDocument | undefined => pieces.reduce<DiffDocument | undefined>(grown, undefined);

test.each<[string, readonly DiffPiece[], readonly (readonly unknown[])[]]>([
  ["results are added", [piece({ outputs: [output("a")] }), piece({ outputs: [output("b")] })], [["a", ""], ["b", ""]]],
  ["a worse run replaces a result", [piece({ outputs: [output("a"), output("b")] }), piece({ outputs: [output("a", "worse")] })], [["a", "worse"], ["b", ""]]],
  ["other pieces leave them", [piece({ outputs: [output("a")] }), piece({ nodes: [node("mm", 1)], why: "because" })], [["a", ""]]],
  ["what is null has not changed", [piece({ outputs: [output("a")] }), piece({ verdict: null, why: null, notes: null })], [["a", ""]]],
])("a comparison that goes on: %s", (_what, pieces, expected) => {
  const shown = grownFrom(BEGUN, ...pieces)!;
  expect(shown.outputs.map(({ name, why }) => [name, why])).toEqual(expected);
  expect(shown).toMatchObject({ target: "Net", verdict: null, partial: true, notes: [] });
});

test("of a newer daemon's pieces, what is not known does no harm; a piece without a beginning is nothing", () => {
  const newer = { ...piece({ outputs: [output("a")] }), forecast: ["rain"], colour: null } as DiffPiece;
  expect(grownFrom(BEGUN, newer)?.outputs).toHaveLength(1);
  expect(grownFrom(newer)).toBeUndefined();
});

test("operations of a comparison that goes on are sorted by what is known of them", () => {
  const first = piece({ nodes: [node("right", 1, { isolated: error(0.1) })] });
  const shown = grownFrom(BEGUN, first, piece({ verdict: "wrong", nodes: [node("odd", 2, { isolated: error(0.01, 90) }), node("odd", 2)] }))!;
  expect(sorted(rankedNodes(shown), "blame", true).map(({ row, order }) => [row.node, order])).toEqual([["odd", 1], ["right", 0], ["odd", 2]]);
  expect(shown).toMatchObject({ target: "Net", verdict: "wrong" });
});

test("a layer that is repeated is blamed once, with all its modules", () => {
  const [first, second, other] = [node("gelu", 3), node("gelu_1", 3, { op: "aten.gelu.default" }), node("add", 3)];
  const groups = blameGroups(diff([], [blame(first, "blocks.1"), blame(second, "blocks.0"), blame(other, "")]));
  expect(groups.map(({ first: { op }, modules }) => [op, modules])).toEqual([["aten.gelu.default", ["blocks.1", "blocks.0"]], ["aten.add.default", []]]);
});

test.each([
  [null, "–"], [undefined, "–"], ["Infinity", "∞"], [Infinity, "∞"], [0, "0"], [40, "40"], [0.123456, "0.123"], [1234.5, "1230"], [2054637019, "2.1e9"], [-3e-7, "-3.0e-7"], ["NaN", "NaN"],
])("%s is written %s", (value, text) => {
  expect(short(value)).toBe(text);
});

test("places and types in words", () => {
  expect(placeText(placeOf(node("a", 3))!)).toBe("model.py:4");
  expect(placeOf(node("a", null))).toBeUndefined();
  expect([typeText("float32", [4, 10]), typeText("int", null)]).toEqual(["float32[4, 10]", "int"]);
  expect([relativeOf(null), relativeOf(error(null)), relativeOf(error(0.5))]).toEqual([-1, Infinity, 0.5]);
});

test("lines are as hot as their error is a multiple of the one to expect", () => {
  const nodes = [
    node("a", 1, { isolated: error(1e-6, 0.8) }), node("b", 2, { isolated: error(1e-3, 20) }), node("c", 2, { isolated: error(1e-5, 2) }),
    node("d", 3, { isolated: error(1, "Infinity") }), node("e", 4, { isolated: error(null, null, true) }), node("f", 5, { isolated: error(0.5) }), node("g", null, { isolated: error(1, 9) }),
  ];
  const heat = heatOf(diff(nodes), PATH);
  expect(heat.map(({ line, level, op, amount }) => [line, level, op, amount])).toEqual([[1, 0, "aten.a", "0.8×"], [2, 3, "aten.b", "20×"], [3, 4, "aten.d", "∞"], [4, 4, "aten.e", "∞"]]);
  expect(heatOf(diff(nodes), "/other.py")).toEqual([]);
  expect(heatOf(diff([node("a", 1, { accumulated: error(0.5, 5) })]), PATH)).toMatchObject([{ line: 1, level: 2 }]);
  expect(heatOf({ ...diff(nodes), verdict: "pass" }, PATH).map(({ level }) => level)).toEqual([0, 1, 1, 1]);
});

const HOT: HeatLine[] = [2, 5, 9].map((line) => ({ line, amount: "1×", op: "", module: "", level: 0 }));

test.each<[string, [number, number, number, number, string], number[]]>([
  ["typing in a hot line cools it", [5, 3, 5, 3, "x"], [2, 9]],
  ["typing in another line changes nothing", [4, 3, 4, 8, "x"], [2, 5, 9]],
  ["a new line above moves those below", [3, 4, 3, 4, "\n    y = 1"], [2, 6, 10]],
  ["whole lines before a hot line move it", [5, 0, 5, 0, "a\nb\n"], [2, 7, 11]],
  ["deleted lines go, the rest moves up", [4, 0, 6, 0, ""], [2, 7]],
  ["joined lines are others", [4, 3, 5, 0, " "], [2, 8]],
])("%s", (_what, [startLine, startCharacter, endLine, endCharacter, text], lines) => {
  expect(afterEdit(HOT, { startLine, startCharacter, endLine, endCharacter, text }).map(({ line }) => line)).toEqual(lines);
});

test("of two comparisons of one target that go on, the later one counts, whichever ends first", async () => {
  const folder = mkdtempSync(join(tmpdir(), "comparisons-"));
  const subject = { uri: "file:///model.py", target: "Net" };
  const comparisons = new Comparisons();
  const seen: unknown[] = [];
  comparisons.onDidGrow(({ options, first }) => { seen.push(["grew", options.backend, first]); });
  comparisons.onDidChange(({ options }) => { seen.push(["ended", options.backend]); });
  const begin = (backend: string): { piece: () => void; end: () => Promise<unknown> } => {
    let piece = (): void => undefined;
    let answer: (value: Awaited<ReturnType<Ask>>) => void = () => undefined;
    const path = join(folder, `${backend}.json`);
    writeFileSync(path, JSON.stringify(diff([])));
    const ended = comparisons.compare(subject, { backend }, (_request, listener) => {
      piece = () => { listener({ target: "Net", document: BEGUN }); };
      return new Promise((resolve) => { answer = resolve; });
    });
    const artifacts = [{ kind: "reports" as const, path, bytes: 2, media_type: "application/json" }];
    return { piece: () => { piece(); }, end: () => (answer({ uri: subject.uri, status: "clean", reason: null, notes: [], artifacts, comparisons: [] }), ended) };
  };
  const [older, newer] = [begin("inductor"), begin("spyre")];
  newer.piece();
  older.piece();
  await newer.end();
  expect(await older.end()).toMatchObject({ options: { backend: "inductor" } });
  expect(seen).toEqual([["grew", "spyre", true], ["ended", "spyre"]]);
  expect(comparisons.all().map(({ options }) => options.backend)).toEqual(["spyre"]);
  rmSync(folder, { recursive: true });
});

test("a key binding may say how to compare; what it does not know is left out", () => {
  expect(optionsIn({ uri: "file:///a.py", backend: "spyre", inject: ["drop-last-stick@12", 3], runs: 2, gradients: true, seed: "1" })).toEqual({
    backend: "spyre", inject: ["drop-last-stick@12"], runs: 2, gradients: true,
  });
  expect([optionsIn("file:///a.py"), optionsIn(undefined), optionsIn({ backend: "" })]).toEqual([{}, {}, {}]);
});
