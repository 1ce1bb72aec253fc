/**
 * Graph documents for the tests of the graph view: a transformer of any size, small graphs by hand, and the encoder of the columnar
 * format (the twin of `graph_columns.encode`), so that every test reads what the page would read.
 */

import { encode } from "@msgpack/msgpack";

import type { Graph, GraphDocument, GraphKind, GraphNode, Location, OperationKind } from "../../../shared_schema/generated/wire.js";
import { KINDS } from "../../webview/graph/model/table.js";
import { type Document, readDocument } from "../../webview/graph/model/columns.js";

export const MODEL_PATH = "/project/model.py";

export function place(line: number, character = 8, length = 20, path = MODEL_PATH): Location {
  return { path, range: { start: { line, character }, end: { line, character: character + length } } };
}

export function document(graphs: readonly Graph[], more: Partial<GraphDocument> = {}): GraphDocument {
  return {
    target: "Model", stage: "aot", path: MODEL_PATH, digest: "d1", accelerator: "mock", torch: "2.13.0", graphs, kernels: [], listings: [],
    modules: {}, notes: [], marks: [], schema: 1, ...more,
  };
}

export function graph(nodes: readonly GraphNode[], name = "0.forward", kind: GraphKind = "forward", madeFrom = ""): Graph {
  return { name, kind, nodes, made_from: madeFrom };
}

/** As the page reads it. */
export function read(written: GraphDocument): Document {
  return readDocument(encodeDocument(written));
}

/** One encoder layer: 22 operations, 2 residual edges, a mask that every layer reads. */
const LAYER: readonly (readonly [name: string, op: string, inputs: readonly string[], module: string, line: number])[] = [
  ["query", "aten.addmm.default", ["@in"], "attention.query", 20],
  ["query_v", "aten.view.default", ["query"], "attention", 23],
  ["key", "aten.addmm.default", ["@in"], "attention.key", 21],
  ["key_v", "aten.view.default", ["key"], "attention", 24],
  ["value", "aten.addmm.default", ["@in"], "attention.value", 22],
  ["value_v", "aten.view.default", ["value"], "attention", 25],
  ["key_t", "aten.permute.default", ["key_v"], "attention", 26],
  ["scores", "aten.bmm.default", ["query_v", "key_t"], "attention", 26],
  ["scaled", "aten.div.Tensor", ["scores"], "attention", 27],
  ["masked", "aten.add.Tensor", ["scaled", "mask"], "attention", 28],
  ["weights", "aten._softmax.default", ["masked"], "attention", 29],
  ["mixed", "aten.bmm.default", ["weights", "value_v"], "attention", 30],
  ["mixed_v", "aten.view.default", ["mixed"], "attention", 31],
  ["out", "aten.addmm.default", ["mixed_v"], "attention.output", 32],
  ["sum1", "aten.add.Tensor", ["out", "@in"], "", 40],
  ["norm1", "aten.native_layer_norm.default", ["sum1"], "norm1", 41],
  ["item1", "_operator.getitem", ["norm1"], "norm1", 41],
  ["up", "aten.addmm.default", ["item1"], "mlp.up", 42],
  ["gelu", "aten.gelu.default", ["up"], "mlp", 43],
  ["down", "aten.addmm.default", ["gelu"], "mlp.down", 44],
  ["sum2", "aten.add.Tensor", ["down", "item1"], "", 45],
  ["norm2", "aten.native_layer_norm.default", ["sum2"], "norm2", 46],
];
export const OPS_PER_LAYER = LAYER.length;
const KIND_OF: Readonly<Record<string, OperationKind>> = {
  addmm: "product", bmm: "product", view: "layout", permute: "layout", getitem: "layout", _softmax: "reduction", native_layer_norm: "reduction", embedding: "lookup",
};

/** A transformer's forward graph; every matrix product has a weight. `width` sets all shapes, `lastType` the last layer's data type. */
export function transformer(layers: number, { width = 768, lastType = "float32", name = "0.forward" } = {}): Graph {
  const shape = [8, 128, width];
  const size = 8 * 128 * width * 4;
  const nodes: GraphNode[] = [
    { name: "tokens", op: "placeholder", role: "input", shape: [8, 128], dtype: "int64", bytes: 8192, detail: "tokens" },
    { name: "mask_in", op: "placeholder", role: "input", shape: [8, 128], dtype: "bool", bytes: 1024, detail: "mask" },
  ];
  const op = (node: Partial<GraphNode> & { name: string; op: string; inputs: readonly string[] }): void => {
    const kind = KIND_OF[node.op.split(".")[1] ?? ""] ?? "elementwise";
    nodes.push({ shape, dtype: "float32", bytes: size, role: "op", kind, written: kind === "layout" ? 0 : size, flops: kind === "product" ? 2 * 8 * 128 * width * width : 0, ...node });
  };
  nodes.push({ name: "table", op: "placeholder", role: "parameter", shape: [30_000, width], dtype: "float32", bytes: 30_000 * width * 4, detail: "embedding.weight" });
  op({ name: "mask", op: "aten.where.self", inputs: ["mask_in"], place: place(9) });
  op({ name: "embedded", op: "aten.embedding.default", inputs: ["table", "tokens"], module: "embedding", place: place(10) });
  let last = "embedded";
  for (let layer = 0; layer < layers; layer += 1) {
    const module = `encoder.layer.${layer}`;
    const dtype = layer === layers - 1 ? lastType : "float32";
    for (const [own, kind, inputs, inner, line] of LAYER) {
      const names = inputs.map((input) => (input === "@in" ? last : input === "mask" ? "mask" : `l${layer}_${input}`));
      if (kind === "aten.addmm.default") {
        const weight = `w${layer}_${own}`;
        nodes.push({ name: weight, op: "placeholder", role: "parameter", shape: [width, width], dtype, bytes: width * width * 4, detail: `${module}.${inner}.weight` });
        names.push(weight);
      }
      op({ name: `l${layer}_${own}`, op: kind, inputs: names, dtype, module: inner === "" ? module : `${module}.${inner}`, place: place(line) });
    }
    last = `l${layer}_norm2`;
  }
  op({ name: "logits", op: "aten.addmm.default", inputs: [last], module: "head", shape: [8, 10], bytes: 320, place: place(50) });
  nodes.push({ name: "output", op: "output", role: "output", inputs: ["logits"] });
  return graph(nodes, name);
}

export const TRANSFORMER_CLASSES: Readonly<Record<string, string>> = {
  "": "Model", embedding: "Embedding", encoder: "Encoder", "encoder.layer": "ModuleList", head: "Linear",
  ...Object.fromEntries(Array.from({ length: 1000 }, (_value, layer) => [`encoder.layer.${layer}`, "EncoderLayer"])),
};

/** The columnar file of a document, as Python writes it. */
export function encodeDocument(written: GraphDocument): Uint8Array<ArrayBuffer> {
  const strings = new Table<string>(String);
  const shapes = new Table<readonly (number | string)[]>(JSON.stringify);
  const places = new Table<Location>(JSON.stringify);
  const texts = (values: readonly string[]): Uint8Array => integers(values.map((value) => strings.code(value)));
  const lists = (name: string, values: readonly (readonly string[])[]): Record<string, Uint8Array> => {
    const flat = values.flat();
    let at = 0;
    const offsets = [0, ...values.map((value) => (at += value.length))];
    return { [name]: texts(flat), [`${name}_at`]: integers(flat.length === 0 ? [] : offsets) };
  };
  const roles = ["input", "parameter", "buffer", "constant", "op", "output"];
  const graphs = written.graphs.map(({ name, kind, nodes, made_from: madeFrom = "" }) => ({
    name, kind, made_from: madeFrom,
    names: texts(nodes.map((node) => node.name)),
    ops: texts(nodes.map((node) => node.op)),
    details: texts(nodes.map((node) => node.detail ?? "")),
    modules: texts(nodes.map((node) => node.module ?? "")),
    dtypes: integers(nodes.map(({ dtype }) => (typeof dtype === "string" ? strings.code(dtype) : -1))),
    roles: integers(nodes.map((node) => roles.indexOf(node.role ?? "op"))),
    shapes: integers(nodes.map(({ shape }) => (shape ? shapes.code(shape) : -1))),
    places: integers(nodes.map((node) => (node.place ? places.code(node.place) : -1))),
    bytes: floats(nodes.map((node) => node.bytes ?? -1)),
    flops: floats(nodes.map((node) => node.flops ?? -1)),
    written: floats(nodes.map((node) => node.written ?? -1)),
    seconds: floats(nodes.map((node) => node.seconds ?? -1)),
    kinds: integers(nodes.map(({ kind }) => (kind ? KINDS.indexOf(kind) : -1))),
    seq_nrs: integers(nodes.map((node) => node.seq_nr ?? -1)),
    ...lists("inputs", nodes.map((node) => node.inputs ?? [])),
    ...lists("origins", nodes.map((node) => node.origins ?? [])),
    ...lists("forward", nodes.map((node) => node.forward ?? [])),
    ...lists("kernels", nodes.map((node) => node.kernels ?? [])),
  }));
  const { target, stage, path, digest, accelerator, torch, modules = {}, notes = [] } = written;
  const kernels = (written.kernels ?? []).map((kernel) => ({
    ...kernel, nodes: texts(kernel.nodes ?? []), places: integers((kernel.places ?? []).map((value) => places.code(value))),
    lines: integers((kernel.lines ?? []).map(({ line }) => line)), line_places: integers((kernel.lines ?? []).map(({ place }) => places.code(place))),
  }));
  const listings = (written.listings ?? []).map((listing) => ({
    ...listing,
    lines: integers((listing.places ?? []).map(({ line }) => line)),
    places: integers((listing.places ?? []).map((known) => places.code(known.place))),
  }));
  const marks = (written.marks ?? []).map((mark) => ({ ...mark, place: integers([places.code(mark.place)]), nodes: texts(mark.nodes) }));
  const sizes = shapes.values.flatMap((shape) => shape.map((size) => (typeof size === "string" ? -1 - strings.code(size) : size)));
  let at = 0;
  const ranges = places.values.map((known) => known.range);
  return encode({
    format: "inductor-debug-graph", schema: 1, target, stage, path, digest, accelerator, torch, modules, notes, graphs, kernels, listings, marks, specs: written.specs ?? null,
    shapes_at: integers([0, ...shapes.values.map((shape) => (at += shape.length))]),
    shapes: floats(sizes),
    place_path: texts(places.values.map((known) => known.path)),
    place_line: integers(ranges.map(({ start }) => start.line)),
    place_character: integers(ranges.map(({ start }) => start.character)),
    place_end_line: integers(ranges.map(({ end }) => end.line)),
    place_end_character: integers(ranges.map(({ end }) => end.character)),
    strings: strings.values,
  });
}

class Table<T> {
  readonly values: T[] = [];
  private readonly codes = new Map<string, number>();

  constructor(private readonly key: (value: T) => string) {}

  code(value: T): number {
    const key = this.key(value);
    let code = this.codes.get(key);
    if (code === undefined) this.codes.set(key, (code = this.values.push(value) - 1));
    return code;
  }
}

function integers(values: readonly number[]): Uint8Array {
  return new Uint8Array(Int32Array.from(values).buffer);
}

function floats(values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer);
}
