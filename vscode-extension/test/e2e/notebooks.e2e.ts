/** Cells of notebooks, checked as they are run or all on request; and what files that were never saved can and cannot do. */

import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { drawnGraph, outlineRows } from "./graphFrame.js";
import { clickUntil, installStandIn, PYTHON, until, Workbench } from "./harness.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

const code = (...lines: string[]): object => ({ cell_type: "code", metadata: {}, outputs: [], execution_count: 7, source: lines.map((line) => `${line}\n`) });
const model = (name: string): object => code(
  "# inductor-debug: inputs=(torch.randn(8, 64),)", `class ${name}(nn.Module):`, "    def __init__(self):", "        super().__init__()", "        self.first = nn.Linear(64, 10)",
  "        self.last = nn.Linear(12, 2)", "", "    def forward(self, x):", "        y = self.first(x)", "        return self.last(y)",
);
const notebook = (...cells: object[]): string => JSON.stringify({ cells, metadata: { language_info: { name: "python" } }, nbformat: 4, nbformat_minor: 5 });
const NOTEBOOK = notebook(
  { cell_type: "markdown", metadata: {}, source: ["# A model"] },
  model("Net"),
  code("import torch", "from torch import nn"),
  model("Other"),
);

let bench: Workbench;
let window: Window;
beforeAll(async () => {
  installStandIn("kernel");
  bench = await Workbench.start({ "inductorDebug.interpreter": PYTHON }, { INDUCTOR_DEBUG_TEST_PYTHON: PYTHON });
  window = await bench.open(bench.folder({ "model.ipynb": NOTEBOOK, "whole.ipynb": NOTEBOOK }));
  await window.page.setViewportSize({ width: 1280, height: 1100 }); // cells below are not drawn
});
afterAll(async () => {
  await window.screenshot("notebooks-last");
  await bench.close();
});

/** The cell of the notebook on show in which a line has this text. */
const cell = (text: string): Locator => window.page.locator(".code-cell-row:not([inert] *)").filter({ has: lineOf(text), visible: true }).first();
/** The lines with this text: VS Code draws spaces that do not break. */
const lineOf = (text: string): Locator => window.page.locator(".view-line", { hasText: new RegExp(text.replace(/[()]/gu, "\\$&").replaceAll(" ", "\\s"), "u") });
const squiggles = (text: string): Promise<number> => cell(text).locator("[class*=squiggly-error]").count();
const lenses = async (text: string): Promise<string> => (await cell(text).locator(".codelens-decoration").allInnerTexts()).join(" | ").replaceAll("\u00a0", " ");

async function run(text: string): Promise<void> {
  await cell(text).locator(lineOf(text)).first().click();
  await cell(text).locator(".run-button-container .action-label").first().click();
  await until(`the cell ${text} has run`, async () => /[1-6]/u.test(await cell(text).locator(".execution-count-label").first().innerText()));
}

test("cells are checked as they are run, in that order, and nothing that was not", async () => {
  await window.openPath(`${window.folder}/model.ipynb`);
  await clickUntil("the status says so", cell("class Net").locator(lineOf("class Net")).first(), async () => (await window.status()).includes("cells are checked as you run them"));
  await until("the first cell with a model waits", async () => (await lenses("class Net")).includes("run this cell to have it checked"));
  expect(await lenses("class Other")).toBe("");
  expect(await squiggles("class Net")).toBe(0);
  await window.screenshot("notebook-not-run");
  await run("import torch");
  await run("class Net");
  await until("the expression is underlined", async () => (await squiggles("class Net")) === 1);
  await until("the lens says what was found", async () => (await lenses("class Net")).includes("failed"));
  expect(await squiggles("class Other")).toBe(0);
  await until("the next one waits", async () => (await lenses("class Other")).includes("run this cell to have it checked"));
  await window.screenshot("notebook-run");
});

test("hovers and hints are those of the cell", async () => {
  const value = cell("class Net").locator(lineOf("self.first(x)")).first();
  await until("the hint is there", async () => (await value.innerText()).includes("f32"));
  await cell("class Net").locator(lineOf("self.first(x)")).first().locator("span > span", { hasText: "first" }).first().hover();
  const hover = window.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content", { hasText: "8, 10" }).first();
  await hover.waitFor();
  await window.screenshot("notebook-hover");
  await window.page.mouse.move(0, 0);
  await hover.waitFor({ state: "hidden" });
});

test("a cell that is edited says that it has to be run, and is found right when it was", async () => {
  await cell("class Net").locator(lineOf("nn.Linear(12, 2)")).first().locator("span > span", { hasText: "last" }).first().click();
  await window.page.keyboard.press("End");
  await window.page.keyboard.press("Shift+Home"); // to where the code begins
  await window.page.keyboard.type("self.last = nn.Linear(10, 2)");
  await until("the lens says so", async () => (await lenses("class Net")).includes("edited since it ran: run the cell to have it checked"));
  await window.screenshot("notebook-edited");
  await run("class Net");
  await until("nothing is underlined", async () => (await squiggles("class Net")) === 0);
  await until("the lens says so", async () => (await lenses("class Net")).includes("no findings"));
});

test("the view of targets names the cell of a finding and goes there", async () => {
  await run("class Other");
  await until("the expression is underlined", async () => (await squiggles("class Other")) === 1);
  await window.page.locator('.activitybar a[aria-label^="Inductor Debug"]').click();
  await until("the finding is a row", async () => (await window.tree()).some((row) => row.includes("at cell 4, line 10")));
  await until("the check is over", async () => (await lenses("class Other")).includes("failed")); // meanwhile rows are drawn anew
  await window.screenshot("notebook-targets");
  await clickUntil("its expression is selected", window.page.locator('.pane-body .monaco-list-row[aria-label*="at cell 4, line 10"]'), async () => (await cell("class Other").locator(".selected-text").count()) > 0);
});

test("graphs of what was run lead to the cells", async () => {
  await cell("class Net").locator(".codelens-decoration a", { hasText: /^graph$/u }).click();
  const frame = await drawnGraph(window);
  await frame.locator('[aria-label="Outline"]').click();
  await clickUntil("the expression is selected in its cell", frame.locator('[role="treeitem"]', { hasText: "linear" }).last(), async () => (await cell("class Net").locator(".selected-text").count()) > 0);
  await until("the details say where it is", async () => (await frame.locator(".details").innerText()).includes("model.ipynb, cell 2, line 10"));
  await until("so does the line at the foot", async () => (await frame.locator(".status-text").innerText()) === "model.ipynb, cell 2, line 10");
  await window.screenshot("notebook-graph");
  await cell("class Net").locator(lineOf("self.first(x)")).first().locator("span > span", { hasText: "first" }).first().click();
  await until("the cursor in the cell lights up the nodes of its expression", async () => (await outlineRows(frame, ".related")).length > 0);
  await window.screenshot("notebook-graph-cursor");
  await window.closeTab("Graph: Net");
});

test("all cells of a notebook are checked on request, whether they have run or not", async () => {
  await window.save(); // VS Code asks before it closes what was edited, where it has not saved it by itself yet
  await window.closeTab("model.ipynb");
  await window.openPath(`${window.folder}/whole.ipynb`);
  await cell("class Net").locator(lineOf("class Net")).first().click();
  await window.run("Inductor Debug: Check Notebook");
  await window.untilNotification(/whole\.ipynb: \d+ finding/u);
  await until("the expression is underlined", async () => (await squiggles("class Other")) === 1);
});

test("a file that was never saved says what saving gives", async () => {
  const shared = await sharedWindow({});
  await shared.run("Create: New File...");
  await shared.page.locator(".quick-input-list .monaco-list-row", { hasText: "Text File" }).first().click();
  await shared.run("Change Language Mode");
  await shared.page.locator(".quick-input-widget input").first().fill("Python");
  await clickUntil("the status says so", shared.page.locator(".quick-input-list .monaco-list-row", { hasText: "Python" }).first(), async () => (await shared.status()).includes("save the file to have it checked"));
  await shared.screenshot("untitled");
});
