/** The commands, as a person uses them, and how everything looks in the themes. */

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, until, write } from "./harness.js";
import { BARE, CULPRIT, DOUBLE } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

/** Never ends by itself. */
const ENDLESS = DOUBLE.replace("from torch import nn\n", "from torch import nn\nimport time\n\nwhile True: time.sleep(1)\n");

let window: Window;
let folder: string;
beforeAll(async () => {
  window = await sharedWindow({ "model.py": DOUBLE, "bare.py": BARE, "endless.py": ENDLESS });
  folder = window.folder;
  await window.openFile("model.py");
  await window.untilUnderlined([[13, CULPRIT]]);
});
afterAll(() => window.screenshot("commands-last"));

const input = (): ReturnType<typeof window.page.locator> => window.page.locator(".quick-input-widget input").first();

test("the rule of a finding leads to its page", async () => {
  const squiggle = window.page.locator(".editor-instance .view-overlays [class*=squiggly-]").first();
  const link = window.page.locator(".monaco-hover a.code-link");
  await until("the hover has a link", async () => {
    const box = await squiggle.boundingBox(); // asked for each time: a lens that comes late moves the line
    await window.page.mouse.move(0, 0);
    await window.page.mouse.move((box?.x ?? 0) + 30, (box?.y ?? 0) + 6);
    await link.waitFor({ timeout: 5_000 });
    return true;
  });
  await window.screenshot("hover");
  await clickUntil("the page is open", link, () => window.page.locator('.tab[aria-label*="dtype"]').isVisible());
  await until("the page is laid out", () => window.frameText(/float64|dtype/u));
  await window.screenshot("rule");
  await window.closeTab("dtype");
});

test("Explain a Rule offers those of the file first", async () => {
  await window.openFile("model.py");
  await window.run("Inductor Debug: Explain a Rule");
  const rows = window.page.locator(".quick-input-list .monaco-list-row");
  await until("the rules are listed", async () => (await rows.count()) > 5);
  await until("the file's come first", async () => /^dtype.*found in this file/u.test((await rows.first().getAttribute("aria-label")) ?? ""));
  await window.accept();
  await until("the page is open", () => window.page.locator('.tab[aria-label*="dtype"]').isVisible());
  await window.closeTab("dtype");
});

test("Set Example Inputs writes the directive, and the class becomes a target", async () => {
  await window.openFile("bare.py");
  await window.run("Inductor Debug: Set Example Inputs for a Class");
  await until("it asks for the inputs", async () => /randn\(\d+, 64\)/u.test(await input().inputValue()));
  await input().fill("torch.randn(8, 64");
  await until("it says what is wrong with it", () => window.page.locator(".quick-input-widget", { hasText: "'(' was never closed" }).isVisible());
  await window.screenshot("unclosed");
  await input().fill("torch.randn(8, 64)");
  await until("it has nothing against it any more", async () => !(await window.page.locator(".quick-input-widget", { hasText: "never closed" }).isVisible()));
  await window.accept();
  await until("it asks for what the class needs", async () => (await input().getAttribute("placeholder")) === "width, classes");
  await input().fill("64, 10");
  await window.accept();
  await window.untilUnderlined([[12, "self.linear(x).double()"]]);
  const wanted = "\n# inductor-debug: inputs=(torch.randn(8, 64),), init=(64, 10)\nclass Net(nn.Module):\n";
  await until("the file is saved", () => readFileSync(join(folder, "bare.py"), "utf8").includes(wanted));
});

test("Choose Accelerator is a setting of the workspace, and counts at once", async () => {
  await window.run("Inductor Debug: Choose Accelerator");
  await window.page.locator(".quick-input-widget input").first().fill("spyre"); // the list is longer than what is shown of it
  await clickUntil("the status says so", window.page.locator(".quick-input-list .monaco-list-row", { hasText: "spyre" }).first(), async () => (await window.status()).includes("Accelerator: spyre"));
  const kept = (): string => readFileSync(join(folder, ".vscode", "settings.json"), "utf8");
  await until("it is in the workspace", () => kept().includes('"inductorDebug.accelerator": "spyre"'));
  await window.untilUnderlined([[9, "nn.Linear(width, classes)"], [12, "self.linear(x).double()"]]);
  await window.screenshot("spyre");
});

test("Copy Troubleshooting Information has versions and no home folder", async () => {
  await window.run("Inductor Debug: Copy Troubleshooting Information");
  await window.untilNotification("on the clipboard");
  const text = await window.page.evaluate(() => navigator.clipboard.readText());
  expect(text).toMatch(/daemon \d+\.\d+\.\d+, state running/u);
  expect(text).toMatch(/torch 2\.\d+/u);
  expect(text).toContain('"accelerator": "spyre"');
  expect(text).not.toContain(`${homedir()}/`);
  await window.clearNotifications();
});

test("Cancel stops what takes too long", async () => {
  await window.openFile("endless.py");
  await until("it is being checked", async () => (await window.status()).includes("loading the file"));
  await window.showStatus(/Cancel/u);
  await window.screenshot("busy");
  await window.run("Inductor Debug: Cancel Analysis");
  await until("it is cancelled", async () => (await window.status()).includes("cancelled"));
});

test.each(["Default Dark Modern", "Default High Contrast", "Default Light Modern"])("looks right in %s", async (theme) => {
  write(join(folder, ".vscode", "settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
  const wanted = theme.includes("Light") ? "vs" : theme.includes("High") ? "hc-black" : "vs-dark";
  await until("the theme is on", () => window.page.locator(`.monaco-workbench.${wanted}`).first().isVisible());
  await window.openFile("model.py");
  await window.run("Inductor Debug: Focus on Targets View");
  await until("the finding is a row", async () => (await window.tree()).some((row) => row.includes("dtype at line 13")));
  await window.showStatus(/Accelerator/u);
  await window.screenshot(`theme-${theme.toLowerCase().replaceAll(" ", "-")}`);
});

test("the walkthrough opens with its steps", async () => {
  await window.run("Welcome: Open Walkthrough...");
  await clickUntil("its first step is there", window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Check Models While You Write Them" }), () => window.page.getByText("A Python with torch").first().isVisible());
  await window.screenshot("walkthrough");
});
