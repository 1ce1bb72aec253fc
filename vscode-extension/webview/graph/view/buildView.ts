/** What a kernel takes of the GPU that it was compiled for, as a list of names and values, or why it was not compiled. */

import type { KernelBuild } from "../../../../shared_schema/generated/wire.js";
import { element } from "../../shared/dom.js";
import { buildFacts } from "../looks/buildTexts.js";
import type { Whole } from "../model/specs.js";

export function buildView(build: Whole<KernelBuild>): HTMLElement[] {
  const rows = buildFacts(build).map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  return [element("dl", {}, ...rows), ...(build.problem === "" ? [] : [element("p", { class: "note" }, build.problem)])];
}
