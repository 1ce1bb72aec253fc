/** What cells of notebooks and files that were never saved can and cannot do. */

import { afterAll, beforeAll, expect, test } from "vitest";

import { until } from "./harness.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

const code = (...lines: string[]): object => ({ cell_type: "code", metadata: {}, outputs: [], execution_count: null, source: lines.map((line) => `${line}\n`) });
const NOTEBOOK = JSON.stringify({
  cells: [
    { cell_type: "markdown", metadata: {}, source: ["# A model"] },
    code("%matplotlib inline", "import torch", "from torch import nn"),
    code(
      "class Net(nn.Module):", "    def __init__(self):", "        super().__init__()", "        self.first = nn.Linear(64, 10)", "        self.last = nn.Linear(12, 2)", "",
      "    def forward(self, x):", "        return self.last(self.first(x))",
    ),
  ],
  metadata: { language_info: { name: "python" } },
  nbformat: 4,
  nbformat_minor: 5,
});

let window: Window;
beforeAll(async () => { window = await sharedWindow({ "model.ipynb": NOTEBOOK }); });
afterAll(() => window.screenshot("notebooks-last"));

test("a cell says that it is checked on request, and the request finds the mistake in the cell", async () => {
  await window.openPath(`${window.folder}/model.ipynb`);
  const cell = window.page.locator(".cell .view-line", { hasText: "return" });
  await cell.first().click();
  await until("the status says so", async () => (await window.status()).includes("cells are checked on request"));
  await window.screenshot("notebook");
  await window.run("Inductor Debug: Check Notebook");
  await window.untilNotification(/model\.ipynb: 1 finding/u);
  await until("the expression is underlined", () => window.page.locator(".cell [class*=squiggly-error]").first().isVisible());
  expect(await window.page.locator(".cell [class*=squiggly-error]").count()).toBe(1);
  await window.screenshot("notebook-checked");
});

test("a file that was never saved says what saving gives", async () => {
  await window.run("Create: New File...");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Text File" }).first().click();
  await window.run("Change Language Mode");
  await window.page.locator(".quick-input-widget input").first().fill("Python");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Python" }).first().click();
  await until("the status says so", async () => (await window.status()).includes("save the file to have it checked"));
  await window.screenshot("untitled");
});
