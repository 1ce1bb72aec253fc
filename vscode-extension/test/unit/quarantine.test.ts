/** What a listed test and any other one do to the exit status of a run, in runs of their own. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

const EXTENSION = join(import.meta.dirname, "..", "..");
const VITEST = join(EXTENSION, "..", "node_modules", "vitest", "vitest.mjs");

let folder: string;
beforeAll(() => { folder = mkdtempSync(join(tmpdir(), "inductor-debug-quarantine-")); });
afterAll(() => { rmSync(folder, { recursive: true }); });

/** Runs these tests with `group > unsteady` in quarantine. */
function run(tests: string): { status: number | null; said: string } {
  const list = [{ test: "vscode-extension/some.check.ts > group > unsteady", reason: "waits for the moon" }];
  const config = `import { Quarantine } from ${JSON.stringify(join(EXTENSION, "test", "quarantine.mts"))};
export default { test: { root: ${JSON.stringify(folder)}, include: ["*.check.ts"], globals: true, reporters: ["default", new Quarantine(${JSON.stringify(list)})] } };`;
  writeFileSync(join(folder, "vitest.config.mts"), config);
  writeFileSync(join(folder, "some.check.ts"), `describe("group", () => { ${tests} });`);
  const { status, stdout, stderr } = spawnSync(process.execPath, [VITEST, "run", "--root", folder, "--config", join(folder, "vitest.config.mts")], { cwd: EXTENSION, encoding: "utf8" });
  return { status, said: stdout + stderr };
}

const UNSTEADY = `test("unsteady", () => { throw new Error("no moon"); });`;

test("the failure of a listed test is told with its reason, and does not fail the run", () => {
  const { status, said } = run(UNSTEADY);
  expect(said).toContain("quarantined, and failed: vscode-extension/some.check.ts > group > unsteady (waits for the moon)");
  expect(said).toContain("no moon");
  expect(status).toBe(0);
});

test.each([
  ["another test fails", `test("other", () => { throw new Error("wrong"); });`],
  ["what is before all tests fails", `describe("inner", () => { beforeAll(() => { throw new Error("wrong"); }); test("never runs", () => {}); });`],
  ["an error comes from nowhere", `test("leaves one behind", () => { void Promise.reject(new Error("wrong")); });`],
])("where %s, the run fails", (_what, tests) => {
  expect(run(UNSTEADY + tests).status).toBe(1);
});

test("each test in the list is in a file that is there, and has a reason", () => {
  const list = JSON.parse(readFileSync(join(EXTENSION, "..", ".ci", "quarantine.json"), "utf8")) as { test: string; reason: string }[];
  for (const { test: name, reason } of list) {
    expect(readFileSync(join(EXTENSION, "..", name.split(/::| > /u)[0] ?? ""), "utf8")).not.toBe("");
    expect(reason).not.toBe("");
  }
});
