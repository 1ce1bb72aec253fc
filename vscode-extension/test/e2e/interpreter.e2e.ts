/** Choosing the Python that runs the models: from wherever one is sent there, without a dead end. pip is a stand-in: nothing is installed. */

import { chmodSync, existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, PYTHON, until, Workbench } from "./harness.js";
import { CULPRIT, DOUBLE } from "./models.js";
import type { Window } from "./window.js";

/**
 * Interpreters as scripts, each in an environment of its own. `bare` has no torch until its pip has run: the probe (`-I -c`) says so, and what
 * is started before that is a Python without any library.
 */
const PYTHONS = {
  good: `exec ${PYTHON} "$@"`,
  bare: `HERE=$(dirname "$0")
if [ "$2" = pip ]; then echo "Collecting torch"; echo "$@" >> "$HERE/asked"; [ -e "$HERE/fails" ] && exit 1; touch "$HERE/installed"; echo "Successfully installed torch"; exit 0; fi
if [ "$2" = -c ] && [ ! -e "$HERE/installed" ]; then echo 3.11.2; echo; exit 0; fi
[ -e "$HERE/installed" ] && exec ${PYTHON} "$@"
exec ${realpathSync(PYTHON)} "$@"`,
  broken: `echo "error while loading shared libraries: libpython3.11.so.1.0" >&2; exit 127`,
  old: `[ "$2" = -c ] && { echo 3.8.1; echo; exit 0; }\nexit 2`,
} as const;

let bench: Workbench;
let window: Window;
let folder: string;
const path = (name: string): string => join(folder, name, "bin", "python");
const chosen = (): unknown => {
  const file = join(folder, ".vscode", "settings.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>)["inductorDebug.interpreter"] : undefined;
};
const row = (text: string): ReturnType<Window["page"]["locator"]> =>
  window.page.locator(".quick-input-list .monaco-list-row", { hasText: text });
const filled = (): Promise<boolean> => row(path("good")).first().isVisible();
const picking = (): Promise<unknown> => until("the pick has filled", filled);

beforeAll(async () => {
  bench = await Workbench.start();
  folder = bench.folder({
    "model.py": DOUBLE,
    ...Object.fromEntries(Object.entries(PYTHONS).map(([name, script]) => [`${name}/bin/python`, `#!/bin/sh\n${script}\n`])),
  });
  for (const name of Object.keys(PYTHONS)) chmodSync(path(name), 0o755);
  bench.write(join(folder, ".vscode", "settings.json"), JSON.stringify({ "inductorDebug.interpreter": path("bare") }));
  window = await bench.open(folder);
  await window.openFile("model.py");
});
afterAll(async () => {
  await window.screenshot("interpreter-last");
  await bench.close();
});

test("the message about a Python without torch leads to the pick: each with its version, its torch, or why it will not do", async () => {
  await window.untilNotification(/There is no torch in .*bare/u);
  expect((await window.notifications()).length).toBe(1);
  await window.screenshot("interpreter-toast");
  await clickUntil("the pick has filled", window.page.locator(".notification-toast .monaco-button", { hasText: "Choose Interpreter" }), filled);
  const said = async (name: string): Promise<string> => {
    await window.page.locator(".quick-input-widget input").first().fill(name);
    return until(`${name} has answered`, () => row(path(name)).first().innerText({ timeout: 5_000 }));
  };
  await window.screenshot("interpreter-pick");
  expect(await said("good")).toMatch(/Python 3\.\d+\.\d+[^]*torch 2\.\d+/u);
  expect(await said("bare")).toMatch(/Python 3\.11\.2[^]*no torch/u);
  expect(await said("old")).toContain("3.10 or newer is needed");
  expect(await said("broken")).toContain("error while loading shared libraries");
});

test("one that cannot run is not taken, and the way back is a button", async () => {
  await row(path("broken")).first().click();
  await window.untilNotification(/broken.* cannot run your models: .*libpython/u);
  expect(chosen()).toBe(path("bare"));
  await clickUntil("the pick has filled", window.page.locator(".notification-toast .monaco-button", { hasText: "Choose Another" }), filled);
  await window.page.keyboard.press("Escape");
  await window.clearNotifications();
});

test("the lightbulb of a file that could not be checked leads there, too", async () => {
  await until("it is told in the file", async () => (await window.squiggles()).length > 0);
  const [squiggle] = await window.squiggles();
  await window.fix(squiggle?.line ?? 1, 1, "Choose Interpreter");
  await picking();
  await window.screenshot("interpreter-lightbulb");
  await window.page.keyboard.press("Escape");
});

test("and so do the status and the walkthrough", async () => {
  await until("the status leads there", async () => { // what it shows goes with the pointer
    await window.showStatus(/no torch/u);
    await window.page.locator(".hover-language-status", { hasText: "no torch" }).locator("a", { hasText: "Choose" }).click({ timeout: 5_000 });
    return until("the pick has filled", filled, 10_000);
  });
  await window.page.keyboard.press("Escape");
  await window.run("Welcome: Open Walkthrough...");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Check Models" }).click();
  await clickUntil("the pick has filled", window.page.locator(".getting-started-step .monaco-button", { hasText: "Choose Interpreter" }).first(), filled);
  await window.screenshot("interpreter-walkthrough");
  await window.page.keyboard.press("Escape");
  const step = window.page.locator(".getting-started-step", { hasText: "A Python with torch" }).first();
  expect(await step.locator(".codicon-getting-started-step-checked.complete").isVisible(), "clicked is not done").toBe(false);
});

test("torch is installed where it is missing, in sight, once the user agrees; a failure leads on", async () => {
  bench.write(join(folder, "bare", "bin", "fails"), "");
  await window.openFile("model.py");
  await window.run("Inductor Debug: Choose Interpreter");
  await picking();
  await row(path("bare")).first().click();
  const dialog = window.page.locator(".monaco-dialog-box");
  await dialog.getByText("There is no torch in").waitFor();
  await window.screenshot("interpreter-install");
  expect(existsSync(join(folder, "bare", "bin", "asked")), "nothing before the answer").toBe(false);
  await dialog.locator(".monaco-button", { hasText: "Install" }).click();
  await window.untilNotification("could not be installed");
  expect(readFileSync(join(folder, "bare", "bin", "asked"), "utf8")).toMatch(/^-m pip install torch>=2\.11,<2\.16/u);
  await until("pip's words are on the screen", () => window.page.locator(".terminal-wrapper.active").first().isVisible());
  await window.screenshot("interpreter-failed");
});

test("when pip has done its work everything is looked at anew, without another word", async () => {
  rmSync(join(folder, "bare", "bin", "fails"));
  await window.page.locator(".notification-toast .monaco-button", { hasText: "Try Again" }).click();
  await clickUntil("it is installed", window.page.locator(".monaco-dialog-box .monaco-button", { hasText: "Install" }), () => existsSync(join(folder, "bare", "bin", "installed")));
  await window.page.locator(".editor-instance .view-line").first().click();
  await window.untilUnderlined([[13, CULPRIT]]);
  await until("the status knows", async () => /torch 2\.\d+/u.test(await window.status()));
  expect((await window.notifications()).filter((text) => text.includes("no torch"))).toEqual([]);
  await window.screenshot("interpreter-installed");
});

test("a path that is typed is taken", async () => {
  await window.run("Inductor Debug: Choose Interpreter");
  await picking();
  await window.page.locator(".quick-input-widget input").first().fill(join(folder, "good", "..", "good", "bin", "python"));
  await until("it is offered, and what Enter takes", () => window.page.locator(".quick-input-list .monaco-list-row.focused", { hasText: "Use " }).isVisible());
  await window.accept();
  await until("it is the setting", () => String(chosen()).includes("good"));
  await window.untilUnderlined([[13, CULPRIT]]);
  await until("the status says so", async () => (await window.status()).includes("good/bin/python"));
});
