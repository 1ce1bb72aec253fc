/** What the colours of nodes say: that they differ where they should, and are the same each time. */

import { expect, test } from "vitest";

import type { GraphNode, Mark } from "../../../shared_schema/generated/wire.js";
import { COLOURS, dtypeColour, kernelColour, kernelsOf, kindOf, kindsIn } from "../../webview/graph/looks/colours.js";
import { findingsOf, type NodeFinding, unplaced } from "../../webview/graph/model/findings.js";
import { libraryOf } from "../../webview/graph/model/library.js";
import { type GraphTable, nameOf } from "../../webview/graph/model/table.js";
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
  const some = table([
    { name: "x", op: "placeholder", role: "input" }, { name: "a", op: "aten.relu.default", kind: "elementwise" }, { name: "b", op: "aten.mm.default", kind: "product" },
    { name: "c", op: "aten.mm.default", kind: "product" }, { name: "d", op: "Reduction + Pointwise", kind: "reduction" },
  ]);
  expect(kindsIn(some)).toEqual(["product", "reduction", "elementwise"]);
  expect([0, 1].map((node) => kindOf(some, node))).toEqual([undefined, "elementwise"]);
});

const FINDING: NodeFinding = { rule: "dtype", severity: "error", message: "float64 is not supported", place: place(3), op: "aten._to_copy.default", also: [] };

/** A library model: all of it stands at one expression of the user's. */
const FX = graph(["double", "sin", "float", "relu"].map((name) => ({ name, op: `Tensor.${name}`, place: place(3) })), "0", "fx");
const FORWARD = graph([
  { name: "_to_copy", op: "aten._to_copy.default", origins: ["double"] }, { name: "sin", op: "aten.sin.default", origins: ["sin"] },
  { name: "_to_copy_1", op: "aten._to_copy.default", origins: ["float"] }, { name: "relu", op: "aten.relu.default", origins: ["relu"] },
].map((node) => ({ ...node, place: place(3) })), "0.forward", "forward", "0");

function marked(marks: readonly Mark[], finding: NodeFinding, id: string): string[] {
  const library = libraryOf([read(document([FX, FORWARD], { marks }))]);
  const entry = library.entries.find((one) => one.id === id)!;
  return [...findingsOf(library, entry, [finding]).keys()].map((node) => nameOf(entry.table, node));
}

test("a finding is at the nodes that the daemon has named, not at all that stand at its expression", () => {
  const marks = [{ rule: "dtype", place: place(3), graph: "0", nodes: ["double"] }, { rule: "dtype", place: place(3), graph: "0.forward", nodes: ["_to_copy"] }, { rule: "layout", place: place(3), graph: "0", nodes: ["relu"] }];
  expect([marked(marks, FINDING, "now/0"), marked(marks, FINDING, "now/0.forward")]).toEqual([["double"], ["_to_copy"]]);
});

test("in a graph that it was not named in, it is at what the named nodes became", () => {
  expect(marked([{ rule: "dtype", place: place(3), graph: "0", nodes: ["double"] }], FINDING, "now/0.forward")).toEqual(["_to_copy"]);
  expect(marked([{ rule: "dtype", place: place(3), graph: "0.forward", nodes: ["relu"] }], FINDING, "now/0")).toEqual(["relu"]);
});

test("a name that a later stage's graph of the same name has no more hides nothing", () => {
  const marks = [{ rule: "dtype", place: place(3), graph: "0.forward", nodes: ["gone"] }, { rule: "dtype", place: place(3), graph: "0", nodes: ["double"] }];
  expect(marked(marks, FINDING, "now/0.forward")).toEqual(["_to_copy"]);
});

test("what is told once for several places is marked at all of them", () => {
  const marks = [{ rule: "dtype", place: place(9), graph: "0", nodes: ["sin"] }];
  expect(marked(marks, FINDING, "now/0")).toEqual([]);
  expect(marked(marks, { ...FINDING, also: [place(9)] }, "now/0")).toEqual(["sin"]);
});

test("a finding about no operation is at the value of its expression alone", () => {
  expect(marked([], { ...FINDING, rule: "graph-break", op: null }, "now/0")).toEqual(["relu"]);
});

test("findings that are at no node are told apart: what stopped a capture, for one", () => {
  const library = libraryOf([read(document([FX], { marks: [{ rule: "dtype", place: place(3), graph: "0", nodes: ["double"] }] }))]);
  const stopped = { ...FINDING, rule: "timeout", op: null, place: place(0, 0, 0) };
  expect(unplaced(library, [FINDING, stopped])).toEqual([stopped]);
});
