/**
 * Reproducers and bug reports in a real VS Code: from the squiggle and from the palette to a script that was run, beside its source, with a
 * way back; and to a zip whose files were shown before it was written.
 */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, until, write } from "./harness.js";
import { CLEAN, CULPRIT, DOUBLE } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

let window: Window;
let folder: string;

const REPRO = "repro_model_dtype.py";
/** The lenses above the reproducer. */
const lenses = (): Promise<string> => window.page.locator(".codelens-decoration", { hasText: "Save in repros/" }).first().innerText().then((text) => text.replaceAll(/\s+/gu, " "));
const lens = (text: string): ReturnType<Window["page"]["locator"]> => window.page.locator(".codelens-decoration a", { hasText: text }).first();

/** Clicks a lens of the reproducer's tab until what it is for has come: VS Code may draw lenses anew under the pointer. */
async function clickLens(text: string, what: string, look: () => Promise<boolean>): Promise<void> {
  await until(what, async () => {
    await window.page.locator(`.tab[aria-label*="${REPRO}"]`).first().click({ timeout: 5_000 });
    await lens(text).click({ timeout: 5_000 });
    return until(what, look, 5_000);
  });
}

const clipboard = (): Promise<string> => window.page.evaluate<string>("navigator.clipboard.readText()");
const inputRows = (): Promise<string[]> => window.page.locator(".quick-input-list .monaco-list-row").evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""));

beforeAll(async () => {
  window = await sharedWindow({ "model.py": DOUBLE, "clean.py": CLEAN, "pyproject.toml": "" }, {
    settings: { "workbench.colorTheme": "Default Light Modern" },
    viewport: { width: 1600, height: 900 },
  });
  folder = window.folder;
  await window.openFile("model.py");
  await window.untilUnderlined([[13, CULPRIT]]);
});
afterAll(() => window.screenshot("repro-last"));

test("the action at a squiggle makes a verified reproducer, which opens beside the source", async () => {
  await window.fix(13, 30, "Make a minimal reproducer (dtype)");
  const told = await window.untilNotification(/^Inductor Debug: Verified/u);
  expect(told).toMatch(/Verified: it fails by itself in a clean process\. \d+ ops became 1 \(\d+ attempts?, [\d.]+ s\)\./u);
  await until("it stands in a tab", async () => (await window.page.locator(`.tab[data-resource-name="${REPRO}"]`).count()) === 1);
  expect(await until("it has its lenses", lenses)).toMatch(/Verified: .*Go to model\.py, line 13.*Save in repros\/.*Copy.*Open as Untitled/u);
  await window.screenshot("repro-verified");
  expect(await window.page.locator(".editor-group-container").count()).toBe(2);
});

test("its way back selects the expression", async () => {
  await clickUntil("the expression is selected", lens("Go to model.py, line 13"), async () => (await window.page.locator("#status\\.editor\\.selection").getAttribute("aria-label"))?.includes(`(${CULPRIT.length} selected)`));
});

test("it is saved in repros/, and never over a file that is there", async () => {
  await lens("Save in repros/").click();
  const first = join(folder, "repros", REPRO);
  await until("it is saved", () => existsSync(first) && readFileSync(first, "utf8").includes("x.to(torch.float64)"));
  await until("it is in a tab of its own", async () => (await window.page.locator(`.tab[data-resource-name="${REPRO}"]`).count()) === 2);
  writeFileSync(first, "# mine\n");
  await window.page.locator(`.tab[aria-label*="${REPRO}"]`).first().click();
  await window.run("Inductor Debug: Save Reproducer in repros/");
  await until("it is saved again", () => existsSync(join(folder, "repros", REPRO.replace(".py", "_2.py"))));
  expect(readFileSync(first, "utf8")).toBe("# mine\n");
});

test("it can be copied, and opened as a file without a name", async () => {
  await clickLens("Copy", "it is in the clipboard", async () => (await clipboard()).startsWith('"""A minimal reproducer'));
  await clickLens("Open as Untitled", "there is a file without a name", () => window.page.locator('.tab[data-resource-name^="Untitled-"]').first().isVisible());
});

test("the command takes the finding at the cursor, else it asks; where there is none it says so", async () => {
  await window.clearNotifications();
  await window.page.locator('.tab[data-resource-name="model.py"]').first().click();
  await window.goTo(1);
  await window.run("Inductor Debug: Make a Minimal Reproducer");
  await until("it asks", async () => (await inputRows()).some((row) => row.startsWith("dtype")));
  await window.screenshot("repro-pick");
  await window.page.keyboard.press("Escape");
  await window.openFile("clean.py");
  await until("it is checked", async () => (await window.lenses()).some((text) => text.startsWith("capture: no findings")));
  await window.run("Inductor Debug: Make a Minimal Reproducer");
  await window.untilNotification("There is nothing to reproduce in this file");
  await window.clearNotifications();
});

test("a finding that is gone is said to be", async () => {
  await window.openFile("model.py");
  await window.goTo(1);
  await window.run("Inductor Debug: Make a Minimal Reproducer");
  await until("it asks", async () => (await inputRows()).some((row) => row.startsWith("dtype")));
  write(join(folder, "model.py"), CLEAN); // as a checkout would
  await until("nothing is underlined", async () => (await window.squiggles()).length === 0);
  await window.accept();
  expect(await window.untilNotification("The finding is not there any more")).toContain("Reproducing dtype of model.py");
  await window.clearNotifications();
  write(join(folder, "model.py"), DOUBLE);
  await window.untilUnderlined([[13, CULPRIT]]);
});

test("a bug report shows its files before it is written where the user wants it", async () => {
  await window.goTo(13, 30);
  await window.run("Inductor Debug: Create a Bug Report");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Without the bisection" }).click();
  const rows = await until("the files are listed", async () => {
    const all = await inputRows();
    return all.some((row) => row.includes("ISSUE.md")) ? all : undefined;
  });
  await window.screenshot("bug-report-files");
  expect(rows[0]).toContain("Save…");
  expect(readdirSync(folder).filter((name) => name.endsWith(".zip"))).toEqual([]);
  await window.accept();
  const input = window.page.locator(".quick-input-widget input").first();
  await until("it asks where to", async () => (await input.inputValue()).endsWith("bug-report-model.zip"));
  await window.page.locator(".quick-input-action a", { hasText: "OK" }).click();
  await window.untilNotification("Written:");
  expect(existsSync(join(folder, "bug-report-model.zip"))).toBe(true);
  await window.screenshot("bug-report-written");
  await clickUntil("the issue is in the clipboard", window.page.locator(".notification-toast .monaco-button", { hasText: "Copy Issue Text" }), async () => (await clipboard()).includes("[dtype]"));
});

test("a list that is left writes nothing", async () => {
  await window.openFile("clean.py"); // nothing is looked into for its report
  await window.run("Inductor Debug: Create a Bug Report");
  await clickUntil("the files are listed", window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Without the bisection" }), async () => (await inputRows()).some((row) => row.includes("ISSUE.md")));
  await window.page.keyboard.press("Escape");
  await window.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  expect(readdirSync(folder).filter((name) => name.endsWith(".zip"))).toEqual(["bug-report-model.zip"]);
});

test("a report of the file stands beside it, with what was found and what the rules mean", async () => {
  await window.openFile("model.py");
  await window.run("Inductor Debug: Report");
  await window.untilNotification("The report of model.py is there.");
  await until("the page is there", () => window.frameText(/1 finding \(1 warning\) in 1 file[\s\S]*torch\.relu\(self\.first\(x\)\)\.double\(\)[\s\S]*A tensor has a dtype that the accelerator does not support/u));
  await window.screenshot("report-page");
});
