/** Reads what the kernels of a document ask of the accelerator: `DeviceSpecs`, as on the wire. */

import type { DeviceLayout, DeviceSpecs, KernelArgument, KernelInsertion, KernelLoop, KernelSpec, Location, Position } from "../../../../shared_schema/generated/wire.js";
import { flag, list, map, number, optional, text } from "./values.js";

/** @throws FormatError where it is something else. */
export function readSpecs(value: unknown): Required<DeviceSpecs> {
  const said = map(value);
  return {
    accelerator: text(said["accelerator"]),
    origin: text(said["origin"]) as DeviceSpecs["origin"],
    specs: list(said["specs"], readSpec),
    left_out: list(said["left_out"], text),
    notes: list(said["notes"], text),
  };
}

function readSpec(value: unknown): Required<KernelSpec> {
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

function readLoop(value: unknown): Required<KernelLoop> {
  const said = map(value);
  return { name: text(said["name"]), extent: size(said["extent"]), padded: optional(said["padded"], size), reduced: flag(said["reduced"]), cores: optional(said["cores"], number) };
}

function readArgument(value: unknown): Required<KernelArgument> {
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

function readLayout(value: unknown): Required<DeviceLayout> {
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

function readInsertion(value: unknown): Required<KernelInsertion> {
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
