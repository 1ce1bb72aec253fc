/**
 * Daemons of other minor versions, and one that says damaged things: the real daemon, every frame of which is changed on its way
 * (`other_daemon.py`). What both sides know works; nothing else is noticed.
 */

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { PYTHON, until, Workbench } from "./harness.js";
import { CULPRIT, DOUBLE } from "./models.js";
import { ROOT } from "./setup.mjs";
import type { Window } from "./window.js";

const DAEMON = join(ROOT, "vscode-extension", "test", "e2e", "other_daemon.py");

let bench: Workbench;
let window: Window;
let folder: string;

/** The daemon is another; what runs the models is as ever. */
function use(role: string): void {
  const path = join(folder, role);
  writeFileSync(path, `#!/bin/sh\ncase " $* " in *" serve "*) shift 2; exec ${PYTHON} ${DAEMON} ${role} "$@" ;; *) exec ${PYTHON} "$@" ;; esac\n`);
  chmodSync(path, 0o755);
  bench.write(join(folder, ".vscode", "settings.json"), JSON.stringify({ "inductorDebug.interpreter": path }));
}

beforeAll(async () => {
  bench = await Workbench.start({ "inductorDebug.importStrategy": "fromEnvironment" });
  folder = bench.folder({ "model.py": DOUBLE });
  use("newer");
  window = await bench.open(folder);
  await window.openFile("model.py");
});
afterAll(async () => {
  await window.screenshot("versions-last");
  await bench.close();
});

/** The version of the daemon that answered last. */
const answering = (): string | undefined => window.output().match(/the daemon \S+ answers/gu)?.at(-1);

/** Findings come and go with the text, the tree has the target, and nobody is told of anything. */
async function works(): Promise<void> {
  await window.untilUnderlined([[13, CULPRIT]]);
  await window.replace(DOUBLE, ".double()", "");
  await window.save();
  await window.untilUnderlined([]);
  await window.replace(DOUBLE.replace(".double()", ""), "self.first(x))", "self.first(x)).double()");
  await window.save();
  await window.untilUnderlined([[13, CULPRIT]]);
  await until("the status says what was found", async () => (await window.status()).includes("1 finding"));
  expect(await window.notifications()).toEqual([]);
}

test("a newer daemon, which says more than the extension knows", async () => {
  await works();
  expect((await window.tree()).join("\n")).not.toMatch(/holographic|undefined/u);
  expect(answering()).toMatch(/\d+\.\d+\.0/u);
  await window.screenshot("versions-newer");
});

test("an older daemon, which says less and has fewer commands: what it lacks is told with what to do", async () => {
  const newer = answering();
  use("older");
  await until("it answers", () => answering() !== newer);
  await works();
  await window.run("Inductor Debug: Show Roofline");
  await until("the page says why not", () => window.frameText(/cannot do this yet: update it/u));
  await window.screenshot("versions-older");
});

test("what is damaged between what is meant is left out, and the output says so", async () => {
  use("damaged");
  await until("something was ignored", () => window.output().includes("ignored what the daemon has said"));
  await works();
  await window.screenshot("versions-damaged");
});
