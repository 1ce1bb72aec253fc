/** In a workspace that is not trusted nothing of it runs, and nothing of ours is started. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, PYTHON, Workbench } from "./harness.js";
import { witness } from "./models.js";

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start({
    "security.workspace.trust.enabled": true,
    "security.workspace.trust.startupPrompt": "always",
    "security.workspace.trust.banner": "never",
    "inductorDebug.interpreter": PYTHON,
    "inductorDebug.allow": ["write"],
  });
});
afterAll(async () => { await bench.close(); });

test("trust refused: nothing runs; trust given: the file is checked", async () => {
  const folder = bench.folder({});
  const trace = join(folder, "..", "trace");
  const window = await bench.open(bench.folder({ "model.py": witness(trace) }));
  const dialog = window.page.locator(".monaco-dialog-box");
  await dialog.waitFor();
  await window.screenshot("trust");
  await dialog.getByRole("button", { name: "No, I don't trust the authors" }).click();
  await window.openFile("model.py");
  const commands = await window.palette("Inductor Debug");
  expect(commands.filter((label) => label.startsWith("Inductor Debug:"))).toEqual([]);
  expect(window.output()).toBe("");
  expect(existsSync(trace)).toBe(false);
  await window.run("Workspaces: Manage Workspace Trust");
  await clickUntil("the file has run", window.page.getByRole("button", { name: /^Trust/u }).first(), () => existsSync(trace));
  await window.close();
});
