/** Charts in a real VS Code: the memory of a target, clicks that lead to its expressions, its profile, a snapshot, and a roofline once there is an accelerator. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { PYTHON, until } from "./harness.js";
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

/** What `torch.cuda.memory._dump_snapshot` writes, of one allocation in line 13. */
const SNAPSHOT = `import pickle, sys
frames = [{"filename": sys.argv[1] + "/net.py", "line": 13, "name": "forward"}]
allocated = {"action": "alloc", "addr": 0, "size": 1 << 20, "stream": 0, "frames": frames}
with open(sys.argv[1] + "/snapshot.pickle", "wb") as file:
    pickle.dump({"segments": [], "device_traces": [[allocated]]}, file)
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
  const written = spawnSync(PYTHON, ["-c", SNAPSHOT, window.folder], { encoding: "utf8" });
  if (written.status !== 0) throw new Error(written.stderr);
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

test("a profile runs the target, and a row leads to the expression that took the time", async () => {
  await window.run("Inductor Debug: Profile This Target");
  await until("the profile is there", () => window.frameText(/Net, inductor, on the CPU[\s\S]*A step took[\s\S]*self\.wide\(x\)/u));
  await window.screenshot("charts-profile");
  await press("an expression is clicked", "section.profile td button.link:has-text('self.narrow(h)')");
  await until("it is selected", async () => /Ln 14, Col \d+ \(\d+ selected\)/u.test(await window.page.locator(".statusbar").innerText()));
});

test("compile time is drawn, and colours the lines that it goes to until its tab is closed", async () => {
  const signs = (): Promise<number> => window.page.locator('.editor-instance [class*="TextEditorDecorationType"].cgmr').count();
  await window.run("Inductor Debug: Show Compile Time");
  await until("the times are there", () => window.frameText(/Net[\s\S]*Dynamo[\s\S]*self\.wide\(x\)/u));
  await until("the gutter has signs", async () => (await signs()) > 0);
  expect(await window.page.locator(".statusbar").innerText()).toContain("Heat: compile time");
  await window.hover(13, 20, /Heat: compile time\s+[^]*\d m?s \(\d+ %\)/u);
  await window.screenshot("charts-compile-time-heat");
  await window.run("Inductor Debug: Toggle Heat");
  await until("the gutter has none", async () => (await signs()) === 0);
  await window.run("Inductor Debug: Toggle Heat");
  await until("the gutter has them again", async () => (await signs()) > 0);
  await window.closeTab("Compile Time: Net");
  await until("it is the profile's turn", async () => (await window.page.locator(".statusbar").innerText()).includes("Heat: measured time"));
  await window.closeTab("Profile: Net");
  await until("signs go with the last tab that has some", async () => (await signs()) === 0);
});

test("a memory snapshot of another machine opens from the explorer, and a row leads to the line that allocated", async () => {
  await window.fromExplorer("snapshot.pickle", "Open a Memory Snapshot or a Profile");
  await until("its memory is there", async () => (await frameWith("section[aria-label='Memory of snapshot.pickle, device 0'] canvas")) !== undefined);
  await window.screenshot("charts-snapshot");
  await press("what allocated is clicked", "section[aria-label^='Memory of snapshot'] .moment td button.link");
  await until("its line is selected", async () => /Ln 13, Col \d+ \(\d+ selected\)/u.test(await window.page.locator(".statusbar").innerText()));
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
