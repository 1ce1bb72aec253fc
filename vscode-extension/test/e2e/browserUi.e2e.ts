/** `inductor-debug ui` in a browser, with a real daemon: what it lists, its pages, what follows a save, and who is turned away. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Frame, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import { browser, openPage } from "./browser.js";
import { folder, SCREENSHOTS, until, write } from "./harness.js";
import { startUi, type UiServer } from "./uiServer.js";

const MODEL = `import torch
from torch import nn


# inductor-debug: inputs=(torch.randn(8, 64, 128),)
class Mixer(nn.Module):
    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        weights = x.double().softmax(dim=-1).float()
        hidden = torch.nn.functional.gelu(self.up(self.norm(weights)))
        print(hidden.shape)
        return x + self.down(hidden)
`;
const BROKEN = `import torch


# inductor-debug: inputs=(torch.randn(4, 8),)
def broken(x):
    return x @ x
`;

let project: string;
let server: UiServer;
let page: Page;
const faults: string[] = [];

beforeAll(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  project = folder({ "models/mixer.py": MODEL, "models/broken.py": BROKEN, "pyproject.toml": '[tool.inductor-debug]\naccelerator = "h100"\n' });
  server = await startUi(project, "models");
  page = await opened({ viewport: { width: 1300, height: 850 }, colorScheme: "light" });
});
afterAll(async () => {
  await shot("last").catch(() => undefined);
  await page.context().close();
  expect(await server.stop()).toBe(130);
});

async function opened(options: BrowserContextOptions): Promise<Page> {
  const made = await (await (await browser()).newContext(options)).newPage();
  made.on("pageerror", (error) => faults.push(error.message));
  made.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  await made.goto(server.address);
  return made;
}

const shot = (name: string, of: Page = page): Promise<unknown> => of.screenshot({ path: join(SCREENSHOTS, `ui-${name}.png`) });
const inSidebar = (name: string): ReturnType<Page["getByRole"]> => page.getByRole("navigation").getByRole("button", { name, exact: true });

/** The page of the tab that is chosen. */
async function shown(of: Page = page): Promise<Frame> {
  const frame = await of.locator(".pages iframe:visible").elementHandle().then((element) => element.contentFrame());
  if (!frame) throw new Error("no page is shown");
  return frame;
}

/** Waits until the shown page has a text; a page that says that it failed is a failure. */
async function untilSaid(pattern: RegExp): Promise<Frame> {
  return until(`the page says ${String(pattern)}`, async () => {
    const frame = await shown();
    return pattern.test(await frame.locator("body").innerText()) ? frame : undefined;
  });
}

/** Waits until nothing goes on in the page that is shown. */
async function untilIdle(of: Page = page): Promise<void> {
  await until("nothing is going on in it", async () => (await (await shown(of)).locator(".state-spinner:visible").count()) === 0);
}

test("files are listed with what was found in them, and a file with its targets and findings", async () => {
  await until("both files are through", async () => /^2 of 2 files checked, \d findings$/u.test(await page.locator("nav .status").innerText()));
  await inSidebar("models/mixer.py").click();
  await page.locator(".targets strong", { hasText: "Mixer" }).waitFor();
  const frame = await untilSaid(/float64 comes into a model of float32/u);
  await shot("findings");
  await frame.locator("article", { hasText: "float64 comes into" }).locator("a[data-range]").first().click();
  await until("the expression is marked in the source", async () => (await page.locator(".source mark").allInnerTexts()).join("") === "x.double()");
  await shot("source");
});

test("a graph is drawn, and a node leads to its expression", async () => {
  await page.getByRole("button", { name: "Close the source" }).click();
  await inSidebar("Graph").click();
  const frame = await until("the graph page has nodes", async () => {
    const made = await shown();
    return (await made.locator("[role=treeitem], [role=row], [role=option]").count()) > 0 ? made : undefined;
  });
  expect(await frame.locator("canvas").first().isVisible()).toBe(true);
  await shot("graph");
});

test("a comparison with one of the backends that the daemon offers: how far it is, and what came of it", async () => {
  const offered = await page.locator("#backends option").evaluateAll((all) => all.map((one) => (one as HTMLOptionElement).value));
  expect(offered).toEqual(expect.arrayContaining(["inductor", "aot_eager", "dynamo", "spyre"]));
  await page.getByLabel("Backend").fill("aot_eager");
  await inSidebar("Compare").click();
  await until("it says what it does", async () => (await (await shown()).locator(".state-spinner:visible").count()) > 0);
  await shot("loading");
  await untilSaid(/Mixer: aot_eager against eager[\s\S]*exact|to the last bit/u);
  await untilIdle();
  await shot("page-compare");
});

test("a comparison that cannot be made says why", async () => {
  await page.getByLabel("Backend").fill("nonsense");
  await inSidebar("Compare").click();
  await untilSaid(/nonsense/u);
  await untilIdle();
  await shot("failed");
  expect(await (await shown()).locator("body").innerText()).toMatch(/failed[\s\S]*unknown backend 'nonsense'; there are [\s\S]*inductor/u);
  await page.getByLabel("Backend").fill("");
});

test.each([
  ["Memory", /alive/u],
  ["Roofline", /bound/u],
  ["Transfers", /Transfers of Mixer/u],
  ["Suggest", /autocast/u],
  ["What if", /h100[\s\S]*rtx-4090|findings/u],
  ["Reproducer", /Verified in a clean process/u],
] as const)("the page %s shows what the daemon says", async (name, pattern) => {
  await inSidebar(name).click();
  await untilSaid(pattern);
  await untilIdle();
  await shot(`page-${name.toLowerCase().replace(" ", "-")}`);
});

test("what is saved is shown at once, in the page that is open", async () => {
  await inSidebar("models/mixer.py").click();
  await untilSaid(/float64 comes into/u);
  write(join(project, "models", "mixer.py"), MODEL.replace("x.double().softmax(dim=-1).float()", "x.softmax(dim=-1)").replace("        print(hidden.shape)\n", ""));
  await until("the findings are gone", async () => !(await (await shown()).locator("body").innerText()).includes("float64 comes into"));
  await shot("empty");
});

test("it is readable in the dark and in a narrow window", async () => {
  const narrow = await opened({ viewport: { width: 400, height: 800 }, colorScheme: "dark" });
  try {
    await narrow.locator("button.file", { hasText: "models/mixer.py" }).click();
    await narrow.locator(".targets").waitFor();
    const fits = (of: Page | Frame): Promise<boolean> => of.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    for (const name of ["", "Graph", "Memory", "Roofline", "What if", "Suggest"]) {
      if (name !== "") await narrow.getByRole("navigation").getByRole("button", { name, exact: true }).click();
      await until("it is shown", async () => (await (await shown(narrow)).locator("body").innerText()).length > 50);
      await untilIdle(narrow);
      await shot(`narrow-dark-${name.toLowerCase().replace(" ", "-")}`, narrow);
      expect([name, await fits(narrow), await fits(await shown(narrow))]).toEqual([name, true, true]);
    }
  } finally {
    await narrow.context().close();
  }
});

test("nobody gets in without the token, nor with another one", async () => {
  const stranger = await openPage({});
  const { origin } = new URL(server.address);
  for (const path of ["/", "/wrong/", "/wrong/events"]) {
    const response = await stranger.goto(`${origin}${path}`);
    expect(response?.status()).toBeGreaterThanOrEqual(400);
    expect(await stranger.content()).not.toContain("mixer");
  }
});

test("no page has complained", () => {
  expect(faults).toEqual([]);
});
