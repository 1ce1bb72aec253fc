/** What the graph page says of a kernel that was compiled for a GPU. */

import { expect, test } from "vitest";

import { readBuild } from "../../webview/graph/model/builds.js";
import { buildFacts } from "../../webview/graph/looks/buildTexts.js";
import { libraryOf, withBuilds } from "../../webview/graph/model/library.js";

const BUILD = {
  architecture: "sm_90", kernel: "triton_poi_0", graph: "0.forward.post_grad", problem: "", configuration: "XBLOCK=512, 4 warps", configurations: 2, warps: 4,
  registers: 40, spilled_bytes: 0, shared_bytes: 1024, occupancy: { warps: 48, most_warps: 64, blocks: 12, limits: ["registers"] },
  accesses: [{ store: false, space: "global", bits: 128, instructions: 2 }, { store: true, space: "shared", bits: 32, instructions: 1 }],
  matrix_instructions: ["wgmma"], texts: [{ title: "PTX", text: ".version 8.7\n" }],
};

test("a compiled kernel says what it takes of the GPU", () => {
  expect(buildFacts(readBuild(BUILD))).toEqual([
    ["Compiled for", "sm_90"], ["Configuration", "XBLOCK=512, 4 warps (the first of 2 to choose from)"], ["Registers", "40"], ["Spilled", "nothing"],
    ["Shared memory", "1 KiB"], ["Occupancy", "48 of 64 warps (75 %), limited by registers"], ["Loads", "128 bits at once"], ["Matrix units", "wgmma"],
  ]);
});

test("a kernel that could not be compiled says no figures", () => {
  const none = { ...BUILD, problem: "Triton is not installed", configuration: "", configurations: 0, registers: null, spilled_bytes: null, shared_bytes: null, occupancy: null, accesses: [], matrix_instructions: [], texts: [] };
  expect(buildFacts(readBuild(none))).toEqual([]);
});

test("a damaged build is refused", () => {
  expect(() => readBuild({ ...BUILD, registers: "many" })).toThrow();
});

test("builds that come one by one are put to the kernels that they are of", () => {
  const kernel = { name: "triton_poi_0", language: "triton", source: "…", graph: "0.forward.post_grad", nodes: [], places: [], build: null, unfused: [], lines: [] };
  const library = { ...libraryOf([]), kernels: [kernel, { ...kernel, graph: "0.backward.post_grad" }] };
  const now = withBuilds(library, [readBuild(BUILD)]);
  expect(now.kernels.map(({ build }) => build?.registers)).toEqual([40, undefined]);
  expect(library.kernels[0]?.build).toBe(null);
});
