/** What `debug` writes, in VS Code's own debugger: it stops where the expression is computed, with its value in eager and compiled. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { installStandIn, PYTHON, until, Workbench } from "./harness.js";
import type { Window } from "./window.js";

const MODEL = `import torch
from torch import nn


# inductor-debug: inputs=(torch.ones(4, 8),)
class Net(nn.Module):
    def forward(self, x):
        h = x.exp()
        return torch.relu(h - 1).sum(1)
`;

/** Kernels are built, twice: to be run, and with the wanted values as outputs. */
const COMPILING = 500_000;

let bench: Workbench;
let window: Window;

beforeAll(async () => {
  installStandIn("debugger");
  bench = await Workbench.start({ "inductorDebug.interpreter": PYTHON });
  window = await bench.open(bench.folder({ "net.py": MODEL, "pyproject.toml": "" }));
  await window.openFile("net.py");
  await until("the target has been checked", async () => (await window.lenses()).some((text) => text.startsWith("capture: ")));
});
afterAll(async () => {
  await window.screenshot("debugging-last");
  await bench.close();
});

/** The files that the debugger stops in, one after the other: the graph's own, then what the compiler wrote of it. */
const stoppedIn = (file: RegExp): Promise<boolean> => until(`it has stopped in ${String(file)}`, async () => {
  const line = window.page.locator(".debug-top-stack-frame-line, .debug-top-stack-frame-column");
  return (await line.count()) > 0 && file.test((await window.page.locator(".tab.active").first().getAttribute("data-resource-name")) ?? "");
}, COMPILING);

test("Run to This Expression stops in the graph's file, and shows the value there beside the compiled one", async () => {
  await window.goTo(8, 13);
  await window.run("Inductor Debug: Run to This Expression");
  await stoppedIn(/^graph_0\.py/u);
  const values = window.page.locator(".debug-variables");
  const locals = values.locator(".monaco-list-row", { hasText: "Locals" }).first();
  await until("the value is there on both sides", async () => {
    if ((await locals.getAttribute("aria-expanded")) === "false") await locals.click({ timeout: 5_000 }); // newer ones leave it to the user
    return /at_\w+[\s\S]*BothSides/u.test(await values.innerText());
  });
  await window.screenshot("debugging-stopped");
});

test("it goes on to the compiler's code of the expression, and to the end", async () => {
  await window.run("Debug: Continue");
  await stoppedIn(/^graph_0_inductor_forward\.py/u);
  await window.run("Debug: Continue");
  await until("it has ended", async () => !(await window.page.locator(".debug-toolbar").first().isVisible()), COMPILING);
});

test("the workspace has the launch configuration", () => {
  const { configurations } = JSON.parse(readFileSync(join(window.folder, ".vscode", "launch.json"), "utf8")) as { configurations: readonly { name: string; program: string }[] };
  expect(configurations.map(({ name, program }) => [name, program])).toEqual([["inductor-debug: Net (net.py)", expect.stringMatching(/net-Net\/run\.py$/u)]]);
});
