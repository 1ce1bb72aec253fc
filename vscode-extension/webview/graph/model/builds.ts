/** What a compiler made of a kernel for a GPU: reads `KernelBuild`, as on the wire. */

import type { KernelBuild, OccupancyLimit } from "../../../../shared_schema/generated/wire.js";
import type { Whole } from "./specs.js";
import { flag, list, map, number, optional, text } from "./values.js";

/** @throws FormatError where it is something else. */
export function readBuild(value: unknown): Whole<KernelBuild> {
  const said = map(value);
  return {
    architecture: text(said["architecture"]),
    kernel: text(said["kernel"]),
    graph: text(said["graph"]),
    problem: text(said["problem"]),
    configuration: text(said["configuration"]),
    configurations: number(said["configurations"]),
    warps: optional(said["warps"], number),
    registers: optional(said["registers"], number),
    spilled_bytes: optional(said["spilled_bytes"], number),
    shared_bytes: optional(said["shared_bytes"], number),
    occupancy: optional(said["occupancy"], (held) => {
      const { warps, most_warps: most, blocks, limits } = map(held);
      return { warps: number(warps), most_warps: number(most), blocks: optional(blocks, number), limits: list(limits, (limit) => text(limit) as OccupancyLimit) };
    }),
    accesses: list(said["accesses"], (access) => {
      const { store, space, bits, instructions } = map(access);
      return { store: flag(store), space: text(space), bits: number(bits), instructions: number(instructions) };
    }),
    matrix_instructions: list(said["matrix_instructions"], text),
    texts: list(said["texts"], (one) => ({ title: text(map(one)["title"]), text: text(map(one)["text"]) })),
  };
}
