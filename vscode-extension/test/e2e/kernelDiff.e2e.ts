/** KernelDiff in a real VS Code: a fault in the backend's arithmetic is found, blamed on its expression, and shown in every place. */

import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, until } from "./harness.js";
import { KEYS, sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

const MODEL = `import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, 2 * width)
        self.outer = nn.Linear(2 * width, width)

    def forward(self, x):
        hidden = torch.nn.functional.gelu(self.inner(x))
        return x + self.outer(hidden)


# inductor-debug: inputs=(torch.randn(4, 32, 96),)
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(96) for _ in range(3)])
        self.norm = nn.LayerNorm(96)
        self.head = nn.Linear(96, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        pooled = self.norm(x).mean(dim=1)
        return {"logits": self.head(pooled), "states": x}
`;
const GELU = "torch.nn.functional.gelu(self.inner(x))";

/** Each time that it runs it waits twice as long between its two graphs: the walk along its operations comes last. */
const SLOW = `import os
import time

import torch


@torch.compiler.disable
def wait():
    os.environ["WAIT"] = str(float(os.environ.get("WAIT", 0.05)) * 2)
    time.sleep(float(os.environ["WAIT"]))


# inductor-debug: inputs=(torch.randn(4, 64),)
class Slow(torch.nn.Module):
    def forward(self, x):
        y = torch.exp(x)
        wait()
        return torch.tanh(y)
`;

let window: Window;

beforeAll(async () => {
  window = await sharedWindow({ "encoder.py": MODEL, "slow.py": SLOW }, {
    settings: { "workbench.colorTheme": "Default Dark Modern", "breadcrumbs.enabled": false },
    viewport: { width: 1600, height: 950 },
  });
  await window.openFile("encoder.py");
  await until("it was checked", async () => (await window.lenses()).some((text) => text.includes("compare")));
});
afterAll(() => window.screenshot("kerneldiff-last"));

/** The frame of the page, once it shows a comparison. */
function diffFrame(): Promise<Frame> {
  return until("the comparison is shown", async () => {
    for (const frame of window.page.frames()) if ((await frame.locator("header:has(.badge):not(:has(.comparing))").count().catch(() => 0)) > 0) return frame;
    return undefined;
  });
}

const blamedLines = async (): Promise<number[]> => [...new Set((await window.squiggles()).filter(({ severity }) => severity === "error").map(({ line }) => line))];

test("the command compares, and shows what is wrong and who is to blame", async () => {
  await window.page.locator(".editor-instance .view-line").first().click();
  await window.page.keyboard.press(KEYS.compareEncoder.key);
  const frame = await diffFrame();
  expect(await frame.locator("h1").innerText()).toMatch(/^wrong\s+Encoder: spyre with drop-last-stick@12 against eager$/u);
  expect(await frame.locator(".blame li").allInnerTexts()).toContainEqual(expect.stringMatching(/encoder\.py:12.*aten\.gelu/u)); // one of several in this line
  const outputs = await frame.locator("main > section table").first().locator("tbody tr").allInnerTexts();
  expect(outputs.map((row) => row.split(/\s+/u)[0])).toEqual(["output['logits']", "output['states']"]);
  expect(await frame.locator("canvas.heatmap").count()).toBe(1);
  expect(await window.notifications()).toEqual([]);
  await window.screenshot("kerneldiff-dark");
});

test("the blamed expression is underlined, and its hover has the errors", async () => {
  await until("line 12 is underlined", async () => JSON.stringify(await blamedLines()) === "[12]");
  const column = (MODEL.split("\n")[11]?.indexOf("gelu") ?? 0) + 1;
  const text = await window.hover(12, column, /times what is to be expected/u);
  expect(text).toContain("aten.gelu: error of its own");
  await window.screenshot("kerneldiff-hover");
  await window.page.keyboard.press("Escape");
});

test("an output with three dimensions has a slider, and every cell says what it is", async () => {
  const frame = await diffFrame();
  await frame.locator("button.link", { hasText: "output['states']" }).click();
  const slider = frame.locator(".slider input");
  await slider.focus();
  await slider.press("Home");
  expect(await frame.locator(".slider output").innerText()).toBe("0");
  await slider.press("ArrowRight");
  expect(await frame.locator(".slider output").innerText()).toBe("1");
  await frame.locator("canvas.heatmap").focus();
  await frame.locator("canvas.heatmap").press("ArrowRight");
  expect(await frame.locator("canvas.heatmap + .said").innerText()).toMatch(/^\[1, 0, 1\]: /u);
  await frame.locator(".details").scrollIntoViewIfNeeded();
  await window.screenshot("kerneldiff-states-dark");
});

test("operations are sorted by blame, and lead to their source", async () => {
  const frame = await diffFrame();
  const rows = frame.locator("main > section").filter({ has: frame.locator("h2", { hasText: "Operations" }) }).locator("tbody tr");
  expect(await rows.first().getAttribute("class")).toBe("blamed");
  await clickUntil("the expression is selected", rows.first().locator("button.link"), async () => (await window.page.locator(".editor-instance .selected-text").count()) > 0);
  expect(await window.page.locator(".editor-instance .line-numbers.active-line-number").innerText()).toBe("12");
  await rows.first().scrollIntoViewIfNeeded();
  await window.screenshot("kerneldiff-nodes-dark");
});

test("the error heat colours lines, hottest where the fault is, and goes as it came", async () => {
  await window.page.locator('.tab[data-resource-name="encoder.py"]').click();
  const colours = (): Promise<string[]> =>
    window.page.locator(".editor-instance .view-overlays .cdr").evaluateAll((all) =>
      [...new Set(all.filter((one) => (one.getAttribute("class") ?? "").includes("TextEditorDecorationType")).map((one) => getComputedStyle(one).backgroundColor))].filter((colour) => colour.endsWith(", 0.2)")));
  await until("lines are coloured", async () => (await colours()).length > 0);
  await window.screenshot("kerneldiff-heat-dark");
  await window.hover(12, 5, /Error heat\s+[^]*spyre[^]*aten\.\w+ in blocks/u);
  await window.screenshot("kerneldiff-heat-hover");
  await window.page.keyboard.press("Escape");
  await window.run("Inductor Debug: Toggle Heat");
  await until("no line is coloured", async () => (await colours()).length === 0);
});

test("an edit of the blamed line takes the finding away, another one moves it", async () => {
  await window.page.locator('.tab[data-resource-name="encoder.py"]').click();
  const moved = await window.replace(MODEL, "        hidden = ", "        scale = 1\n        hidden = ");
  await until("line 13 is underlined", async () => JSON.stringify(await blamedLines()) === "[13]");
  const other = await window.replace(moved, GELU, "torch.relu(self.inner(x))");
  await until("nothing is underlined", async () => (await blamedLines()).length === 0);
  const again = await window.replace(other, "torch.relu(self.inner(x))", GELU);
  await until("it is underlined again", async () => JSON.stringify(await blamedLines()) === "[13]");
  await window.replace(again, "        scale = 1\n", "");
  await until("line 12 is underlined", async () => JSON.stringify(await blamedLines()) === "[12]");
  await window.save();
});

test("rows come while a comparison goes on, and stay when it is cancelled", async () => {
  await window.openFile("slow.py");
  await until("it was checked", async () => (await window.lenses()).some((text) => text.includes("compare")));
  await window.page.locator(".editor-instance .view-line").first().click();
  await window.page.keyboard.press(KEYS.compareSlow.key);
  const frame = await until("rows are there while it compares", async () => {
    for (const one of window.page.frames()) {
      const found = await one.locator("header:has(.badge.comparing) h1", { hasText: "Slow" }).count().catch(() => 0);
      if (found > 0 && (await one.locator("section", { hasText: "aten.exp" }).count().catch(() => 0)) > 0) return one;
    }
    return undefined;
  });
  await window.screenshot("kerneldiff-comparing");
  expect(await frame.locator("h1").innerText()).toMatch(/^pass\s+comparing\s+Slow: spyre against eager$/u);
  await frame.locator(".state button", { hasText: "Cancel" }).click();
  await frame.locator("header .badge.unfinished").waitFor();
  expect(await frame.locator("h1").innerText()).toMatch(/^pass\s+unfinished\s+Slow: spyre against eager$/u);
  expect(await frame.locator("section", { hasText: "aten.exp" }).count()).toBeGreaterThan(0);
  expect(await frame.locator("section", { hasText: "aten.tanh" }).count()).toBe(0);
  expect(await frame.locator(".facts").innerText()).toContain("because it was cancelled");
  await window.screenshot("kerneldiff-unfinished");
  await window.page.locator('.tab[data-resource-name="slow.py"]').click();
  await window.run("View: Close Editor");
  await window.page.locator(".tab", { hasText: "KernelDiff: Slow" }).click();
  await window.run("View: Close Editor");
  await window.page.locator('.tab[data-resource-name="encoder.py"]').click();
});

test("a target is a test: it passes with a backend that is right", async () => {
  await window.run("Test: Run All Tests");
  await until("it has passed", async () => (await window.page.locator(".editor-instance .codicon-testing-passed-icon, .editor-instance [class*=testing-run-glyph][class*=passed]").count()) > 0);
  await window.screenshot("kerneldiff-tests");
  await window.run("View: Show Explorer");
  expect(await blamedLines()).toEqual([]);
});

test("a reload of the window brings the tab back; it follows the theme", async () => {
  await window.reload();
  const frame = await diffFrame();
  expect(await frame.locator("h1").innerText()).toMatch(/^pass\s+Encoder: inductor against eager$/u);
  await until("it was checked", async () => (await window.lenses()).some((text) => text.includes("compare")));
  await window.run("View: Hide Panel");
  await window.run("Preferences: Toggle between Light/Dark Themes");
  await window.page.locator(".monaco-workbench.vs").waitFor();
  await window.page.locator(".editor-instance .view-line").first().click();
  await window.page.keyboard.press(KEYS.compareEncoder.key);
  await until("the fault is back", async () => (await frame.locator("h1").innerText()).startsWith("wrong"));
  await until("line 12 is underlined", async () => JSON.stringify(await blamedLines()) === "[12]");
  await window.screenshot("kerneldiff-light");
});
