/** The pictures in the README, taken anew on demand: `INDUCTOR_DEBUG_PICTURES=1 npm run e2e -- pictures`. */

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

import { browser } from "./browser.js";
import { folder, PYTHON, SCREENSHOTS, until, Workbench } from "./harness.js";
import { DIGITS, LAYERS } from "./models.js";
import { startUi } from "./uiServer.js";

const MODEL = `import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(2, 128, 256),)
class Attention(nn.Module):
    def __init__(self, width: int = 256, heads: int = 8) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        parts = self.qkv(x).chunk(3, dim=-1)
        query, key, value = (self.split(part) for part in parts)
        scores = query @ key.transpose(-2, -1)
        weights = scores.double().softmax(dim=-1)
        mixed = weights.float() @ value
        return self.out(mixed.transpose(1, 2).flatten(2))

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(256, 10)

    def forward(self, x):
        return self.linear(x.mean(dim=1))
`;
const LINE = "        weights = scores.double().softmax(dim=-1)";

test.skipIf(process.env["INDUCTOR_DEBUG_PICTURES"] === undefined)("pictures of the editor in both themes", async () => {
  const bench = await Workbench.start({
    "inductorDebug.interpreter": PYTHON,
    "window.commandCenter": false,
    "workbench.layoutControl.enabled": false,
    "workbench.colorTheme": "Default Light Modern",
    "breadcrumbs.enabled": false,
    "editor.hover.above": false,
    "editor.lightbulb.enabled": "off",
    "editor.occurrencesHighlight": "off",
    "editor.renderLineHighlight": "none",
  });
  const folder = bench.folder({ "attention.py": MODEL, "digits.py": DIGITS.replace("9216", "9200") }, "transformer");
  const window = await bench.open(folder);
  await window.page.setViewportSize({ width: 1200, height: 750 });
  await window.openFile("attention.py");
  await window.untilUnderlined([[17, "scores.double()"]]);
  await window.run("Inductor Debug: Focus on Targets View");
  await until("the view is complete", async () => (await window.tree()).some((row) => row.includes("Inputs of Head")));
  await until("the lenses are complete", async () => (await window.lenses()).some((text) => text.includes("inferred")));
  await window.page.mouse.move(700, 20);
  for (const [theme, wanted, name] of [
    ["Default Light Modern", "vs", "light"],
    ["Default Dark Modern", "vs-dark", "dark"],
  ] as const) {
    bench.write(join(folder, ".vscode", "settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
    await until("the theme is on", () => window.page.locator(`.monaco-workbench.${wanted}`).first().isVisible());
    await until("nothing is being checked any more", async () => (await window.status()).includes("1 finding"));
    await until("the view is complete", async () => (await window.tree()).some((row) => row.includes("Inputs of Head")));
    const hover = await window.hover(17, LINE.indexOf("double") + 2, /strides/u);
    expect(hover).toContain("float64");
    await window.page.locator(".monaco-hover:not(.hidden)", { hasText: /Quick Fix…|Quick Fix\.\.\./u }).first().waitFor();
    await window.screenshot(`screenshot-${name}`);
    await window.page.keyboard.press("Escape");
  }
  await window.openFile("digits.py");
  await window.untilUnderlined([[18, "self.fc1(x)"]]);
  await window.hover(18, 22, /takes 9200 features/u);
  await window.page.locator(".monaco-hover:not(.hidden)", { hasText: /Quick Fix…|Quick Fix\.\.\./u }).first().waitFor();
  await window.screenshot("screenshot-plain-bug");
  await bench.close();
});

test.skipIf(process.env["INDUCTOR_DEBUG_PICTURES"] === undefined)("the picture of the tensor view", async () => {
  const bench = await Workbench.start({
    "inductorDebug.interpreter": PYTHON,
    "inductorDebug.accelerator": "spyre",
    "window.commandCenter": false,
    "workbench.layoutControl.enabled": false,
    "workbench.colorTheme": "Default Dark Modern",
    "breadcrumbs.enabled": false,
  });
  const window = await bench.open(bench.folder({ "model.py": LAYERS }, "transformer"));
  await window.page.setViewportSize({ width: 1200, height: 850 });
  await window.openFile("model.py");
  await window.goTo(LAYERS.split("\n").findIndex((line) => line.includes("scores =")) + 1);
  await window.run("Inductor Debug: Show Tensors at the Cursor");
  const frame = await until("the line is told", async () => {
    for (const one of window.page.frames()) if (await one.locator("li.row", { hasText: "scores" }).first().isVisible().catch(() => false)) return one;
    return undefined;
  });
  await window.page.locator(".pane-header", { hasText: "Targets" }).click();
  await frame.locator("li.row .expander").first().click();
  await until("nothing is being checked any more", async () => (await window.lenses()).some((text) => text.includes("capture:")));
  await window.screenshot("screenshot-tensors-dark");
  await bench.close();
});

test.skipIf(process.env["INDUCTOR_DEBUG_PICTURES"] === undefined)("the picture of the page in a browser", async () => {
  const server = await startUi(folder({ "models/attention.py": MODEL, "models/digits.py": DIGITS.replace("9216", "9200") }), "models");
  const context = await (await browser()).newContext({ viewport: { width: 1200, height: 750 }, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(server.address);
  await until("both files are through", async () => (await page.locator("nav .status").innerText()).startsWith("2 of 2 files checked"));
  await page.locator("button.file", { hasText: "attention.py" }).click();
  const frame = page.frameLocator(".pages iframe");
  await frame.locator("article a[data-range]").first().click();
  await page.locator(".source mark").first().waitFor();
  await page.getByRole("navigation").getByRole("button", { name: "Graph" }).first().click();
  await page.frameLocator('.pages iframe[title^="Graphs"]').locator("canvas").first().waitFor();
  await until("the graph is drawn", () => page.frameLocator('.pages iframe[title^="Graphs"]').locator("[role=treeitem]").first().isVisible());
  await page.screenshot({ path: join(SCREENSHOTS, "screenshot-ui-light.png") });
  await context.close();
  await server.stop();
});

test.skipIf(process.env["INDUCTOR_DEBUG_PICTURES"] === undefined)("the picture of a survey's page, with the findings of one model", async () => {
  const home = folder({}, "survey");
  const surveyed = spawnSync(PYTHON, ["-m", "inductor_debug", "survey", "--suite", "quick", "--accelerators", "h100,spyre", "--quiet"], { cwd: home, encoding: "utf8" });
  expect(surveyed.status, surveyed.stderr).toBe(1);
  const context = await (await browser()).newContext({ viewport: { width: 1400, height: 1280 }, colorScheme: "light" });
  const page = await context.newPage();
  await page.goto(`${pathToFileURL(join(home, "survey", "quick.html")).href}#GPT-2`);
  await page.locator("#details article").first().waitFor();
  await until("the charts are drawn", async () => (await page.locator("#charts canvas").count()) >= 4);
  await page.screenshot({ path: join(SCREENSHOTS, "screenshot-survey-light.png") });
  await context.close();
});

test.skipIf(process.env["INDUCTOR_DEBUG_PICTURES"] === undefined)("the picture of what a model costs on a GPU that is not there", async () => {
  const bench = await Workbench.start({
    "inductorDebug.interpreter": PYTHON,
    "inductorDebug.accelerator": "rtx-4090",
    "window.commandCenter": false,
    "workbench.layoutControl.enabled": false,
    "workbench.colorTheme": "Default Light Modern",
    "breadcrumbs.enabled": false,
    "editor.occurrencesHighlight": "off",
  });
  const sized = MODEL.slice(0, MODEL.indexOf("class Head")).trimEnd().concat("\n").replace("scores.double()", "scores").replace("weights.float()", "weights").replace("2, 128, 256", "16, 1024, 256");
  const window = await bench.open(bench.folder({ "attention.py": sized }, "transformer"));
  await window.page.setViewportSize({ width: 1400, height: 820 });
  await window.openFile("attention.py");
  await until("the lens has its bound", async () => (await window.lenses()).some((text) => text.includes("on rtx-4090")));
  await window.page.keyboard.press("Control+B");
  await window.run("Inductor Debug: Show Roofline");
  await until("the roofline is there", () => window.frameText(/Attention on NVIDIA GeForce RTX 4090[\s\S]*At least/u));
  await window.page.mouse.move(700, 20);
  await window.screenshot("screenshot-roofline-light");
  await bench.close();
});
