/** Charts in a real VS Code: the memory of a target, clicks that lead to its expressions, and a roofline once there is an accelerator. */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { until } from "./harness.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

const MODEL = `import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(256, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(64, 1024)
        self.narrow = nn.Linear(1024, 8)

    def forward(self, x):
        h = self.wide(x).exp()
        return self.narrow(h).relu()
`;

let window: Window;

/** The frame of ours that has such an element. */
async function frameWith(selector: string): Promise<Frame | undefined> {
  for (const frame of window.page.frames()) if ((await frame.locator(selector).count().catch(() => 0)) > 0) return frame;
  return undefined;
}

async function press(what: string, selector: string): Promise<void> {
  await until(what, async () => {
    const frame = await frameWith(selector);
    await frame?.locator(selector).first().click({ timeout: 3_000 });
    return frame !== undefined;
  });
}

beforeAll(async () => {
  window = await sharedWindow({ "net.py": MODEL, "pyproject.toml": "" }, { viewport: { width: 1600, height: 900 } });
  await window.openFile("net.py");
  await until("the target has been checked", async () => (await window.lenses()).some((text) => text.startsWith("capture: ")));
});
afterAll(() => window.screenshot("charts-last"));

test("the memory over the run stands beside the file, and a row leads to the expression that made it", async () => {
  await window.run("Inductor Debug: Show Memory Over the Run");
  await until("the chart is there", async () => (await frameWith("section[aria-label='Memory of Net'] canvas")) !== undefined);
  await window.screenshot("charts-memory");
  const frame = await frameWith("section[aria-label='Memory of Net']");
  expect(await frame?.locator(".moment tbody td").allInnerTexts()).toContain("wide.weight");
  await press("an expression is clicked", ".moment button.link:has-text('self.wide(x)')");
  await until("it is selected", async () => /Ln 13, Col \d+ \(\d+ selected\)/u.test(await window.page.locator(".statusbar").innerText()));
});

test("a roofline asks for an accelerator, and comes once one is chosen", async () => {
  await window.run("Inductor Debug: Show Roofline");
  await until("the page says what it lacks", () => window.frameText(/Nobody says how fast a mock accelerator is, so there is no roof/u));
  await window.screenshot("charts-no-accelerator");
  mkdirSync(join(window.folder, ".vscode"), { recursive: true });
  writeFileSync(join(window.folder, ".vscode", "settings.json"), JSON.stringify({ "inductorDebug.accelerator": "rtx-4090" }));
  await until("models are checked for it", async () => (await window.lenses()).some((text) => text.includes("on rtx-4090")));
  await window.run("Inductor Debug: Show Roofline");
  await until("the roofline is there", () => window.frameText(/Net on NVIDIA GeForce RTX 4090[\s\S]*At least[\s\S]*self\.wide\(x\)/u));
  await window.screenshot("charts-roofline");
});
