/** Searching graphs: what one can write, what it finds, and what is said of what cannot be understood. */

import { describe, expect, test } from "vitest";

import type { GraphNode } from "../../../shared_schema/generated/wire.js";
import { problemText } from "../../webview/graph/search/problems.js";
import { amountOf, parse } from "../../webview/graph/search/query.js";
import { matchesOf, NO_FILTER } from "../../webview/graph/search/search.js";
import { document, graph, read } from "./graphDocuments.js";

const NODES: readonly GraphNode[] = [
  { name: "x", op: "placeholder", role: "input", shape: [8, 64], dtype: "float32", bytes: 2048 },
  { name: "mm", op: "aten.mm.default", inputs: ["x"], shape: [1024, 1024], dtype: "bfloat16", bytes: 2 << 20, flops: 2e9, kind: "product", module: "layer.0.fc" },
  { name: "add_1", op: "aten.add.Tensor", inputs: ["mm"], shape: ["s0", 64], dtype: "float32", flops: 0, kind: "elementwise", module: "layer.0" },
  { name: "gelu", op: "aten.gelu.default", inputs: ["add_1"], shape: [2048, 1024], dtype: "int64", bytes: 16 << 20, flops: 0, kind: "elementwise", module: "layer.1 extra" },
  { name: "conv2d_3", op: "torch.conv2d", inputs: ["gelu"], shape: [1, 64, 8, 8], dtype: "float16", bytes: 8192, flops: 5e6, kind: "product", detail: "stride=[1, 1]" },
];
const [TABLE] = read(document([graph(NODES)])).graphs;
const FINDINGS = new Map([[1, [{ rule: "dtype", severity: "error" as const, message: "", op: null, place: { path: "", range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } } }, also: [] }]]]);

function found(text: string): string[] | undefined {
  return matchesOf(TABLE!, { ...NO_FILTER, text }, FINDINGS)?.map((node) => NODES[node]?.name ?? "");
}

test.each([
  ["gelu", ["gelu"]],
  ["GELU", ["gelu"]],
  ["layer.0 add", ["add_1"]],
  ["bf16", ["mm"]],
  ["op:mm", ["mm"]],
  ["op:/^aten\\.(mm|add)/", ["mm", "add_1"]],
  ["/conv\\d/", ["conv2d_3"]],
  ["/LAYER\\.\\d/ -gelu", ["mm", "add_1"]],
  ["shape:>1M", ["mm", "gelu"]],
  ["numel:>=2097152", ["gelu"]],
  ["shape:<1k", ["x"]],
  ["shape:64", ["x", "add_1", "conv2d_3"]],
  ["shape:s0", ["add_1"]],
  ["shape:=512", ["x"]],
  ["bytes:>4MiB", ["gelu"]],
  ["bytes:8192", ["mm", "gelu", "conv2d_3"]],
  ["flops:>1G", ["mm"]],
  ["flops:>1MFLOPs", ["mm", "conv2d_3"]],
  ["dtype:bf16", ["mm"]],
  ["dtype:bfloat16", ["mm"]],
  ["dtype:f16", ["conv2d_3"]],
  ["dtype:/^float/", ["x", "add_1", "conv2d_3"]],
  ["kind:elementwise", ["add_1", "gelu"]],
  ["-kind:elementwise -x", ["mm", "conv2d_3"]],
  ["rule:dtype", ["mm"]],
  ['module:"1 extra"', ["gelu"]],
  ['"stride=[1, 1]"', ["conv2d_3"]],
  ["dtype:bf16 shape:>1M op:mm", ["mm"]],
  ["dtype:bf16 shape:>2M", []],
  ["OP:MM", ["mm"]],
  ["add_1 ", ["add_1"]],
  ["-", []],
  ["aten::mm", []],
  ["a/b", []],
])("%s", (text, names) => {
  expect(parse(text).problem).toBeUndefined();
  expect(found(text)).toEqual(names);
});

test.each([
  ["/conv(/", "pattern", /\/conv\(\/ is no regular expression: .+/u],
  ["op:/[/", "pattern", /no regular expression/u],
  ["shape:>big", "number", "big is no number; write 1000, 1.5M or 4MiB."],
  ["bytes:x", "number", /x is no number/u],
  ["flops:>", "number", "A number is missing, such as 1M."],
  ["color:red", "field", "There is no color: to search for; there are op: module: name: rule: dtype: kind: shape: bytes: flops:."],
  ["op:", "nothing", "Something is missing after op:"],
  ["relu dtype:", "nothing", /after dtype:/u],
])("%s is told to be wrong", (text, what, words) => {
  const { problem, terms } = parse(text);
  expect(terms).toEqual([]);
  expect(problem?.what).toBe(what);
  expect(problemText(problem!)).toMatch(words);
  expect(found(text)).toBeUndefined();
});

describe("half-written searches and odd letters do no harm", () => {
  test.each(["/", "/co", '"two wo', "op:/^m", "((((", "a".repeat(5000), "-".repeat(50), "\u0000", "🙂 op:🙂", "/(?<a>b)/", "shape:>", "::", "op::", "/a/zz"])("%j", (text) => {
    expect(() => found(text)).not.toThrow();
  });
});

test.each([["1M", 1e6], ["4MiB", 4 * 2 ** 20], ["1.5k", 1500], ["1,5k", 1500], ["1,000,000", 1e6], ["2_000", 2000], [".5G", 5e8], ["3B", 3], ["3KB", 3000], ["1e3", undefined], ["iB", undefined], ["", undefined], ["-1", undefined]])("%s is %s", (text, amount) => {
  expect(amountOf(text)).toBe(amount);
});
