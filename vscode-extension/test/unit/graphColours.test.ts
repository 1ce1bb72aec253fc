/** What the colours of nodes say: that they differ where they should, and are the same each time. */

import { expect, test } from "vitest";

import type { GraphNode } from "../../../shared_schema/generated/wire.js";
import { categoriesIn, COLOURS, dtypeColour, kernelColour, kernelsOf } from "../../webview/graph/model/colours.js";
import { findingsOf, unplaced } from "../../webview/graph/model/findings.js";
import type { GraphTable } from "../../webview/graph/model/table.js";
import { document, graph, place, read } from "./graphDocuments.js";

function table(nodes: readonly GraphNode[]): GraphTable {
  return read(document([graph(nodes)])).graphs[0]!;
}

test("data types differ in colour, the most frequent first; those after the last colour have none", () => {
  const dtypes = ["bool", "float64", "float32", "float32", "int64", "float64", "float32"];
  const some = table(dtypes.map((dtype, index) => ({ name: `n${index}`, op: "aten.relu.default", dtype })));
  expect(dtypes.map((_dtype, node) => dtypeColour(some, node))).toEqual([2, 1, 0, 0, 3, 1, 0]);
  const many = table(Array.from({ length: COLOURS + 2 }, (_value, index) => ({ name: `n${index}`, op: "aten.relu.default", dtype: `type${index}` })));
  expect(new Set(Array.from({ length: COLOURS }, (_value, node) => dtypeColour(many, node))).size).toBe(COLOURS);
  expect([dtypeColour(many, COLOURS), dtypeColour(table([{ name: "n", op: "output" }]), 0)]).toEqual([undefined, undefined]);
});

test("kernels that follow each other differ in colour; a node without one has none", () => {
  const kernels = Array.from({ length: COLOURS + 1 }, (_value, index) => `kernel_${index}`);
  const some = table([...kernels.map((kernel, index) => ({ name: `n${index}`, op: "aten.relu.default", kernels: [kernel] })), { name: "last", op: "aten.relu.default" }]);
  expect(kernels.map((_kernel, node) => kernelColour(some, node))).toEqual([0, 1, 2, 3, 4, 5, 6, 0]);
  expect(kernelColour(some, kernels.length)).toBeUndefined();
  expect(kernelsOf(some).size).toBe(COLOURS + 1);
});

test("a legend has the kinds of operations that there are", () => {
  expect(categoriesIn(table([
    { name: "x", op: "placeholder", role: "input" }, { name: "a", op: "aten.relu.default" }, { name: "b", op: "aten.mm.default" }, { name: "c", op: "aten.mm.default" },
    { name: "d", op: "Reduction + Pointwise" },
  ]))).toEqual(["product", "reduction", "other"]);
});

const FINDING = { rule: "dtype", severity: "error", message: "float64 is not supported", place: place(3), op: "aten._to_copy.default" } as const;

test("a finding is at what the compiler has made of its operation, not at all that it has put at the same expression", () => {
  const nodes = ["prims.convert_element_type.default", "aten.div.Tensor", "aten.amax.default"].map((op, index) => ({ name: `n${index}`, op, place: place(3) }));
  expect([...findingsOf(table(nodes), [FINDING]).keys()]).toEqual([0]);
  expect([...findingsOf(table(nodes.slice(1)), [FINDING]).keys()]).toEqual([0, 1]);
});

test("findings that are at no node are told apart: what stopped a capture, for one", () => {
  const some = table([{ name: "n", op: "aten.relu.default", place: place(3) }]);
  const stopped = { ...FINDING, rule: "timeout", op: null, place: place(0, 0, 0) };
  expect(unplaced([some], [FINDING, stopped])).toEqual([stopped]);
});
