/**
 * How long it takes, measured from one run and reported as ratios; nothing here fails for being slow.
 *
 * The editor's own part is the time from a key press to the squiggle on the screen, less the time that the daemon says it took
 * from hearing of the change to its findings (its own waiting for the typing to pause is in both).
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { SCREENSHOTS, until } from "./harness.js";
import { SWITCH, SWITCHED } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

let window: Window;
beforeAll(async () => {
  window = await sharedWindow({ "model.py": SWITCHED });
  await window.openFile("model.py");
  await until("it is checked", async () => (await window.status()).includes("no findings"));
});
afterAll(() => window.screenshot("speed-last"));

interface Measured {
  readonly screen: number;
  readonly daemon: number;
}

/** Types one digit over another, which makes the model wrong, and waits for the squiggle. */
async function press(digit: number): Promise<Measured> {
  await select();
  const known = lines(window).length;
  await window.page.evaluate(measureSquiggles);
  await window.page.keyboard.press(String(digit));
  const screen = await window.page.evaluate(() => (globalThis as unknown as { measured: Promise<number> }).measured);
  const first = await until("the daemon's own time", () =>
    lines(window).slice(known).find((line) => line.includes("findings 1")),
  );
  return { screen, daemon: Number(/, ([\d.]+) s,/u.exec(first)?.[1] ?? "0") * 1000 };
}

/** Types the next digit, which makes it right again. */
async function mend(digit: number): Promise<void> {
  await select();
  await window.page.keyboard.press(String(digit));
  await window.untilUnderlined([]);
  await until("all is said", async () => (await window.status()).includes("no findings"));
}

async function select(): Promise<void> {
  await window.goTo(SWITCH.line, SWITCH.column);
  await window.page.keyboard.press("Shift+ArrowRight");
}

/** In the page: from the next key press to the first squiggle. */
function measureSquiggles(): void {
  const target = globalThis as unknown as { measured: Promise<number> };
  target.measured = new Promise((resolve) => {
    let began = 0;
    document.addEventListener("keydown", () => { began = performance.now(); }, { capture: true, once: true });
    const observer = new MutationObserver(() => {
      if (began > 0 && document.querySelector(".editor-instance .view-overlays [class*=squiggly-]")) {
        observer.disconnect();
        resolve(performance.now() - began);
      }
    });
    observer.observe(document.body, { subtree: true, childList: true, attributes: true });
  });
}

function lines(from: Window): string[] {
  return from.output().split("\n").filter((line) => line.includes("analysis of model.py"));
}

test("key press to squiggle, activation and bundle are measured", async () => {
  const measured: Measured[] = [];
  for (let digit = 1; digit <= SWITCH.last; digit += 2) {
    measured.push(await press(digit));
    if (digit < SWITCH.last) await mend(digit + 1);
  }
  const screen = median(measured.map((one) => one.screen));
  const daemon = median(measured.map((one) => one.daemon));
  const added = median(measured.map((one) => one.screen - one.daemon));
  const [, loaded, activated] = /loaded in ([\d.]+) ms, activated in ([\d.]+) ms/u.exec(window.output()) ?? [];
  const [, spawned] = /spawned after ([\d.]+) ms/u.exec(window.output()) ?? [];
  const report = {
    measured,
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
  expect(measured.every(({ daemon: own, screen: whole }) => own > 0 && whole > 0)).toBe(true);
});

function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return Number((sorted[Math.floor(sorted.length / 2)] ?? 0).toFixed(1));
}
