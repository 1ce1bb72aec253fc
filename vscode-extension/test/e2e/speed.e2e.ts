/**
 * How long it takes, measured from one run and reported as ratios; nothing here fails for being slow.
 *
 * The editor's own part is the time from a key press to the squiggle on the screen, less the time that the daemon says it took
 * from hearing of the change to its findings (its own waiting for the typing to pause is in both).
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { PYTHON, SCREENSHOTS, until, Workbench } from "./harness.js";
import { CULPRIT, DOUBLE } from "./models.js";
import type { Window } from "./window.js";

const ROUNDS = 8;

let bench: Workbench;
let window: Window;
beforeAll(async () => {
  bench = await Workbench.start({ "inductorDebug.interpreter": PYTHON });
  window = await bench.open(bench.folder({ "model.py": DOUBLE }));
  await window.openFile("model.py");
  await window.untilUnderlined([[13, CULPRIT]]);
});
afterAll(async () => { await bench.close(); });

interface Measured {
  readonly screen: number;
  readonly daemon: number;
}

/** Types `y.double()` into the last line, waits for its squiggle, and takes it away again. */
async function round(): Promise<Measured> {
  await window.goTo(14, 27);
  const known = lines(window).length;
  const screen = await window.page.evaluate(measureSquiggles, 2);
  await window.page.keyboard.insertText(".double()");
  const shown = await window.page.evaluate(() => (globalThis as unknown as { measured: Promise<number> }).measured);
  expect(screen).toBe(true);
  const first = await until("the daemon's own time", () =>
    lines(window).slice(known).find((line) => line.includes("findings 2")),
  );
  for (let index = 0; index < ".double()".length; index += 1) await window.page.keyboard.press("Backspace");
  await window.untilUnderlined([[13, CULPRIT]]);
  return { screen: shown, daemon: Number(/, ([\d.]+) s,/u.exec(first)?.[1] ?? "0") * 1000 };
}

/** In the page: from the next input into the editor to this many squiggles. */
function measureSquiggles(wanted: number): boolean {
  const target = globalThis as unknown as { measured: Promise<number> };
  target.measured = new Promise((resolve) => {
    let began = 0;
    document.addEventListener("beforeinput", () => { began = performance.now(); }, { capture: true, once: true });
    document.addEventListener("input", () => { began ||= performance.now(); }, { capture: true, once: true });
    const observer = new MutationObserver(() => {
      const count = document.querySelectorAll(".editor-instance .view-overlays [class*=squiggly-]").length;
      if (began > 0 && count >= wanted) {
        observer.disconnect();
        resolve(performance.now() - began);
      }
    });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  return true;
}

function lines(from: Window): string[] {
  return from.output().split("\n").filter((line) => line.includes("analysis of model.py"));
}

test("key press to squiggle, activation and bundle are measured", async () => {
  const measured: Measured[] = [];
  await round();
  for (let index = 0; index < ROUNDS; index += 1) measured.push(await round());
  const screen = median(measured.map((one) => one.screen));
  const daemon = median(measured.map((one) => one.daemon));
  const added = median(measured.map((one) => one.screen - one.daemon));
  const [, loaded, activated] = /loaded in ([\d.]+) ms, activated in ([\d.]+) ms/u.exec(window.output()) ?? [];
  const [, spawned] = /spawned ([\d.]+) ms after/u.exec(window.output()) ?? [];
  const report = {
    "key press to squiggle (ms)": screen,
    "of that the daemon (ms)": daemon,
    "added by the editor (ms)": added,
    "ratio of the whole to the daemon": Number((screen / daemon).toFixed(3)),
    "bundle loaded (ms)": Number(loaded),
    "activated (ms)": Number(activated),
    "daemon spawned after (ms)": Number(spawned),
  };
  mkdirSync(dirname(SCREENSHOTS), { recursive: true });
  writeFileSync(join(dirname(SCREENSHOTS), "measurements.json"), JSON.stringify(report, undefined, 2));
  console.log(report);
  expect(measured.length).toBe(ROUNDS);
});

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return Number((sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1));
}
