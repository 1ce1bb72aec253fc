/** The tab of the graph view around the page: which target, cancelling, saving a picture, and the high-contrast theme. */

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { drawnGraph, graphFrameWhere } from "./graphFrame.js";
import { clickUntil, folder, until, write } from "./harness.js";
import { held } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

/** Two targets, and time enough to cancel while the file is being loaded: as long as there is a file at `hold`. */
const two = (hold: string): string => `${held(hold)}

# inductor-debug: inputs=(torch.randn(4, 8),)
class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        return torch.tanh(self.inner(x))
`;

let window: Window;
let hold: string;

beforeAll(async () => {
  hold = join(folder({}), "hold");
  window = await sharedWindow({ "model.py": two(hold) }, {
    settings: { "workbench.colorTheme": "Default High Contrast", "breadcrumbs.enabled": false },
    viewport: { width: 1500, height: 850 },
  });
  await window.openFile("model.py");
  await until("it was checked", async () => (await window.squiggles()).length > 0);
});
afterAll(() => window.screenshot("graph-tab-last"));

const drawn = (): Promise<Frame> => drawnGraph(window);

test("where there are several targets one chooses, and its graph is there at once: the check has it", async () => {
  write(hold, ""); // whatever would run the file again would wait
  await window.goTo(1);
  await window.run("Inductor Debug: Show Graph");
  const rows = window.page.locator(".quick-input-list .monaco-list-row");
  await until("the targets are listed", async () => (await rows.allInnerTexts()).some((text) => text.includes("Encoder")));
  expect((await rows.allInnerTexts()).some((text) => text.includes("Classifier"))).toBe(true);
  const began = Date.now();
  await rows.filter({ hasText: "Encoder" }).first().click();
  await window.page.locator(".tab", { hasText: "Graph: Encoder" }).waitFor();
  const frame = await drawn();
  console.log(`from the choice to the graph: ${Date.now() - began} ms`);
  expect(await frame.locator('[role="tab"]').allInnerTexts()).toEqual(["FX", "Forward and backward", "Kernels and IR"]);
  expect(existsSync(hold)).toBe(true);
});

test("a capture that takes too long is cancelled, and can be asked for again", async () => {
  await (await drawn()).locator('[role="tab"]', { hasText: "Forward and backward" }).click();
  const frame = await graphFrameWhere(window, "it can be cancelled", "document.querySelector('.state.loading button') !== null");
  await window.screenshot("graph-loading-high-contrast");
  await frame.locator(".state button", { hasText: "Cancel" }).click();
  await until("it says so", async () => (await frame.locator(".state.cancelled").innerText()).includes("Retry"));
  const [text, ground] = await frame.locator(".state.cancelled button").evaluate((button) => {
    const { color, backgroundColor } = getComputedStyle(button);
    return [color, backgroundColor];
  });
  expect(["rgba(0, 0, 0, 0)", "rgb(0, 0, 0)"], "high contrast has no ground behind buttons, or a black one since VS Code 1.139").toContain(ground);
  expect(text).toBe("rgb(255, 255, 255)");
  await until("there is nothing to cancel", async () => !(await frame.locator(".state.loading button").isVisible()));
  rmSync(hold);
  await frame.locator('[aria-label="Capture again"]').click();
  await drawn();
  await until("nothing is left to wait for", async () => !(await frame.locator("footer button").isVisible()));
  await window.screenshot("graph-high-contrast");
});

test("a picture is saved where the user says", async () => {
  const frame = await drawn();
  await frame.locator("select.save").selectOption("svg");
  const input = window.page.locator(".quick-input-widget input").first();
  await until("the dialog proposes a name", async () => (await input.inputValue().catch(() => "")).endsWith(".svg"));
  const path = join(window.folder, "encoder.svg");
  await input.fill(path);
  await clickUntil("the file is there", window.page.locator(".quick-input-widget .monaco-button", { hasText: /^OK$|^Save$/u }).first(), () => Promise.resolve(existsSync(path)));
  await until("it says where", async () => (await frame.locator(".status-text").innerText()).includes("encoder.svg"));
  expect(readFileSync(path, "utf8")).toMatch(/^<svg[^]*tanh[^]*<\/svg>\s*$/u);
});
