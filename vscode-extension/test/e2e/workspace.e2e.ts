/** The whole workspace, checked on request: what one sees of files that nobody opened, and what becomes of it when they change. */

import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, until, write } from "./harness.js";
import { CLEAN, CULPRIT, DOUBLE, held } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

let window: Window;
let folder: string;
let hold: string;
beforeAll(async () => {
  window = await sharedWindow({
    "models/double.py": DOUBLE,
    "models/other.py": DOUBLE.replace("Classifier", "Other"),
    "models/clean.py": CLEAN,
    "tests/test_model.py": DOUBLE.replace(/^# inductor-debug:.*$/mu, ""), // nobody has declared that it is to be checked
    "setup.py": "import setuptools\n",
  });
  folder = window.folder;
  hold = join(folder, "hold");
  await window.reload(); // the editor keeps files of tests before these open for minutes
  await window.page.locator('.activitybar a[aria-label^="Inductor Debug"]').click();
});
afterAll(() => window.screenshot("workspace-last"));

const rows = (): Promise<string[]> => window.tree();
const row = async (name: string): Promise<string | undefined> => (await rows()).find((text) => text.startsWith(`File ${name},`));

test("before anything is open the view offers it", async () => {
  await until("the button is there", () => window.page.getByText("Check the Whole Workspace").first().isVisible());
  await window.screenshot("workspace-welcome");
});

test("findings of files that are not open stand in the view and among the problems", async () => {
  await window.run("Inductor Debug: Check the Whole Workspace");
  await until("both are rows", async () => (await row("double.py"))?.includes("1 finding") && (await row("other.py"))?.includes("1 finding"));
  expect(await row("clean.py")).toContain("no findings");
  expect(await row("test_model.py")).toBeUndefined();
  await window.run("Notifications: Show Notifications"); // a toast goes after some seconds, what it said stays there
  const sentence = await until("what was found is said", async () =>
    (await window.page.locator(".notification-list-item-message").allInnerTexts()).find((text) => text.includes("2 findings in 2 of 3 files")));
  expect(sentence).toContain("2 files not run: 1 test, 1 set-up");
  await window.screenshot("workspace-checked");
  await window.clearNotifications();
  await clickUntil("the file is shown", window.page.locator('.pane-body .monaco-list-row[aria-label*="dtype at line 13"]').first(), () => window.page.locator(".statusbar-item", { hasText: "Ln 13" }).isVisible());
  await window.untilUnderlined([[13, CULPRIT]]);
});

test("a file that is closed keeps its findings", async () => {
  await window.closeTab("double.py");
  await until("the row is back", async () => (await row("double.py"))?.includes("1 finding"));
});

test("what changed since is marked, and what is deleted or renamed goes", async () => {
  write(join(folder, "models", "double.py"), DOUBLE.replace("self.second(hidden.float())", "self.second(hidden.float() + 0)"));
  await until("it is marked", async () => (await row("double.py"))?.includes("from an earlier text"));
  await window.screenshot("workspace-outdated");
  rmSync(join(folder, "models", "double.py"));
  await until("its row is gone", async () => (await row("double.py")) === undefined);
  renameSync(join(folder, "models", "other.py"), join(folder, "models", "renamed.py"));
  await until("the old name is gone", async () => (await row("other.py")) === undefined);
});

test("a check that takes long tells how far it is, and is cancelled", async () => {
  write(hold, "");
  write(join(folder, "models", "held.py"), held(hold));
  await window.run("Inductor Debug: Check the Whole Workspace");
  const toast = window.page.locator(".notification-toast", { hasText: "Checking the whole workspace" });
  await until("it tells how far it is", async () => /\d of \d files/u.test(await toast.first().innerText()));
  await window.screenshot("workspace-progress");
  await toast.first().hover();
  await toast.getByText("Cancel").first().click();
  await until("the bar is gone", async () => (await toast.count()) === 0);
  rmSync(hold);
});
