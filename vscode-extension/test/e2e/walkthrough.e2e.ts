/** The walkthrough of the guided demo: a click on the button of a step runs the real command on the demo's own model. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, until, write } from "./harness.js";
import { ROOT } from "./setup.mjs";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

interface Demo {
  readonly title: string;
  readonly steps: readonly { readonly id: string; readonly title: string; readonly look: string; readonly editor: { readonly label: string } }[];
}

const demo = JSON.parse(readFileSync(join(ROOT, "daemon", "inductor_debug", "cli", "demo", "steps.json"), "utf8")) as Demo;
const SETTINGS = { "inductorDebug.accelerator": "none", "workbench.colorTheme": "Default Light Modern", "breadcrumbs.enabled": false };

let window: Window;
beforeAll(async () => {
  window = await sharedWindow({}, { settings: SETTINGS, viewport: { width: 1600, height: 950 } });
  await window.run("Inductor Debug: Guided Demo");
  await until("the walkthrough is open", () => window.page.getByText(demo.title).first().isVisible());
});
afterAll(() => window.screenshot("walkthrough-last"));

/** Brings the walkthrough to the front. Where it is there its tab is left alone: newer VS Codes go from it to their list of walkthroughs. */
async function toFront(): Promise<void> {
  if (await window.page.locator(".getting-started-step").first().isVisible()) return;
  await window.page.locator('.tab[aria-label*="Walkthrough"], .tab[aria-label^="Welcome"]').first().click(); // by the age of VS Code
}

/** Opens a step of the walkthrough and clicks its button until it is begun: what it does to the model comes after it is marked as done. */
async function take(id: string): Promise<void> {
  const step = demo.steps.find((one) => one.id === id);
  if (!step) throw new Error(`the demo has no step ${id}`);
  await toFront();
  const row = window.page.locator(`.getting-started-step[data-step-id$="#demo#${id}"]`);
  if ((await row.getAttribute("aria-expanded")) !== "true") await row.locator(".step-title").click(); // which would fold the open one
  const button = row.getByText(step.editor.label, { exact: true });
  await button.waitFor();
  await window.screenshot(`walkthrough-${id}`);
  await clickUntil(`the step ${id} is begun`, button, () => row.locator(".codicon-getting-started-step-checked").isVisible());
}

test("its steps are those of the command", async () => {
  const titles = await window.page.locator(".getting-started-step .step-title").allInnerTexts();
  expect(titles).toEqual(demo.steps.map(({ title }) => title));
});

test("check: the model opens beside it, and both findings stand where they belong", async () => {
  await take("check");
  await until("the findings are there", async () => {
    const under = (await window.squiggles()).map(({ text }) => text);
    return under.includes("scores.double()") && under.some((text) => text.startsWith("print(")); // both
  });
});

test("fix: the fixes at the first finding are offered", async () => {
  const offered = window.page.locator(".action-widget .monaco-list-row.action", { hasText: "float32" });
  await until("the fix is offered", async () => { // which is tried by the daemon first
    await take("fix");
    await window.page.locator(".action-widget .monaco-list-row.action").first().waitFor({ timeout: 10_000 });
    await window.screenshot("walkthrough-fixes");
    const there = (await offered.count()) > 0;
    await window.page.keyboard.press("Escape");
    return there;
  });
});

test("compare: what the compiled model computes is right", async () => {
  await take("compare");
  await until("the verdict is there", () => window.frameText(/aot_eager[\s\S]*pass/iu));
});

test("blame: the device is wrong, at the expression that is to blame", async () => {
  await take("blame");
  await until("the page says so", () => window.frameText(/wrong\s+Mixer: device against eager[\s\S]*To blame[\s\S]*gelu/u));
  await window.screenshot("walkthrough-blamed");
});

test("report: the page names the layer and the operation", async () => {
  await take("report");
  await until("the page is there", () => window.frameText(/The back end goes wrong[\s\S]*gelu/u));
});

test("it looks right in the dark", async () => {
  write(join(window.folder, ".vscode", "settings.json"), JSON.stringify({ ...SETTINGS, "workbench.colorTheme": "Default Dark Modern" }));
  await until("the theme is on", () => window.page.locator(".monaco-workbench.vs-dark").first().isVisible());
  await toFront();
  await window.screenshot("walkthrough-dark");
});
