/** What the kernels of a document ask of the accelerator: reads `DeviceSpecs`, as on the wire, and finds those of a node. */

import type { DeviceLayout, DeviceSpecs, KernelArgument, KernelInsertion, KernelLoop, KernelSpec, Location, Position } from "../../../../shared_schema/generated/wire.js";
import { type GraphTable, nameOf } from "./table.js";
import { flag, list, map, number, optional, text } from "./values.js";

/** With every field that may be left out on the wire, at any depth. */
export type Whole<T> = T extends readonly (infer Item)[] ? readonly Whole<Item>[] : T extends object ? { readonly [Key in keyof T]-?: Whole<T[Key]> } : T;

/** @throws FormatError where it is something else. */
export function readSpecs(value: unknown): Whole<DeviceSpecs> {
  const said = map(value);
  return {
    accelerator: text(said["accelerator"]),
    origin: text(said["origin"]) as DeviceSpecs["origin"],
    specs: list(said["specs"], readSpec),
    left_out: list(said["left_out"], text),
    notes: list(said["notes"], text),
  };
}

function readSpec(value: unknown): Whole<KernelSpec> {
  const said = map(value);
  return {
    kernel: text(said["kernel"]),
    op: text(said["op"]),
    graph: text(said["graph"]),
    nodes: list(said["nodes"], text),
    reduction: flag(said["reduction"]),
    loops: list(said["loops"], readLoop),
    arguments: list(said["arguments"], readArgument),
    inserted: list(said["inserted"], readInsertion),
    place: optional(said["place"], readPlace),
    step: text(said["step"]),
    remarks: list(said["remarks"], text),
    file: text(said["file"]),
  };
}

function readLoop(value: unknown): Whole<KernelLoop> {
  const said = map(value);
  return { name: text(said["name"]), extent: size(said["extent"]), padded: optional(said["padded"], size), reduced: flag(said["reduced"]), cores: optional(said["cores"], number) };
}

function readArgument(value: unknown): Whole<KernelArgument> {
  const said = map(value);
  return {
    name: text(said["name"]),
    output: flag(said["output"]),
    shape: optional(said["shape"], (sizes) => list(sizes, size)),
    dtype: text(said["dtype"]),
    device_dtype: text(said["device_dtype"]),
    layout: optional(said["layout"], readLayout),
    stick_loop: text(said["stick_loop"]),
    coordinates: list(said["coordinates"], text),
    allocation: text(said["allocation"]),
  };
}

function readLayout(value: unknown): Whole<DeviceLayout> {
  const said = map(value);
  return {
    size: list(said["size"], number),
    stride_map: list(said["stride_map"], number),
    bytes: number(said["bytes"]),
    padding_bytes: number(said["padding_bytes"]),
    stick_dimension: optional(said["stick_dimension"], number),
    sparse: flag(said["sparse"]),
  };
}

function readInsertion(value: unknown): Whole<KernelInsertion> {
  const said = map(value);
  return { kind: text(said["kind"]) as KernelInsertion["kind"], argument: number(said["argument"]), dimension: optional(said["dimension"], number), layout: optional(said["layout"], readLayout) };
}

function readPlace(value: unknown): Location {
  const said = map(value);
  const range = map(said["range"]);
  return { path: text(said["path"]), range: { start: readPosition(range["start"]), end: readPosition(range["end"]) } };
}

function readPosition(value: unknown): Position {
  const said = map(value);
  return { line: number(said["line"]), character: number(said["character"]) };
}

/** A size is a number, or text where it is symbolic. */
function size(value: unknown): number | string {
  return typeof value === "number" ? value : text(value);
}

/** The specs of one node, and who says so. */
export interface NodeSpecs {
  readonly from: Whole<DeviceSpecs>;
  readonly specs: readonly Whole<KernelSpec>[];
}

/** The specs of a node of a graph that was lowered, or of the scheduler node that it became. */
export function specsOf(known: readonly Whole<DeviceSpecs>[], table: GraphTable, node: number): NodeSpecs[] {
  const name = nameOf(table, node);
  return known.flatMap((from) => {
    const specs = from.specs.filter(({ graph, nodes, step }) => (graph === table.name ? nodes.includes(name) : graph === table.madeFrom && step === name && step !== ""));
    return specs.length > 0 ? [{ from, specs }] : [];
  });
}
