/** The page of a survey in a browser: made by the command of a real survey, and of ten thousand rows. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import type { SurveyRow } from "../../../shared_schema/generated/wire.js";
import { EVIL, openPage } from "./browser.js";
import { folder, PYTHON, SCREENSHOTS, until, write } from "./harness.js";

const target = (name: string, width: number, expression: string): string =>
  `import torch\n\n\n# inductor-debug: init=(${width},), inputs=(torch.randn(4, ${width}),)\nclass ${name}(torch.nn.Module):\n    def __init__(self, width):\n        super().__init__()\n        self.linear = torch.nn.Linear(width, width)\n\n    def forward(self, x):\n        return self.linear(${expression})\n`;
const MODELS = {
  "models/small.py": target("Small", 8, "x"),
  "models/wide.py": target("Wide", 512, "x.relu()"),
  "models/double.py": target("Double", 64, "x.double().sin().float()"),
  "models/broken.py": target("Broken", 64, "x[:, 1:]"),
};
const MANY = 10_000;

let project: string;

beforeAll(() => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  project = folder(MODELS);
  expect(command("survey", "models", "--name", "few", "--accelerators", "h100", "--jobs", "1")).toBeLessThanOrEqual(2);
});

function command(...words: readonly string[]): number | null {
  return spawnSync(PYTHON, ["-m", "inductor_debug", ...words], { cwd: project, stdio: ["ignore", "ignore", "inherit"] }).status;
}

interface Opened {
  readonly page: Page;
  readonly faults: readonly string[];
}

async function open(name: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const page = await openPage({ viewport: { width: 1300, height: 900 }, colorScheme: "light", ...options });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  await page.goto(pathToFileURL(join(project, "survey", name)).href);
  return { page, faults };
}

/** What stands in the rows that can be seen, by the label of the column. */
async function column(page: Page, label: string): Promise<string[]> {
  const heads = await page.locator("#table [role=columnheader]").allInnerTexts();
  const at = heads.findIndex((head) => head.replace(/ [↑↓]$/u, "") === label);
  return page.locator("#table .row").evaluateAll((rows, cell) => rows.map((row) => row.children[cell]?.textContent ?? ""), at);
}

const sort = (page: Page, label: string): Promise<void> => page.locator("#table [role=columnheader] button", { hasText: label }).first().click();
const shot = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: join(SCREENSHOTS, `survey-${name}.png`) });
const rows = (page: Page): Promise<string> => page.locator("#shown").innerText();

test("rows are sorted, filtered and searched", async () => {
  const { page, faults } = await open("few.html");
  expect(await rows(page)).toBe("4 of 4 rows");
  await sort(page, "params");
  expect((await column(page, "model"))[0]).toContain("wide");
  await sort(page, "params");
  expect((await column(page, "model")).slice(0, 2).join()).toContain("small");
  await page.locator("#rule").selectOption("float64");
  expect(await rows(page)).toBe("1 of 4 rows");
  expect((await column(page, "model"))[0]).toContain("double");
  await page.locator("#rule").selectOption("");
  await page.keyboard.press("/");
  await page.keyboard.type("brok");
  expect(await rows(page)).toBe("1 of 4 rows");
  await page.getByRole("searchbox").fill("nothing is called so");
  expect(await rows(page)).toBe("0 of 4 rows");
  await shot(page, "nothing");
  expect(faults).toEqual([]);
});

test("a row opens with its findings and their source, by mouse and by keys, and closes", async () => {
  const { page, faults } = await open("few.html");
  await page.locator("#table .row", { hasText: "double" }).click();
  const details = page.locator("#details");
  expect(await details.innerText()).toMatch(/float64 comes into a model of float32[\s\S]*x\.double\(\)[\s\S]*\^{10}/u);
  expect(await details.innerText()).toContain("inductor-debug check");
  await until("the charts are drawn", async () => (await page.locator("#charts figure").count()) >= 2);
  await shot(page, "light");
  await page.locator("#table").focus();
  await page.keyboard.press("ArrowDown");
  expect(await details.innerText()).not.toContain("float64 comes into");
  await page.keyboard.press("Escape");
  expect(await details.isVisible()).toBe(false);
  expect(faults).toEqual([]);
});

test.each([["dark", 1300], ["narrow-dark", 400], ["narrow-light", 400]] as const)("it is readable: %s", async (name, width) => {
  const { page, faults } = await open("few.html", { viewport: { width, height: 900 }, colorScheme: name.includes("dark") ? "dark" : "light" });
  await until("the charts are drawn", async () => (await page.locator("#charts figure").count()) >= 2);
  await page.locator("#table .row", { hasText: "double" }).click();
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await shot(page, name);
  await page.evaluate(() => { scrollTo(0, document.body.scrollHeight); });
  await shot(page, `${name}-end`);
  expect(faults).toEqual([]);
});

test("ten thousand rows open, and are sorted and searched as a few are; a name is never markup", async () => {
  const [header = "", ...lines] = readFileSync(join(project, "survey", "few.jsonl"), "utf8").trim().split("\n");
  const few = lines.map((line) => JSON.parse(line) as SurveyRow);
  const many = Array.from({ length: MANY }, (_none, index) => {
    const row = few[index % few.length];
    return JSON.stringify({ ...row, model: index === 7 ? EVIL : `model ${String(index)}`, index, parameters: (index * 7919) % 10_007 });
  });
  write(join(project, "survey", "many.jsonl"), `${[JSON.stringify({ ...JSON.parse(header) as object, models: MANY }), ...many].join("\n")}\n`);
  expect(command("survey", "survey/many.jsonl", "--format", "html", "-o", "survey/many.html")).toBeLessThanOrEqual(2);
  const { page, faults } = await open("many.html");
  expect(await rows(page)).toBe("10,000 of 10,000 rows");
  expect(await page.locator("#table .row").count()).toBeLessThan(100);
  await sort(page, "params");
  expect((await column(page, "params"))[0]).toMatch(/^10/u);
  await page.locator("#table").evaluate((table) => { table.scrollTop = table.scrollHeight; });
  await until("the last row is there", async () => (await page.locator(`#table .row[aria-rowindex="${String(MANY)}"]`).count()) === 1);
  await page.getByRole("searchbox").fill("model 4321");
  expect(await rows(page)).toBe("1 of 10,000 rows");
  await page.getByRole("searchbox").fill("<img");
  await page.locator("#table .row").first().click();
  expect(await page.locator("#details h2").innerText()).toContain(EVIL);
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
  await page.getByRole("searchbox").fill("");
  await until("the charts are drawn", async () => (await page.locator("#charts figure").count()) >= 2);
  await shot(page, "many");
  expect(faults).toEqual([]);
});
