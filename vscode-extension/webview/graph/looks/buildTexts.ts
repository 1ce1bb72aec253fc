/** Words for what a compiled kernel takes of a GPU: registers, spills, shared memory, occupancy, widths of loads. */

import type { KernelBuild, Occupancy, OccupancyLimit } from "../../../../shared_schema/generated/wire.js";
import { numberText, t } from "../../shared/words.js";
import type { Whole } from "../model/specs.js";
import { bytesText } from "../model/table.js";

/** Names and values, as far as they are known. */
export function buildFacts(build: Whole<KernelBuild>): [string, string][] {
  const { registers, spilled_bytes: spilled, shared_bytes: shared, occupancy, configurations, matrix_instructions: matrix } = build;
  const first = configurations > 1 ? ` ${t("(the first of {0} to choose from)", configurations)}` : "";
  const facts: [string, string][] = [
    [t("Compiled for"), build.configuration === "" ? "" : build.architecture],
    [t("Configuration"), build.configuration === "" ? "" : build.configuration + first],
    [t("Registers"), registers === null ? "" : numberText(registers)],
    [t("Spilled"), spilled === null ? "" : spilled === 0 ? t("nothing") : bytesText(spilled)],
    [t("Shared memory"), shared === null ? "" : shared === 0 ? t("none") : bytesText(shared)],
    [t("Occupancy"), occupancy ? occupancyText(occupancy) : ""],
    [t("Loads"), widths(build, false)],
    [t("Stores"), widths(build, true)],
    [t("Matrix units"), matrix.join(", ")],
  ];
  return facts.filter(([, value]) => value !== "");
}

function occupancyText({ warps, most_warps: most, limits }: Whole<Occupancy>): string {
  const held = t("{0} of {1} warps ({2} %)", warps, most, Math.round((100 * warps) / most));
  return warps === most || limits.length === 0 ? held : t("{0}, limited by {1}", held, limits.map(limitText).join(", "));
}

function limitText(limit: OccupancyLimit): string {
  const texts: Record<OccupancyLimit, string> = { registers: t("registers"), "shared memory": t("shared memory"), warps: t("warps"), blocks: t("blocks") };
  return texts[limit];
}

/** How many bits of global memory one thread moves at once. */
function widths({ accesses }: Whole<KernelBuild>, store: boolean): string {
  const bits = accesses.filter((access) => access.store === store && access.space === "global").map((access) => access.bits);
  return bits.length === 0 ? "" : t("{0} bits at once", bits.join(", "));
}
