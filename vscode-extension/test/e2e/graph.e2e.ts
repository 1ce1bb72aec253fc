/** The graph view in a real VS Code: opened, followed both ways, compared with the save before, down to kernels, and back after a reload. */

import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { drawnGraph, outlineRows } from "./graphFrame.js";
import { clickUntil, until } from "./harness.js";
import { DOUBLE } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

let window: Window;

beforeAll(async () => {
  window = await sharedWindow({ "model.py": DOUBLE }, {
    settings: { "workbench.colorTheme": "Default Light Modern", "breadcrumbs.enabled": false },
    viewport: { width: 1500, height: 850 },
  });
  await window.openFile("model.py");
  await until("it was checked", async () => (await window.squiggles()).length > 0);
});
afterAll(() => window.screenshot("graph-last"));

const graphFrame = (): Promise<Frame> => drawnGraph(window);
const tabs = (frame: Frame): Promise<string[]> => frame.locator('[role="tab"]').allInnerTexts();

test("the command opens the target's graphs beside the editor", async () => {
  await window.run("Inductor Debug: Show Graph");
  const frame = await graphFrame();
  expect((await outlineRows(frame)).some((row) => row.includes("relu"))).toBe(true);
  expect((await outlineRows(frame)).filter((row) => row.includes("finding"))).toEqual([expect.stringMatching(/^double, f64\[8, 64\].*, 1 finding\b/u)]);
  await frame.locator('[role="tab"]', { hasText: "Forward and backward" }).click();
  await until("the forward graph is shown", async () => (await frame.locator('[role="tab"][aria-selected="true"]').innerText()) === "Forward");
  await until("the finding is at what became of it", async () => (await outlineRows(frame)).some((row) => /_to_copy, f64\[8, 64\].*, 1 finding\b/u.test(row)));
  expect(await window.notifications()).toEqual([]);
  await window.screenshot("graph-light");
});

test("the palette's commands are about the page's target while it has the focus", async () => {
  const frame = await graphFrame();
  await frame.locator("canvas").first().click({ position: { x: 5, y: 5 } });
  await window.run("Inductor Debug: Bisect");
  await until("it asks how, not of what", async () => (await window.page.locator(".quick-input-list .monaco-list-row").allInnerTexts()).some((text) => text.includes("The usual ladder")));
  await window.page.keyboard.press("Escape");
  expect(await window.notifications()).toEqual([]);
});

test("heat by a metric has signs in the gutter, a legend and a list", async () => {
  const frame = await graphFrame();
  await frame.locator('[aria-label="What colours say"]').first().selectOption("flops");
  const signs = (): Promise<number> => window.page.locator('.editor-instance [class*="TextEditorDecorationType"].cgmr').count();
  await until("the gutter has signs", async () => (await signs()) > 0);
  await frame.locator('[aria-label="Details"]').first().click();
  await until("the list has the largest", async () => (await frame.locator(".ranking li").count()) > 0);
  await window.screenshot("graph-heat-light");
  await window.run("Inductor Debug: Toggle Heat");
  await until("the gutter has none", async () => (await signs()) === 0);
  await window.run("Inductor Debug: Toggle Heat");
  await until("the gutter has them again", async () => (await signs()) > 0);
  await frame.locator('[aria-label="What colours say"]').first().selectOption("operation");
  await until("they go with the heat of the graph", async () => (await signs()) === 0);
  await frame.locator('[aria-label="Details"]').first().click();
});

test("a click on a node selects its expression in the editor", async () => {
  const frame = await graphFrame();
  await frame.locator('[aria-label="Outline"]').click(); // there is little room beside an editor: one asks for it
  await clickUntil("the expression is selected", frame.locator('[role="treeitem"]', { hasText: "relu" }).first(), async () => (await window.page.locator(".editor-instance .selected-text").count()) > 0);
  await until("it is line 13", async () => (await window.page.locator(".line-numbers.active-line-number").first().innerText()) === "13");
  await frame.locator('[aria-label="Details"]').first().click();
  await until("the details say where it is", async () => (await frame.locator(".details").innerText()).includes("model.py, line 13"));
  await until("so does the line at the foot, without the folder", async () => (await frame.locator(".status-text").innerText()) === "model.py, line 13");
});

test("the editor's cursor lights up the nodes of the expression", async () => {
  const frame = await graphFrame();
  await window.page.locator(".editor-instance .view-line").first().click();
  await window.goTo(14, 30);
  await until("nodes of line 14 are lit", async () => (await outlineRows(frame, ".related")).length > 0);
  const lit = await outlineRows(frame, ".related");
  await window.goTo(13, 25);
  await until("others are lit at line 13", async () => (await outlineRows(frame, ".related")).length > 0 && JSON.stringify(await outlineRows(frame, ".related")) !== JSON.stringify(lit));
});

test("the kernels come on demand, with colours, and open in the editor with a link back", async () => {
  const frame = await graphFrame();
  await frame.locator('[role="tab"]', { hasText: "Kernels and IR" }).click();
  await until("there is a kernel", async () => (await frame.locator(".token-keyword").count()) > 0);
  await window.screenshot("graph-kernels");
  await frame.locator(".pane:not([hidden]) .code-view .icon-button").first().click();
  await window.page.locator('.tab.active[data-resource-name$=".cpp"]').waitFor();
  await until("its lens leads back", async () => (await window.lenses()).some((text) => text === "Go to the source, line 13"));
  await window.page.locator(".tab", { hasText: "Graph: Classifier" }).click();
  const again = await graphFrame();
  await again.locator('[role="tab"]', { hasText: /^Forward$/u }).click();
});

test("on an accelerator with layouts of its own a kernel says what it asks of the memory", async () => {
  const frame = await graphFrame();
  await frame.locator('[role="tab"]', { hasText: "IR forward" }).click();
  const kernel = frame.locator('[role="treeitem"]:visible', { hasText: "Pointwise" });
  if ((await kernel.count()) === 0) await frame.locator('[aria-label="Outline"]').click();
  await kernel.click();
  const details = frame.locator(".details").first();
  if (!(await details.isVisible())) await frame.locator('[aria-label="Details"]').first().click();
  await until("the kernel is described", async () => (await details.innerText()).includes("Elementwise"));
  expect(await details.innerText()).not.toContain("derived from the IR");
  await window.run("Inductor Debug: Choose Accelerator");
  await window.page.locator(".quick-input-widget input").first().fill("spyre"); // the list is longer than what is shown of it
  await clickUntil("it is still selected, and has loops and layouts", window.page.locator(".quick-input-list .monaco-list-row", { hasText: "spyre" }).first(), async () => /On spyre, derived from the IR[\s\S]*relu[\s\S]*d0 = 8[\s\S]*\[2, 8, 32\]/u.test(await details.innerText()));
  await window.screenshot("graph-specs");
  await frame.locator('[role="tab"]', { hasText: /^Forward$/u }).click();
});

test("for a GPU that is not there there are kernels, which are compiled when somebody asks, or what that needs is said", async () => {
  await window.run("Inductor Debug: Choose Accelerator");
  await window.page.locator(".quick-input-widget input").first().fill("h100");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "h100" }).first().click();
  const frame = await graphFrame();
  await frame.locator('[role="tab"]', { hasText: "Kernels and IR" }).click();
  const code = frame.locator(".pane:not([hidden]) .code-view").first();
  await until("the kernels are Triton's", async () => (await code.locator(".line").allInnerTexts()).some((line) => line.includes("triton")));
  await window.screenshot("graph-triton");
  const offer = code.locator("button", { hasText: "Compile the kernels" });
  await offer.click();
  // Triton is no part of the environment: whatever imports Inductor would import it, too.
  await until("what is missing is told", async () => (await code.innerText()).includes("pip install inductor-debug[gpu]"));
  await until("nothing more is offered", async () => (await offer.count()) === 0);
  await window.screenshot("graph-compiled");
  await frame.locator('[role="tab"]', { hasText: /^Forward$/u }).click();
});

test("after a save the graph is captured again and compared with the one before", async () => {
  await window.page.locator('.tab[data-resource-name="model.py"]').click();
  await window.replace(DOUBLE, "torch.relu(", "torch.tanh(");
  await window.save();
  const frame = await graphFrame();
  await until("the new graph is there", async () => (await tabs(frame)).some((name) => name.includes("previous save")));
  await frame.locator('[aria-label^="Show a second graph"]').click();
  await until("the differences are counted", async () => (await frame.locator(".difference.added").first().innerText()) === "+1");
  expect(await frame.locator(".difference.removed").first().innerText()).toMatch(/^−[12]$/u); // relu, and what it saved for the backward
  await window.screenshot("graph-diff");
});

test("a reload of the window brings the tab back, as it was", async () => {
  await window.reload();
  await window.page.locator(".tab", { hasText: "Graph: " }).first().click();
  const frame = await graphFrame();
  expect((await outlineRows(frame)).some((row) => row.includes("tanh"))).toBe(true);
});

test("and a kernel's tab is there with its text and its link to the source", async () => {
  await clickUntil("its lens leads back", window.page.locator('.tab[data-resource-name$=".cpp"]').first(), async () => (await window.lenses()).some((text) => text === "Go to the source, line 13"));
  expect((await window.lines()).join("\n")).toMatch(/void\s+kernel/u);
});
