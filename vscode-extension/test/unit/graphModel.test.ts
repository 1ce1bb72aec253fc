/** Scopes, folding, layout, links, search: what the graph page works out before it draws. */

import { describe, expect, test } from "vitest";

import type { GraphNode } from "../../../shared_schema/generated/wire.js";
import { fold } from "../../webview/graph/layout/fold.js";
import { type Hierarchy, modulesOf, nodesBelow, type Scope, scopeAt } from "../../webview/graph/model/hierarchy.js";
import { labelOf, titleOf } from "../../webview/graph/looks/labels.js";
import { layoutOf, Memory, type Sizes } from "../../webview/graph/layout/layout.js";
import { libraryOf, nodesAt, relatedTo, relatedToKernel } from "../../webview/graph/model/library.js";
import { loopText } from "../../webview/graph/looks/specTexts.js";
import { specsOf } from "../../webview/graph/model/specs.js";
import { openUpTo } from "../../webview/graph/layout/opening.js";
import { matchesOf, NO_FILTER } from "../../webview/graph/search/search.js";
import { eachVisible, skeletonOf } from "../../webview/graph/layout/skeleton.js";
import { bytesText, type GraphTable, indexOfNames, nameOf, row, shortOp } from "../../webview/graph/model/table.js";
import { type Problem, visibleOf } from "../../webview/graph/layout/visible.js";
import { document, graph, place, read, transformer, TRANSFORMER_CLASSES } from "./graphDocuments.js";

function table(nodes: readonly GraphNode[]): GraphTable {
  return read(document([graph(nodes)])).graphs[0]!;
}

function op(name: string, inputs: readonly string[] = [], module = "", more: Partial<GraphNode> = {}): GraphNode {
  return { name, op: "aten.relu.default", inputs, module, shape: [8, 64], dtype: "float32", bytes: 2048, ...more };
}

function hierarchyOf(graph: GraphTable): Hierarchy {
  return fold(modulesOf(graph));
}

/** The scopes in use, as lines: kind, title, times. */
function outline(hierarchy: Hierarchy, id = 0, depth = 0): string[] {
  const scope = hierarchy.scopes[id]!;
  const own = id === 0 ? [] : [`${"  ".repeat(depth - 1)}${scope.kind} ${titleOf(hierarchy, scope)}${scope.times > 1 ? ` × ${scope.times}` : ""}`];
  return [...own, ...scope.children.flatMap((item) => {
    const inner = scopeAt(hierarchy, item);
    return inner ? outline(hierarchy, inner.id, depth + 1) : [];
  })];
}

/** Whether the boxes of a scope, taken as wholes, form a graph without cycles. */
function isAcyclic(hierarchy: Hierarchy, scope: Scope): boolean {
  const childOf = new Map<number, number>();
  for (const child of scope.children) for (const node of nodesBelow(hierarchy, child)) childOf.set(node, child);
  const needs = new Map<number, Set<number>>();
  for (const [node, child] of childOf) {
    for (const input of row(hierarchy.table.inputs, node)) {
      const from = childOf.get(input);
      if (from !== undefined && from !== child) needs.set(child, (needs.get(child) ?? new Set()).add(from));
    }
  }
  const placed = new Set<number>();
  for (let size = -1; placed.size > size;) {
    size = placed.size;
    for (const child of scope.children) if ([...(needs.get(child) ?? [])].every((need) => placed.has(need))) placed.add(child);
  }
  return placed.size === scope.children.length;
}

describe("scopes", () => {
  test.each([["forward", "inductor_lookup_seed.default", 1], ["ir", "Pointwise", 1], ["forward", "aten.sum.dim_IntList", 0]] as const)("layers whose operations are only numbered differently fold as one (%s, %s)", (kind, counted, folds) => {
    const layer = (index: number): GraphNode[] => [
      op(`seed${index}`, index > 0 ? [`relu${index - 1}`] : [], `layer.${index}`, { op: counted, detail: String(index) }),
      op(`relu${index}`, [`seed${index}`], `layer.${index}`),
    ];
    const [forward] = read(document([{ ...graph([0, 1, 2].flatMap(layer)), kind }])).graphs;
    expect(outline(hierarchyOf(forward!)).some((line) => line.includes("× 2"))).toBe(folds === 1);
  });

  test("identical layers fold as one, and a module that is one operation is that operation", () => {
    const [forward] = read(document([transformer(12)], { modules: TRANSFORMER_CLASSES })).graphs;
    const hierarchy = hierarchyOf(forward!);
    expect(outline(hierarchy).slice(0, 5)).toEqual([
      "repeat encoder.layer × 12", "  module layer.0", "    module attention", "    module norm1", "    module mlp",
    ]);
    const query = indexOfNames(forward!).get("l0_query")!;
    expect(labelOf(hierarchy, {}, query)).toEqual({ title: "addmm", beside: "query", line: "f32[8, 128, 768]  ·  3 MiB", stubs: ["query.weight  f32[768, 768]"] });
  });

  test("a layer that differs stays beside the folded ones", () => {
    const [forward] = read(document([transformer(12, { lastType: "float64" })])).graphs;
    expect(outline(hierarchyOf(forward!)).filter((line) => /layer\.(?:0–10|11)/u.test(line))).toEqual(["  repeat layer.0–10 × 11", "  module layer.11"]);
  });

  test("query, key and value are not folded: they are no list", () => {
    const parts = ["query", "key", "value"].flatMap((name) => [op(`${name}1`, ["x"], `attention.${name}`), op(`${name}2`, [`${name}1`], `attention.${name}`)]);
    const lines = outline(hierarchyOf(table([{ name: "x", op: "placeholder", role: "input" }, ...parts, op("end", ["query2", "key2", "value2"])])));
    expect(lines).toEqual(["module attention", "  module query", "  module key", "  module value"]);
  });

  test("a module that runs twice with something in between is two scopes", () => {
    const nodes = [op("a", [], "relu"), op("a2", ["a"], "relu"), op("b", ["a2"], "linear"), op("b2", ["b"], "linear"), op("c", ["b2"], "relu"), op("c2", ["c"], "relu")];
    expect(outline(hierarchyOf(table(nodes)))).toEqual(["module relu", "module linear", "module relu"]);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8])("folded graphs never have cycles (random modules, seed %i)", (seed) => {
    let state = seed * 7919;
    const random = (below: number): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % below;
    const nodes = Array.from({ length: 400 }, (_value, index) => {
      const inputs = index === 0 ? [] : Array.from({ length: 1 + random(2) }, () => `n${Math.max(0, index - 1 - random(12))}`);
      return op(`n${index}`, inputs, Array.from({ length: random(4) }, () => `m${random(3)}`).join("."));
    });
    const hierarchy = hierarchyOf(table(nodes));
    for (const scope of hierarchy.scopes) expect(isAcyclic(hierarchy, scope)).toBe(true);
    expect(nodesBelow(hierarchy, 400).sort((left, right) => left - right)).toEqual(nodes.map((_node, index) => index));
  });

  test("a scope with too many children is split into parts", () => {
    const nodes = Array.from({ length: 50_000 }, (_value, index) => op(`n${index}`, index === 0 ? [] : [`n${index - 1}`]));
    const hierarchy = hierarchyOf(table(nodes));
    for (const scope of hierarchy.scopes) expect(scope.children.length).toBeLessThanOrEqual(300);
    expect(nodesBelow(hierarchy, 50_000).length).toBe(50_000);
    expect(titleOf(hierarchy, scopeAt(hierarchy, hierarchy.scopes[0]!.children[1]!)!)).toBe("part 201–400");
  });

  test("a graph of one node, and one of none, have something to show", () => {
    expect(hierarchyOf(table([{ name: "x", op: "placeholder", role: "parameter" }])).scopes[0]?.children).toEqual([0]);
    expect(hierarchyOf(table([])).scopes[0]?.children).toEqual([]);
  });
});

describe("layout", () => {
  const show = (hierarchy: Hierarchy, open: ReadonlySet<number>): Problem => visibleOf(skeletonOf(hierarchy), open);
  const sizesOf = (hierarchy: Hierarchy): Sizes => {
    const items = hierarchy.table.count + hierarchy.scopes.length;
    return { widths: new Float32Array(items).fill(120), heights: new Float32Array(items).fill(40) };
  };
  const childrenOf = ({ ends }: Problem, scope: number): number[] => {
    const found: number[] = [];
    for (let child = scope + 1; child < ends[scope]!; child = ends[child]!) found.push(child);
    return found;
  };

  /** Boxes of one scope do not overlap, scopes hold their children, wires run downwards. */
  function check(hierarchy: Hierarchy, open: ReadonlySet<number>): number {
    const visible = show(hierarchy, open);
    const { boxes, pieces } = layoutOf(visible, sizesOf(hierarchy));
    const at = (box: number): [number, number, number, number] => [boxes[box * 4]!, boxes[box * 4 + 1]!, boxes[box * 4 + 2]!, boxes[box * 4 + 3]!];
    for (const scope of visible.items.keys()) {
      if (visible.open[scope] !== 1) continue;
      const [left, top, width, height] = at(scope);
      const rows = childrenOf(visible, scope).map(at).sort((one, other) => one[1] - other[1] || one[0] - other[0]);
      rows.forEach(([x, y, w, h], index) => {
        expect(x).toBeGreaterThanOrEqual(left - 0.5);
        expect(y).toBeGreaterThanOrEqual(top - 0.5);
        expect(x + w).toBeLessThanOrEqual(left + width + 0.5);
        expect(y + h).toBeLessThanOrEqual(top + height + 0.5);
        const next = rows[index + 1];
        if (next) expect(next[1] >= y + h - 0.5 || next[0] >= x + w - 0.5).toBe(true);
      });
    }
    for (let piece = 0; piece < pieces.length; piece += 4) expect(pieces[piece + 3]!).toBeGreaterThanOrEqual(pieces[piece + 1]! - 0.5);
    return visible.items.length;
  }

  test.each([0, 40, 200, 3_000])("boxes stand apart, in their scopes, in the order of the data (up to %i open)", (budget) => {
    const [forward] = read(document([transformer(24)])).graphs;
    const hierarchy = hierarchyOf(forward!);
    expect(check(hierarchy, openUpTo(hierarchy, budget))).toBeGreaterThan(5);
  });

  test("what is remembered of earlier layouts changes nothing: folding and unfolding draws what a first layout would", () => {
    const [forward] = read(document([transformer(6)])).graphs;
    const hierarchy = hierarchyOf(forward!);
    const memory = new Memory();
    const open = new Set(openUpTo(hierarchy, 400));
    const order = [...open].filter((id) => id > 0);
    for (const id of [...order, ...order]) {
      if (!open.delete(id)) open.add(id);
      const visible = show(hierarchy, open);
      expect(layoutOf(visible, sizesOf(hierarchy), memory)).toEqual(layoutOf(visible, sizesOf(hierarchy)));
    }
    expect(memory.size).toBeGreaterThan(5);
  });

  test("every wire between two boxes arrives, through as many borders as it takes", () => {
    const [forward] = read(document([transformer(2)])).graphs;
    const hierarchy = hierarchyOf(forward!);
    const visible = show(hierarchy, openUpTo(hierarchy, 1_000));
    const { sources, targets } = layoutOf(visible, sizesOf(hierarchy));
    const arrived = new Set([...targets].flatMap((target, piece) => (target >= 0 ? [`${sources[piece]}>${target}`] : [])));
    for (let at = 0; at < visible.links.length; at += 2) expect(arrived).toContain(`${visible.links[at]}>${visible.links[at + 1]}`);
  });

  test("the wire of a short box passes beside the tall scope in its row, not through it", () => {
    const inside = Array.from({ length: 8 }, (_value, index) => op(`m${index}`, index === 0 ? ["x"] : [`m${index - 1}`], "tall"));
    const hierarchy = hierarchyOf(table([op("x"), op("short", ["x"]), ...inside, op("end", ["m7", "short"])]));
    const visible = show(hierarchy, openUpTo(hierarchy, 100));
    const { boxes, pieces, sources } = layoutOf(visible, sizesOf(hierarchy));
    const tall = visible.open.indexOf(1, 1);
    const [left, top, width, height] = boxes.subarray(tall * 4, tall * 4 + 4);
    const short = visible.boxOfItem[1];
    const own = [...sources.keys()].filter((piece) => sources[piece] === short).map((piece) => [...pieces.subarray(piece * 4, piece * 4 + 4)]);
    expect(own.length).toBeGreaterThan(1);
    for (const [x1, y1, x2] of own) {
      const beside = [x1!, x2!].every((x) => x < left! || x > left! + width!);
      expect(beside || y1! >= top! + height! - 0.5).toBe(true);
    }
  });

  test("what is measured is what is on show", () => {
    const [forward] = read(document([transformer(6)])).graphs;
    const hierarchy = hierarchyOf(forward!);
    for (const open of [new Set([0]), openUpTo(hierarchy, 40), new Set(hierarchy.scopes.map(({ id }) => id).filter((id) => id !== 1))]) {
      const seen: number[] = [];
      eachVisible(skeletonOf(hierarchy), open, (item) => { seen.push(item); });
      expect(seen.sort((one, other) => one - other)).toEqual([...show(hierarchy, open).items].sort((one, other) => one - other));
    }
  });

  test("an input that everything reads does not blow the drawing up", () => {
    const nodes = [op("mask"), ...Array.from({ length: 250 }, (_value, index) => op(`n${index}`, ["mask", index === 0 ? "mask" : `n${index - 1}`]))];
    const hierarchy = hierarchyOf(table(nodes));
    const { stubs, boxes } = layoutOf(show(hierarchy, new Set([0])), sizesOf(hierarchy));
    expect(stubs.length).toBeGreaterThan(0);
    expect(boxes[2]).toBeLessThan(500);
  });

  test("the same graph is always drawn alike", () => {
    const [forward] = read(document([transformer(4)])).graphs;
    const draw = (): Float32Array => {
      const hierarchy = hierarchyOf(forward!);
      return layoutOf(show(hierarchy, openUpTo(hierarchy, 500)), sizesOf(hierarchy)).boxes;
    };
    expect(draw()).toEqual(draw());
  });
});

describe("links between graphs", () => {
  const forward = graph([op("mm", [], "", { place: place(3) }), op("relu", ["mm"], "", { place: place(4) })], "0.forward", "forward", "0");
  const fx = graph([op("linear", [], "", { place: place(3) }), op("act", ["linear"], "", { place: place(4) })], "0", "fx");
  const backward = graph([op("threshold", [], "", { forward: ["relu"] }), op("mm_1", ["threshold"], "", { forward: ["mm"] })], "0.backward", "backward", "0");
  const post = graph([op("mm", [], "", { origins: ["mm"] }), op("relu", ["mm"], "", { origins: ["relu"], kernels: ["cpp_fused_relu_0"] })], "0.forward.post", "post_grad", "0.forward");
  const written = document([fx, { ...forward, nodes: forward.nodes.map((node, index) => ({ ...node, origins: [["linear"], ["act"]][index]! })) }, backward, post], {
    kernels: [{ name: "cpp_fused_relu_0", language: "cpp", source: "void kernel() {}", graph: "0.forward.post", nodes: ["relu"], places: [place(4)], build: null }],
  });
  const library = libraryOf([read(written)]);
  const names = (nodes: ReadonlyMap<string, ReadonlySet<number>>): Record<string, string[]> =>
    Object.fromEntries([...nodes].map(([id, all]) => [id, [...all].map((node) => nameOf(library.entries.find((entry) => entry.id === id)!.table, node))]));

  test("from an FX node down to the kernel, and across to the backward", () => {
    const { nodes, kernels } = relatedTo(library, "now/0", [1]);
    expect(names(nodes)).toEqual({ "now/0": ["act"], "now/0.forward": ["relu"], "now/0.backward": ["threshold"], "now/0.forward.post": ["relu"] });
    expect([...kernels]).toEqual(["cpp_fused_relu_0"]);
  });

  test("what a pass has put in belongs to what is at its expression, both ways", () => {
    const replaced = { ...forward, nodes: [...forward.nodes.map((node, index) => ({ ...node, origins: [["linear"], ["act"]][index]! })), op("amax", ["mm"], "", { place: place(4), origins: ["", "amax"] })] };
    const small = libraryOf([read(document([fx, replaced]))]);
    const of = (id: string, node: number, other: string): number[] => [...(relatedTo(small, id, [node]).nodes.get(other) ?? [])];
    expect(of("now/0.forward", 2, "now/0")).toEqual([1]);
    expect(of("now/0", 1, "now/0.forward")).toEqual([1, 2]);
    expect(of("now/0", 0, "now/0.forward")).toEqual([0]);
  });

  test("from a kernel back up", () => {
    expect(names(relatedToKernel(library, library.kernels[0]!))["now/0"]).toEqual(["act"]);
  });

  test("from the cursor to the nodes of the smallest expression around it", () => {
    const nested = table([op("outer", [], "", { place: place(3, 4, 40) }), op("inner", [], "", { place: place(3, 10, 5) })]);
    expect([...nodesAt(nested, "/project/model.py", 3, 12)].map((node) => nameOf(nested, node))).toEqual(["inner"]);
    expect([...nodesAt(nested, "/project/model.py", 3, 20)].map((node) => nameOf(nested, node))).toEqual(["outer"]);
    expect(nodesAt(nested, "/elsewhere.py", 3, 12).size).toBe(0);
  });
});

describe("findings and search", () => {
  const nodes = [
    op("a", [], "encoder", { place: place(3, 8, 20) }),
    op("b", ["a"], "encoder", { place: place(3, 8, 20), op: "aten._to_copy.default", dtype: "float64" }),
    op("c", ["b"], "head", { place: place(4, 8, 20) }),
  ];
  const one = table(nodes);
  const finding = { rule: "dtype", severity: "error", message: "float64", place: place(3, 4, 30), op: "aten._to_copy.default", also: [] } as const;

  test.each([
    [{ text: "ENCODER relu" }, [0]],
    [{ text: "f64" }, [1]],
    [{ text: "float64" }, [1]],
    [{ text: "head" }, [2]],
    [{ dtypes: new Set(["f64"]) }, [1]],
    [{ rules: new Set(["dtype"]) }, [1]],
    [{ rules: new Set(["dtype"]), text: "head" }, []],
  ])("%j finds %j", (filter, found) => {
    expect(matchesOf(one, { ...NO_FILTER, ...filter }, new Map([[1, [finding]]]))).toEqual(found);
  });

  test("no filter is no filter", () => {
    expect(matchesOf(one, NO_FILTER, new Map())).toBeUndefined();
  });
});

test.each([
  ["aten.native_layer_norm.default", "native_layer_norm"],
  ["torch.nn.functional.linear", "linear"],
  ["_operator.getitem", "getitem"],
  ["aten.add.Tensor", "add"],
  ["relu", "relu"],
  ["call_method", "call_method"],
])("%s is called %s", (name, short) => {
  expect(shortOp(name)).toBe(short);
});

test.each([[-1, ""], [0, "0 B"], [1023, "1023 B"], [1536, "1.5 KiB"], [3 * 1024 * 1024, "3 MiB"]])("%i bytes are %j", (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

describe("specs", () => {
  const spec = {
    kernel: "k", op: "aten.relu.default", graph: "0.post_grad", nodes: ["relu"], step: "op0", reduction: false, loops: [], arguments: [], inserted: [],
    place: null, remarks: [], file: "",
  };
  const specs = { accelerator: "spyre", origin: "derived" as const, left_out: [], notes: [], specs: [spec, { ...spec, op: "aten.exp.default", nodes: ["exp"] }, { ...spec, graph: "1.post_grad" }] };
  const lowered = graph([{ name: "relu", op: "aten.relu.default" }, { name: "exp", op: "aten.exp.default" }], "0.post_grad", "post_grad");
  const ir = graph([{ name: "op0", op: "Pointwise" }], "0.ir", "ir", "0.post_grad");
  const { specs: known, entries } = libraryOf([read(document([lowered, ir], { specs }))]);
  const ops = (at: number, node: number): string[] => specsOf(known, entries[at]!.table, node).flatMap((found) => found.specs.map(({ op }) => op));

  test("stand at the nodes that they compute, and together at the scheduler's node", () => {
    expect(ops(0, 0)).toEqual(["aten.relu.default"]);
    expect(ops(0, 1)).toEqual(["aten.exp.default"]);
    expect(ops(1, 0)).toEqual(["aten.relu.default", "aten.exp.default"]);
  });

  test("loops tell the padded size, whatever is known of them", () => {
    const loop = { name: "d1", extent: 65, padded: 128, reduced: true, cores: null };
    expect(loopText(loop)).toBe("d1 = 65 → 128 reduced");
    expect(loopText({ ...loop, extent: "s0", padded: null, reduced: false, cores: 32 })).toBe("d1 = s0 over 32 cores");
  });
});
