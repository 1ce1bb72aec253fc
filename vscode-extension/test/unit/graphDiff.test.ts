/** What differs between two graphs, saves and stages alike. */

import { describe, expect, test } from "vitest";

import type { GraphNode } from "../../../shared_schema/generated/wire.js";
import { diffOf } from "../../webview/graph/diff/diff.js";
import { compare } from "../../webview/graph/diff/diffing.js";
import { type GraphTable, nameOf } from "../../webview/graph/model/table.js";
import { document, graph, read, transformer } from "./graphDocuments.js";

function op(name: string, inputs: readonly string[] = [], more: Partial<GraphNode> = {}): GraphNode {
  return { name, op: `aten.${name.replace(/_?\d*$/u, "")}.default`, inputs, module: "m", shape: [8, 64], dtype: "float32", ...more };
}

function table(nodes: readonly GraphNode[], name = "0", madeFrom = ""): GraphTable {
  return read(document([graph(nodes, name, "forward", madeFrom)])).graphs[0]!;
}

/** `removed a, changed b` and so on; unchanged nodes are left out. */
function said(left: GraphTable, right: GraphTable): string[] {
  const { leftChanges, rightChanges } = diffOf(left, right);
  return [
    ...leftChanges.flatMap((change, node) => (change === "removed" ? [`removed ${nameOf(left, node)}`] : [])),
    ...rightChanges.flatMap((change, node) => (change === "unchanged" ? [] : [`${change} ${nameOf(right, node)}`])),
  ];
}

const base = [op("mm"), op("relu", ["mm"]), op("sum", ["relu"])];

describe("two saves", () => {
  test.each<[string, readonly GraphNode[], readonly string[]]>([
    ["nothing", base, []],
    ["names only", [op("mm_7"), op("relu_9", ["mm_7"]), op("sum_3", ["relu_9"])], []],
    ["an operation more: its reader reads something else", [op("mm"), op("gelu", ["mm"]), op("relu", ["gelu"]), op("sum", ["relu"])], ["added gelu", "changed relu"]],
    ["an operation less", [op("mm"), op("sum", ["mm"])], ["removed relu", "changed sum"]],
    ["another data type", [op("mm"), op("relu", ["mm"], { dtype: "float64" }), op("sum", ["relu"])], ["changed relu"]],
    ["another shape", [op("mm", [], { shape: [8, 128] }), op("relu", ["mm"]), op("sum", ["relu"])], ["changed mm"]],
    ["another operation", [op("mm"), op("gelu", ["mm"]), op("sum", ["gelu"])], ["removed relu", "added gelu", "changed sum"]],
    ["another module's name", [op("mm", [], { module: "n" }), op("relu", ["mm"], { module: "n" }), op("sum", ["relu"])], ["changed mm", "changed relu"]],
    ["everything", [op("add"), op("mul", ["add"])], ["removed mm", "removed relu", "removed sum", "added add", "added mul"]],
    ["all of it gone", [], ["removed mm", "removed relu", "removed sum"]],
  ])("%s", (_name, nodes, changes) => {
    expect(said(table(base), table(nodes))).toEqual(changes);
  });

  test("the same operation again and again: one more is one more", () => {
    const chain = (length: number): GraphTable => table(Array.from({ length }, (_value, index) => op(`relu_${index}`, index === 0 ? [] : [`relu_${index - 1}`])));
    expect(diffOf(chain(50), chain(51)).counts).toMatchObject({ added: 1, removed: 0 });
  });

  test("a change in the last of many layers is found there, in a graph of 20,000 nodes", () => {
    const [left] = read(document([transformer(700)])).graphs;
    const [right] = read(document([transformer(700, { lastType: "float64" })])).graphs;
    const { counts, rightChanges } = diffOf(left!, right!);
    expect(counts).toMatchObject({ added: 0, removed: 0, changed: 22 + 6 });
    expect(rightChanges.indexOf("changed")).toBeGreaterThan(19_000);
  });

  test("a layer more is one layer of additions", () => {
    const [left] = read(document([transformer(8)])).graphs;
    const [right] = read(document([transformer(9)])).graphs;
    const { counts } = diffOf(left!, right!);
    expect(counts).toMatchObject({ added: 22 + 6, removed: 0, changed: 1 });
  });
});

describe("two stages", () => {
  test("inputs and parameters are paired by what they are to the model, whatever the compiler calls them", () => {
    const stage = (weight: string, input: string, name: string, from: string): GraphTable => table([
      { name: weight, op: "placeholder", role: "parameter", detail: "head.weight", module: "head", shape: [8, 64], dtype: "float32" },
      { name: input, op: "placeholder", role: "input", detail: "x", shape: [8], dtype: "float32" },
      op("mm", [weight, input], { origins: from === "" ? [] : ["mm"] }),
    ], name, from);
    expect(diffOf(stage("l_self_head_weight_", "l_x_", "0", ""), stage("primals_1", "primals_2", "0.joint", "0")).counts).toEqual({ unchanged: 3, changed: 0, added: 0, removed: 0 });
  });

  const fx = table([op("x", [], { role: "input", op: "placeholder" }), op("linear", ["x"]), op("dead", ["x"]), op("relu", ["linear"])], "0");
  const forward = table([
    op("x", [], { role: "input", op: "placeholder" }),
    op("t", ["x"], { origins: ["linear"] }), op("mm", ["t"], { origins: ["linear"] }),
    op("relu", ["mm"], { origins: ["relu"] }), op("detach", ["relu"]),
  ], "0.forward", "0");

  test("what an operation became is changed, what vanished is removed, what came from nowhere is added", () => {
    const { leftChanges, rightChanges } = diffOf(fx, forward);
    expect(leftChanges).toEqual(["unchanged", "changed", "removed", "changed"]);
    expect(rightChanges).toEqual(["unchanged", "changed", "changed", "changed", "added"]);
  });

  test("the other way round, added and removed swap", () => {
    const { diff } = compare(forward, fx);
    expect(diff.leftChanges).toEqual(["unchanged", "changed", "changed", "changed", "removed"]);
    expect(diff.counts).toMatchObject({ added: 1, removed: 1 });
  });
});
