/** The columnar file: what Python writes arrives in the page as it was sent, and nothing damaged gets in. */

import { decode, encode } from "@msgpack/msgpack";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import type { GraphDocument } from "../../../shared_schema/generated/wire.js";
import { type Document, readDocument } from "../../webview/graph/model/columns.js";
import { KINDS, nameOf, namesIn, placeOf, ROLES, row, word } from "../../webview/graph/model/table.js";
import { FormatError } from "../../webview/graph/model/values.js";
import { document as made, encodeDocument, read, transformer } from "./graphDocuments.js";

const GOLDEN = join(import.meta.dirname, "..", "..", "..", "shared_schema", "golden");
const golden = readFileSync(join(GOLDEN, "GraphColumns.graph"));
const wanted = JSON.parse(readFileSync(join(GOLDEN, "GraphColumns.json"), "utf8")) as GraphDocument;

/** Back to the shape of the wire, as far as the page keeps it. */
function plain(read: Document): unknown {
  return {
    ...read,
    graphs: read.graphs.map((table) => ({
      name: table.name, kind: table.kind, made_from: table.madeFrom,
      nodes: Array.from({ length: table.count }, (_value, node) => ({
        name: nameOf(table, node), op: word(table.ops, node), role: ROLES[table.roles[node] ?? 0],
        inputs: [...row(table.inputs, node)].map((input) => nameOf(table, input)),
        shape: word(table.shapes, node), dtype: word(table.dtypes, node), bytes: table.bytes[node], flops: table.flops[node], written: table.written[node], seconds: table.seconds[node], kind: KINDS[table.kinds[node] ?? -1] ?? null, detail: word(table.details, node),
        place: placeOf(table, node) ?? null, module: word(table.modules, node),
        origins: namesIn(table, table.origins, node), forward: namesIn(table, table.forward, node), kernels: namesIn(table, table.kernels, node),
      })),
    })),
  };
}

/** The same of what was written: names of no earlier node are left out, shapes are text. */
function expected(document: GraphDocument): unknown {
  const { target, stage, path, digest, accelerator, torch, kernels, listings, modules, notes, marks, specs } = document;
  return {
    target, stage, path, digest, accelerator, torch, kernels, listings, modules, notes, marks, specs,
    graphs: document.graphs.map(({ nodes, ...graph }) => ({
      ...graph,
      nodes: nodes.map(({ name, op, role, detail, place, module, origins, forward, kernels: of, shape, dtype, bytes, flops, written, seconds, kind, ...node }, index) => ({
        name, op, role, detail, place, module, origins, forward, kernels: of, dtype: dtype ?? "", bytes: bytes ?? -1, flops: flops ?? -1, written: written ?? -1, seconds: seconds ?? -1, kind: kind ?? null, shape: shape ? `[${shape.join(", ")}]` : "",
        inputs: (node.inputs ?? []).filter((input) => nodes.slice(0, index).some(({ name }) => name === input)),
      })),
    })),
  };
}

test("the golden file, written by Python, is read as it was sent", () => {
  expect(plain(readDocument(golden))).toEqual(expected(wanted));
});

test("the encoder of these tests writes what Python writes", () => {
  expect(plain(readDocument(encodeDocument(wanted)))).toEqual(expected(wanted));
});

test("columns are read wherever they stand in the file", () => {
  for (const shift of [0, 1, 2, 3, 5]) {
    const moved = new Uint8Array(golden.length + shift);
    moved.set(golden, shift);
    expect(readDocument(moved.subarray(shift)).graphs[0]?.count).toBe(4);
  }
});

describe("what is no graph file is refused, in words", () => {
  const said = decode(golden) as Record<string, unknown>;
  const [first, ...others] = said["graphs"] as Record<string, unknown>[];
  const broken: readonly (readonly [string, Uint8Array | ArrayBuffer])[] = [
    ["nothing", new Uint8Array(0)],
    ["text", new TextEncoder().encode("<html>not a graph</html>")],
    ["half a file", golden.subarray(0, golden.length / 2)],
    ["another format", encode({ ...said, format: "something" })],
    ["a later schema", encode({ ...said, schema: 2 })],
    ["an index that is not there", encode({ ...said, graphs: [{ ...first, names: new Uint8Array([255, 255, 255, 127]) }, ...others] })],
    ["columns of different length", encode({ ...said, graphs: [{ ...first, roles: new Uint8Array(4) }, ...others] })],
    ["a column that is none", encode({ ...said, graphs: [{ ...first, bytes: "eight" }, ...others] })],
    ["strings that are none", encode({ ...said, strings: [1, 2] })],
  ];
  test.each(broken)("%s", (_name, content) => {
    expect(() => readDocument(content)).toThrow(FormatError);
  });
});

test("a graph of 50,000 nodes is read whole", () => {
  const [table] = read(made([transformer(1_790)])).graphs;
  expect(table?.count).toBe(50_000 + 127);
});
