/** What would be, in a real VS Code: sizes by a lens and sliders, hints that follow; several accelerators in a table, one chosen from it. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { clickUntil, until } from "./harness.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

const MODEL = `import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(4, 32, 64),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(64, 128)

    def forward(self, x):
        batch, seq, _ = x.shape
        y = self.fc(x)
        return y.transpose(1, 2) @ y
`;

let window: Window;
let folder: string;

/** The frame of ours in which there is such an element. */
async function frameWith(selector: string): Promise<Frame | undefined> {
  for (const frame of window.page.frames()) if ((await frame.locator(selector).count().catch(() => 0)) > 0) return frame;
  return undefined;
}

beforeAll(async () => {
  // Not `model.py`, which the demo of the walkthrough has had open in the same window just before.
  window = await sharedWindow({ "net.py": MODEL, "pyproject.toml": "" }, { viewport: { width: 1600, height: 900 } });
  folder = window.folder;
  await window.openFile("net.py");
  await until("the sizes are in the lens", async () => (await window.lenses()).some((text) => text.includes("batch 4 · seq 32")));
});
afterAll(() => window.screenshot("whatif-last"));

test("the lens opens the view, a preset sets a size, and the hints follow", async () => {
  await clickUntil("the view has its sliders", window.page.locator(".codelens-decoration a", { hasText: "batch 4 · seq 32" }), async () => (await frameWith("section[aria-label=Net] input[type=range]")) !== undefined);
  await until("a preset is pressed", async () => {
    const frame = await frameWith("button.preset");
    if (!frame) return false;
    await frame.getByRole("button", { name: "batch: 8" }).click({ timeout: 3_000 });
    return true;
  });
  await until("the hint has the size", async () => (await window.lines()).some((line) => line.includes("f32[8, 32, 128]")));
  await until("the lens says whose it is", async () => (await window.lenses()).some((text) => text.includes("batch 8 · seq 32 (set by you)")));
  await window.screenshot("whatif-sizes");
  expect(readFileSync(join(folder, "net.py"), "utf8")).toBe(MODEL);
});

test("several accelerators stand in a table, from which one is chosen", async () => {
  await window.run("Inductor Debug: What If on Another Accelerator?");
  await window.page.locator(".quick-input-list .monaco-list-row").first().waitFor();
  await window.accept();
  await until("the table is there", () => window.frameText(/ops without a kernel/u));
  await window.screenshot("whatif-accelerators");
  await until("spyre is chosen", async () => {
    const frame = await frameWith("thead a");
    if (!frame) return false;
    await frame.locator("thead a", { hasText: "spyre" }).click({ timeout: 3_000 });
    return true;
  });
  await window.untilNotification("Models are checked for spyre now.");
  expect(readFileSync(join(folder, ".vscode", "settings.json"), "utf8")).toContain('"inductorDebug.accelerator": "spyre"');
});

test("what makes it faster is a page: ways that were tried, with what each gains", async () => {
  writeFileSync(join(folder, ".vscode", "settings.json"), JSON.stringify({ "inductorDebug.accelerator": "rtx-4090" }));
  await until("models are checked for it", async () => (await window.lenses()).some((text) => text.includes("on rtx-4090")));
  await window.run("Inductor Debug: Suggest What Makes It Faster");
  await until("the page is there", () => window.frameText(/What makes Net faster[\s\S]*RTX 4090[\s\S]*as it is[\s\S]*bfloat16/u));
  await window.screenshot("suggestions");
});
