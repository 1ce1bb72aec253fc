/** The tensor view as a user meets it: it follows the cursor, steps through the runs of a line, stays where it is pinned, and says why there is nothing. */

import type { Frame } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";

import { until } from "./harness.js";
import { LAYERS } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

let window: Window;

beforeAll(async () => {
  window = await sharedWindow({ "model.py": LAYERS }, {
    settings: { "inductorDebug.accelerator": "spyre", "workbench.colorTheme": "Default Dark Modern", "breadcrumbs.enabled": false },
    viewport: { width: 1200, height: 850 },
  });
  await window.openFile("model.py");
  await window.goTo(lineOf("q, k, v ="));
  await window.run("Inductor Debug: Show Tensors at the Cursor");
});
afterAll(() => window.screenshot("tensors-last"));

const lineOf = (words: string): number => LAYERS.split("\n").findIndex((line) => line.includes(words)) + 1;

/** The view's frame, once its text is as wanted. */
function view(what: string, wanted: RegExp): Promise<Frame> {
  return until(what, async () => {
    for (const frame of window.page.frames()) {
      const text = await frame.locator("main.tensors").innerText({ timeout: 300 }).catch(() => "");
      const state = await frame.locator("section.state").innerText({ timeout: 300 }).catch(() => "");
      if (wanted.test(`${text}\n${state}`)) return frame;
    }
    return undefined;
  });
}

test("the tensors at the cursor are there, with the names of the code", async () => {
  const frame = await view("the line is told", /call 1 of 3/u);
  await until("its tensors are told", async () => { // what is hidden while the file is checked has its words without spaces
    const rows = (await frame.locator("li.row").allInnerTexts()).map((row) => row.replaceAll(/\s+/gu, " "));
    return /q made .* KiB \[B 2, T 64, 96\]/u.test(rows[0] ?? "") && rows.some((row) => row.includes("layers.0.qkv.weight") && row.includes("read"));
  });
  await window.screenshot("tensors");
});

test("one steps through the runs of the line, and the module is remembered on other lines", async () => {
  const frame = await view("the line is told", /call 1 of 3/u);
  await frame.locator('[aria-label="The next run"]').click();
  await view("it is the second run", /layers\.1[\s\S]*call 2 of 3/u);
  await window.goTo(lineOf("scores ="));
  await view("the cursor is followed", /layers\.1[\s\S]*call 2 of 3[\s\S]*scores/u);
});

test("the keyboard moves between rows, and Enter goes to the maker", async () => {
  const frame = await view("the line is told", /scores/u);
  await frame.locator("li.row", { hasText: "value" }).first().focus();
  await window.page.keyboard.press("Space");
  await frame.locator("li.row .details", { hasText: "Made by" }).waitFor();
  await window.screenshot("tensors-details");
  await frame.locator("li.row:focus").press("Enter");
  await view("the maker's line is told", new RegExp(`Line ${lineOf("value = v.view")}`, "u"));
});

test("it stays with a line where it is pinned, wherever that moves", async () => {
  await window.goTo(lineOf("scores ="));
  await view("the line is told", new RegExp(`Line ${lineOf("scores =")}\\n`, "u"));
  await window.run("Inductor Debug: Pin the Tensor View to This Line");
  await view("it is pinned", /pinned/u);
  await window.goTo(1);
  await window.page.keyboard.type("# a note\n");
  const frame = await view("the line has moved", new RegExp(`Line ${lineOf("scores =") + 1}\\n[\\s\\S]*scores`, "u"));
  await frame.locator("button.pinned").click();
  await view("the cursor is followed again", /outside of the functions that Net called/u);
  await window.screenshot("tensors-empty");
});
