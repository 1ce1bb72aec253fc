/** Bisections and transfers in a real VS Code: from a row of the view to a page with a ladder, with Cancel on the way, and errors that are said. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { folder, until, write } from "./harness.js";
import { waiting } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

/** Integers that the accelerator keeps in 32 bits: they change on their way. */
const INTEGERS = `import torch


# inductor-debug: inputs=(torch.tensor([1, 2**40]),)
def double(x):
    return x * 2
`;

let window: Window;
let hold: string;

const row = (text: string): ReturnType<Window["page"]["locator"]> => window.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${text}"]`).first();
const pages = (text: RegExp): Promise<boolean> => window.frameText(text);

/** Clicks the last link with a text on a page. VS Code may load the page's frame anew meanwhile. */
const clickLink = (text: string): Promise<boolean> =>
  until(`a click on ${text}`, async () => {
    for (const frame of window.page.frames()) {
      const link = frame.locator("a", { hasText: text }).last();
      if ((await link.count()) === 0) continue;
      await link.click({ timeout: 3_000 });
      return true;
    }
    return false;
  });

/** Presses a button of what a page says of its state. */
const clickState = (text: string): Promise<boolean> =>
  until(`a click on ${text}`, async () => {
    for (const frame of window.page.frames()) {
      const pressed = frame.locator(".state button", { hasText: text }).last();
      if ((await pressed.count()) === 0) continue;
      await pressed.click({ timeout: 3_000 });
      return true;
    }
    return false;
  });

beforeAll(async () => {
  hold = join(folder({}), "hold");
  window = await sharedWindow({ "model.py": INTEGERS, "held.py": `${INTEGERS}\n${waiting(hold)}`, "pyproject.toml": "" }, {
    settings: { "inductorDebug.accelerator": "spyre", "workbench.colorTheme": "Default Light Modern" },
    viewport: { width: 1600, height: 900 },
  });
  await window.openFile("model.py");
  await until("it is checked", async () => (await window.lenses()).some((text) => text.startsWith("capture: ")));
});
afterAll(() => window.screenshot("bisect-last"));

test("the row of a target offers to look closer and to report", async () => {
  await window.run("View: Show Inductor Debug");
  const target = window.page.locator(".pane-body .monaco-list-row", { hasText: "double" }).first();
  await target.waitFor();
  await target.click({ button: "right" });
  const menu = window.page.locator(".monaco-menu .action-label");
  await until("the menu is there", async () => (await menu.count()) > 0);
  await window.screenshot("targets-menu");
  const titles = (await menu.allInnerTexts()).map((text) => text.trim());
  expect(titles).toEqual(expect.arrayContaining(["Show Graph", "Bisect", "Show Transfers", "Create a Bug Report"]));
  await window.page.keyboard.press("Escape");
});

test("a bisection is a page with the ladder, the verdict, and a link to the expression", async () => {
  await window.openFile("model.py");
  await window.run("Inductor Debug: Bisect");
  await row("Choose backends…").click();
  await row("dynamo").click();
  await row("spyre").click();
  await window.accept();
  await window.untilNotification("double: the back end goes wrong");
  await until("the page is there", () => pages(/Bisection of double[\s\S]*spyre[\s\S]*model\.py, line 6[\s\S]*inductor-debug diff/u));
  await window.screenshot("bisect-page");
  await window.clearNotifications(); // it lies over the page
  await clickLink("Copy");
  await until("it is in the clipboard", async () => (await window.page.evaluate<string>("navigator.clipboard.readText()")).endsWith("--backend spyre"));
  await clickLink("model.py, line 6");
  const selection = window.page.locator("#status\\.editor\\.selection");
  await until("the expression is selected", async () => (await selection.getAttribute("aria-label"))?.includes("(5 selected)"));
  expect(await window.page.locator('.tab[data-resource-name="model.py"]').count()).toBe(1); // the source was open already
});

test("Cancel ends a bisection, and nothing is said about it", async () => {
  await window.openFile("held.py");
  await until("it is checked", async () => (await window.lenses()).some((text) => text.startsWith("capture: ")));
  write(hold, ""); // it is not over before it is cancelled
  await window.run("Inductor Debug: Bisect");
  await row("Choose backends…").waitFor();
  await window.accept(); // the usual ladder
  await row("Choose backends…").waitFor({ state: "hidden" });
  await clickState("Cancel");
  await until("the page offers to try again", () => pages(/Cancelled[\s\S]*Retry/u));
  await window.screenshot("bisect-cancelled");
  rmSync(hold);
  await until("the output tells of it", () => window.output().includes("Bisecting double: cancelled"));
  expect(await window.notifications()).toEqual([]);
});

test("transfers are a page: what crosses, and what does not come back as it was", async () => {
  await window.openFile("model.py");
  await window.run("Inductor Debug: Show Transfers");
  await until("the page is there", () => pages(/Transfers of double[\s\S]*What does not come back as it was[\s\S]*All transfers/u));
  await window.screenshot("transfers-page");
});

test("what the daemon cannot do is said with its reason", async () => {
  await window.openFile("model.py");
  write(join(window.folder, ".vscode", "settings.json"), JSON.stringify({ "inductorDebug.accelerator": "/nowhere/chip.toml" }));
  await window.untilNotification("/nowhere/chip.toml: there is no such file");
  await window.clearNotifications();
  await window.page.locator('.tab[data-resource-name="model.py"]').first().click();
  await window.run("Inductor Debug: Show Transfers");
  await window.untilNotification("There is nothing to compile in this file, or its check is not through yet.");
  await window.clearNotifications();
});
