/** The page of charts in a browser, without VS Code: what is drawn and listed, clicks and keys that lead to expressions, themes, a narrow pane, and the same page as a file. */

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import type { CompileTimeDocument, CompileTrial, CompileTrials, CostBound, ExpressionCost, ExpressionTime, MemoryDocument, MemoryPiece, RooflineDocument, RunProfileDocument } from "../../../shared_schema/generated/wire.js";
import { EVIL, openPage, OUT, THEMES } from "./browser.js";
import { SCREENSHOTS } from "./harness.js";
import { ROOT } from "./setup.mjs";

const PATH = "/work/a project with a long name/models/attention.py";
const rangeOf = (line: number) => ({ start: { line, character: 4 }, end: { line, character: 20 } });
const [LAYERS, OPERATIONS] = [6, 120];

/** A chain of layers, each of which saves half of what it makes. */
function memory(): MemoryDocument {
  const parameters = Array.from({ length: LAYERS }, (_none, layer): MemoryPiece => ({
    kind: "parameter", name: `layers.${layer}.weight`, module: `layers.${layer}`, shape: [512, 512], dtype: "float32", bytes: 1 << 20, first: -1, let_go: OPERATIONS, end: OPERATIONS, place: -1,
  }));
  const activations = Array.from({ length: OPERATIONS }, (_none, at): MemoryPiece => {
    const kept = at % 2 === 0;
    const end = kept ? OPERATIONS : Math.min(OPERATIONS, at + 3);
    return { kind: "activation", name: at === 0 ? EVIL : "", module: `layers.${Math.floor((at * LAYERS) / OPERATIONS)}`, shape: [64, 1024], dtype: "float32", bytes: 1 << 18, first: at, let_go: Math.min(end, at + 2), end, place: at % 4 };
  });
  const pieces = [...parameters, ...activations];
  const alive = (wanted: (piece: MemoryPiece, at: number) => boolean): number[] =>
    Array.from({ length: OPERATIONS }, (_none, at) => pieces.reduce((sum, one) => sum + (Math.max(one.first, 0) <= at && at < one.end && wanted(one, at) ? one.bytes : 0), 0));
  const kinds = [
    { kind: "parameter", bytes: alive(({ kind }) => kind === "parameter") }, { kind: "saved", bytes: alive(({ kind, let_go: until }, at) => kind === "activation" && at >= until) },
    { kind: "activation", bytes: alive(({ kind, let_go: until }, at) => kind === "activation" && at < until) },
  ];
  const totals = alive(() => true);
  const peak = totals.indexOf(Math.max(...totals));
  const places = ["self.attention(queries, keys, values)", "torch.softmax(scores, dim=-1)", "x + y", EVIL].map((text, at) => ({ path: PATH, range: rangeOf(10 + at), text, module: `layers.${at}` }));
  return {
    schema: 1, target: "Attention", path: PATH, operations: OPERATIONS, peak, peak_bytes: totals[peak] ?? 0, place: { path: PATH, range: rangeOf(10 + (peak % 4)) }, kinds, held: [], symbols: { batch: 4 }, places,
    operation_places: Array.from({ length: OPERATIONS }, (_none, at) => at % 4), pieces,
  };
}

function cost(operations: number, bytes: number, seconds: number, share: number, roof: "memory" | "compute" | "launch"): CostBound {
  return { ops: 1, bytes_read: bytes, bytes_written: bytes, crossing_bytes: bytes, operations, seconds, unfused_seconds: seconds, limited_by: roof, share, uncounted: 0 };
}

const ROWS: readonly [string, CostBound, boolean][] = [
  ["self.attention(queries, keys, values)", cost(4e12, 4e8, 0.01, 0.6, "compute"), false], ["torch.softmax(scores, dim=-1)", cost(1e9, 8e8, 4e-4, 0.2, "memory"), false],
  ["self.attention(queries, keys, values)", cost(2e12, 4e8, 4e-3, 0.15, "compute"), true], [EVIL, cost(0, 4e6, 2e-6, 0.05, "memory"), false],
];
const ROOFLINE: RooflineDocument = {
  schema: 1, bytes_per_second: 2.039e12,
  ceilings: [{ operations_per_second: 312e12, formats: ["bfloat16", "float16"] }, { operations_per_second: 156e12, formats: ["tf32"] }, { operations_per_second: 19.5e12, formats: ["float32", "float64"] }],
  cost: {
    schema: 1, target: "Attention", stage: "aot", path: PATH, title: "NVIDIA A100", lines: [], operators: [{ op: "aten.mm.default", cost: cost(1, 1, 1, 1, "compute") }], modules: [{ module: "", cost: cost(1, 1, 1, 1, "compute") }],
    run: { accelerator: "a100-80gb", total: cost(6e12, 2e9, 0.0144, 1, "compute"), by_roof: { compute: 0.014, memory: 4e-4 }, peak_bytes: 3 * 2 ** 30 },
    expressions: ROWS.map(([text, own, backward], at): ExpressionCost => ({ path: PATH, range: rangeOf(10 + at), text, backward, ops: { "aten.mm.default": 3 }, modules: ["layers.0"], cost: own })),
  },
};

/** Layers whose attention takes most, and a passage over the whole graph. */
function compileTime(): CompileTimeDocument {
  const modules = Array.from({ length: LAYERS }, (_none, layer) => [{ module: `layers.${layer}`, kind: "Block", seconds: 0.5 }, { module: `layers.${layer}.attention`, kind: "Attention", seconds: 0.4 }]).flat();
  const texts = ["self.attention(queries, keys, values)", EVIL];
  const slices = [0, 1, 2].flatMap((phase) => modules.map((_module, at) => ({ phase, module: at, expression: at % 2, seconds: 0.1 + 0.05 * phase })));
  const all = [...slices, ...[0, 1, 2].map((phase) => ({ phase, module: -1, expression: 2, seconds: 0.4 })), { phase: 2, module: -1, expression: 1, seconds: 0.3 }];
  const sum = (of: (slice: (typeof all)[number]) => boolean): number => all.filter(of).reduce((total, { seconds }) => total + seconds, 0);
  const parts = [["Dynamo", "tracing the code"], ["AOTAutograd", "tracing operators, forward and backward"], ["Inductor", "lowering"]] as const;
  return {
    schema: 1, target: "Attention", path: PATH, seconds: sum(() => true), start_up: 1.5, placed: sum(({ expression }) => expression < 2), graphs: 1, problem: "", modules,
    compile_phases: parts.map(([part, phase], at) => ({ part, phase, seconds: sum((slice) => slice.phase === at) })),
    expressions: [
      ...texts.map((text, at) => ({ path: PATH, range: rangeOf(10 + at), text, seconds: sum(({ expression }) => expression === at), parts: { Inductor: 1, Dynamo: 0.5 }, traced: 6, nodes: 12, modules: LAYERS })),
      { path: null, range: null, text: "", seconds: sum(({ expression }) => expression === 2), parts: { Inductor: 1 }, traced: 0, nodes: 0, modules: 0 },
    ],
    alike: [{ pattern: "layers.*", kind: "Block", count: LAYERS, seconds: LAYERS / 2 }, { pattern: "layers.*.attention", kind: "Attention", count: LAYERS, seconds: 0.4 * LAYERS }],
    slices: { phases: all.map(({ phase }) => phase), modules: all.map(({ module }) => module), expressions: all.map(({ expression }) => expression), seconds: all.map(({ seconds }) => seconds) },
  };
}

const time = (share: number, calls = 1) => ({ seconds: share * 0.02, low: share * 0.019, high: share * 0.022, calls, share });
const TIMED: readonly [string, number, boolean, number][] = [
  ["self.attention(queries, keys, values)", 0.4, false, 0.004], ["torch.softmax(scores, dim=-1)", 0.2, false, 0], ["self.attention(queries, keys, values)", 0.15, true, 0.002], [EVIL, 0.05, false, 0.0005],
];
const PROFILE: RunProfileDocument = {
  schema: 1, target: "Attention", path: PATH, side: "inductor", trace: "", training: true, device: "cuda", device_title: "NVIDIA A100-SXM4-80GB", threads: 0, accelerator: "a100-80gb", title: "NVIDIA A100", bound_seconds: 0.0144, comparable: true,
  steps: 10, step: time(1), idle: time(0.2), tied: "expressions", tied_share: 0.97, notes: ["A note of the run."], problem: "",
  expressions: TIMED.map(([text, share, backward, bound], at): ExpressionTime => ({ path: PATH, range: rangeOf(10 + (at % 3 === 2 ? 0 : at)), text, function: "", backward, kernels: { triton_per_fused_softmax_0: 3 }, modules: ["layers.0"], time: time(share, 3), cost: null, bound_seconds: bound })),
  kernels: [{ name: "triton_per_fused_softmax_0", kind: "generated", backward: false, places: [10, 11, 12, 13].map((line) => ({ path: PATH, range: rangeOf(line) })), functions: [], modules: [], time: time(0.3, 3), bound_seconds: 0.001 }],
  gaps: [{ after: "aten::mm", before: EVIL, after_place: { path: PATH, range: rangeOf(10) }, before_place: null, time: time(0.1) }],
};

interface Opened { readonly page: Page; readonly faults: string[]; readonly said: () => Promise<{ type: string }[]> }

async function open({ theme = "dark", width = 900 }: { theme?: keyof typeof THEMES; width?: number } = {}): Promise<Opened> {
  const page = await openPage({ viewport: { width, height: 900 }, colorScheme: theme === "light" ? "light" : "dark" });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  const { class: kind, background, foreground, link } = THEMES[theme];
  const edge = theme === "contrast" ? "#6fc3df" : "transparent";
  const variables = `--vscode-editor-background:${background};--vscode-foreground:${foreground};--vscode-textLink-foreground:${link};--vscode-descriptionForeground:${foreground};--vscode-focusBorder:${link};${theme === "contrast" ? `--vscode-contrastBorder:${edge}` : ""}`;
  await page.setContent(`<!DOCTYPE html><html style="${variables}"><head><style>${readFileSync(join(OUT, "charts.css"), "utf8")}</style></head><body class="${kind}"></body></html>`);
  await page.evaluate("globalThis.said = []; globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => { said.push(message); } });");
  await page.addScriptTag({ content: readFileSync(join(OUT, "charts.js"), "utf8") });
  return { page, faults, said: () => page.evaluate("said.splice(0)") };
}

const say = (page: Page, message: object): Promise<void> => page.evaluate((data) => { dispatchEvent(new MessageEvent("message", { data })); }, message);
const MEMORY = { type: "charts", charts: { kind: "memory", documents: [memory()] } };
const TIMES = { type: "charts", charts: { kind: "compile-time", documents: [compileTime()] } };
const ROOFS = { type: "charts", charts: { kind: "roofline", documents: [ROOFLINE] } };
const STEPS = { type: "charts", charts: { kind: "profile", documents: [PROFILE], backend: "inductor" } };

/** How many colours stand on the canvas. */
const colours = (page: Page): Promise<number> => page.evaluate(() => {
  const canvas = document.querySelector("canvas");
  const data = canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? new Uint8ClampedArray();
  const found = new Set<number>();
  for (let at = 0; at < data.length; at += 4) found.add(((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0));
  return found.size;
});

beforeAll(() => { mkdirSync(SCREENSHOTS, { recursive: true }); });

const LOOKS = [["light", 900], ["dark", 900], ["contrast", 900], ["light", 400], ["dark", 400]] as const;

test.each(LOOKS)("all charts are drawn in %s at %i pixels, and nothing in a name becomes markup", async (theme, width) => {
  const { page, faults } = await open({ theme, width });
  for (const [name, message] of [["memory", MEMORY], ["roofline", ROOFS], ["compile-time", TIMES]] as const) {
    await say(page, message);
    await page.waitForTimeout(100); // a frame
    await page.screenshot({ path: join(SCREENSHOTS, `charts-${name}-${theme}-${String(width)}.png`) });
    expect(await colours(page), name).toBeGreaterThan(6);
    expect(await page.evaluate("document.documentElement.scrollWidth"), "tables scroll, the page does not").toBeLessThanOrEqual(width);
  }
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
  expect(faults).toEqual([]);
});

test("a click into the memory leads to the expression that runs, rows to those that made what is alive", async () => {
  const { page, said } = await open();
  await say(page, MEMORY);
  await said();
  const box = await page.locator("canvas").boundingBox();
  await page.mouse.click((box?.x ?? 0) + 80, (box?.y ?? 0) + 60);
  const [told] = await said();
  expect(told).toMatchObject({ type: "reveal", place: { path: PATH }, focus: false });
  expect(await page.locator(".moment .said").innerText()).toMatch(/^Operation \d+ of 120: .* · layers\.\d · [\d.]+ MiB$/u);
  await page.locator(".moment td button.link").first().click();
  expect(await said()).toMatchObject([{ type: "reveal", place: { path: PATH }, focus: true }]);
  const bytes = await page.locator(".moment tbody tr td:first-child").allInnerTexts();
  expect(bytes.filter((text) => text === "1 MiB").length).toBeGreaterThanOrEqual(LAYERS);
});

test("compile time: other ways are tried on request, and told with what they take, compute and what to write", async () => {
  const { page, said } = await open();
  await say(page, TIMES);
  await said();
  await page.locator("button", { hasText: "Try Other Ways to Compile" }).click();
  expect(await said()).toEqual([{ type: "ways" }]);
  const document = compileTime();
  const layers = document.alike.slice(0, 1);
  const trials: CompileTrial[] = [
    { compile_way: "as-it-is", seconds: 10, graphs: 1, operations: 120 },
    { compile_way: "nested-regions", seconds: 0.2, graphs: 0, operations: 0, problem: "no region", code: "never shown" },
    { compile_way: "each-layer", seconds: 1, graphs: 1, operations: 20, same: "yes", offered: true, code: `for layer in model.modules():\n    layer.compile()  # ${EVIL}` },
    { compile_way: "each-layer-dynamic", seconds: 2, graphs: 1, operations: 20, same: "no", difference: "output differs by up to 1" },
  ];
  const times = (tried: CompileTrials): object => ({ type: "charts", charts: { kind: "compile-time", documents: [{ ...document, tried }] } });
  await say(page, times({ layers, trials }));
  expect(await page.locator("h3").innerText()).toBe("Other ways to compile 6 × Block (layers.*)");
  const rows = page.getByRole("table", { name: "What compiling Attention takes in other ways" }).locator("tbody tr");
  expect(await rows.allInnerTexts()).toEqual([
    "10 s\t100 %\t1\t120\tas it is\t",
    "\t\t0\t0\tequal layers as nested regions, whose class is compiled once\tIt ended early: no region",
    "1 s\t10 %\t1\t20\teach equal layer by itself, the model around them eagerly\tyes",
    "2 s\t20 %\t1\t20\teach equal layer by itself with dynamic=True, the model around them eagerly\tno: output differs by up to 1",
  ]);
  expect(await page.locator("pre").allInnerTexts()).toEqual([trials[2]?.code]);
  await page.screenshot({ path: join(SCREENSHOTS, "charts-compile-ways.png"), fullPage: true });
  await say(page, times({ layers: [], trials: [], why_not: "it has no equal layers" }));
  expect(await page.locator("main").innerText()).toContain("Other ways to compile were not tried: it has no equal layers.");
  expect(await page.locator("button", { hasText: "Try Other Ways to Compile" }).count()).toBe(0);
});

test("compile time: a click on an expression leads to it, on anything else closer; keys do the same; layers are told apart on request", async () => {
  const { page, said } = await open();
  await say(page, TIMES);
  await said();
  const told = (): Promise<string> => page.locator("p.said").innerText();
  const box = await page.locator("canvas").boundingBox();
  const [left, top] = [(box?.x ?? 0) + 40, (box?.y ?? 0) + 12];
  await page.mouse.click(left, top + 33); // the phase that takes most
  expect(await told()).toMatch(/^Inductor: lowering · [\d.]+ s · \d+ % · Inductor/u);
  expect(await said()).toEqual([]);
  await page.mouse.click(left, top + 55);
  expect(await told()).toMatch(/^layers\.\* {1,2}Block × 6 · /u);
  await page.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 4, top + 77);
  for (const key of ["Escape", "Home", "ArrowDown", "ArrowRight", "ArrowLeft", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await said();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  expect(await said()).toMatchObject([{ type: "reveal", place: { path: PATH }, focus: true }]);
  await page.locator("td button.link").first().click();
  expect(await said()).toMatchObject([{ type: "reveal", place: { path: PATH, range: rangeOf(10) }, focus: true }]);
  await page.locator("select").selectOption("module");
  expect(await page.locator("tbody tr").count()).toBe(2);
  await page.getByLabel("Equal layers as one").uncheck();
  expect(await page.locator("tbody tr").count()).toBe(2 * LAYERS);
});

test("with the keyboard alone: operation by operation, to the peak, to the expression; closer and back", async () => {
  const { page, said } = await open();
  await say(page, MEMORY);
  await said();
  await page.locator("canvas").focus();
  await page.keyboard.press("Home");
  expect(await page.locator(".moment .said").innerText()).toContain("Operation 0 of 120");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  expect(await page.locator(".moment .said").innerText()).toContain("Operation 11 of 120");
  for (const key of ["+", "+", "-", "0"]) await page.keyboard.press(key);
  await page.keyboard.press("p");
  expect(await page.locator(".moment .said").innerText()).toContain(`Operation ${String(memory().peak)} of 120`);
  expect(await said()).toEqual([]);
  await page.keyboard.press("Enter");
  expect(await said()).toMatchObject([{ type: "reveal", focus: true }]);
});

test("memory by module has a colour for each and what is saved apart", async () => {
  const { page } = await open();
  await say(page, MEMORY);
  expect(await page.locator(".legend li").allInnerTexts()).toEqual(["activations", "saved for the backward pass", "parameters"]);
  await page.getByRole("combobox", { name: "Colours say" }).selectOption("module");
  const legend = await page.locator(".legend li").allInnerTexts();
  expect(legend).toContain("layers.0");
  expect(legend).toContain("layers.0, saved");
  await page.screenshot({ path: join(SCREENSHOTS, "charts-memory-modules.png") });
});

test("the roofline: dots by keys, the largest share first, rows that sort and lead to the code", async () => {
  const { page, said } = await open();
  await say(page, ROOFS);
  await said();
  await page.locator("canvas").focus();
  await page.keyboard.press("ArrowRight");
  expect(await page.locator("p.said").innerText()).toContain("at least 10 ms · 60 % of the bound · limited by compute");
  await page.keyboard.press("Enter");
  expect(await said()).toMatchObject([{ type: "reveal", place: { path: PATH, range: rangeOf(10) }, focus: true }]);
  await page.keyboard.press("End");
  expect(await page.locator("p.said").innerText()).toContain("(backward)");
  expect(await page.locator("tbody tr").count()).toBe(ROWS.length);
  await page.getByRole("button", { name: "Crosses" }).click();
  expect(await page.locator("tbody tr td:nth-child(5)").allInnerTexts()).toEqual(["763 MiB", "381 MiB", "381 MiB", "3.81 MiB"]);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Crosses ↓");
  await page.getByRole("combobox", { name: "Rows are" }).selectOption("module");
  expect(await page.locator("tbody tr td:nth-child(7)").allInnerTexts()).toEqual(["Attention"]);
});

test.each(LOOKS)("a profile in %s at %i pixels: one step, rows with times beside bounds, nothing becomes markup", async (theme, width) => {
  const { page, faults } = await open({ theme, width });
  await say(page, STEPS);
  await page.screenshot({ path: join(SCREENSHOTS, `charts-profile-${theme}-${String(width)}.png`) });
  expect(await page.locator(".step .part").count()).toBe(PROFILE.expressions.length + 1); // and the time in which nothing computed
  expect(await page.locator("section.profile").innerText()).toMatch(/Attention, inductor, on NVIDIA A100-SXM4-80GB[\s\S]*A step took 20 ms \(forward and backward; the median of 10 steps[\s\S]*The step took 1\.39 × that\.[\s\S]*A note of the run\./u);
  expect(await page.locator("tbody tr td:nth-child(4)").allInnerTexts()).toEqual(["2", "–", "1.5", "2"]);
  expect(await page.evaluate("document.documentElement.scrollWidth"), "tables scroll, the page does not").toBeLessThanOrEqual(width);
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
  expect(faults).toEqual([]);
});

test("a profile leads to the code from its step, its expressions and its kernels, sorts, and runs with another backend", async () => {
  const { page, said } = await open();
  await say(page, STEPS);
  await said();
  await page.locator(".step .part").nth(2).focus();
  expect(await page.locator("p.said").innerText()).toContain("(backward) · 15 % · 3 ms · triton_per_fused_softmax_0 ×3 · attention.py:11");
  await page.keyboard.press("Enter");
  expect(await said()).toMatchObject([{ type: "reveal", place: { path: PATH, range: rangeOf(10) }, focus: true }]);
  await page.locator("td button.link").nth(1).click();
  expect(await said()).toMatchObject([{ type: "reveal", place: { range: rangeOf(11) } }]);
  await page.getByRole("button", { name: "× bound" }).click();
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("× bound ↓");
  await page.getByRole("combobox", { name: "Rows are" }).selectOption("kernel");
  expect(await page.locator("tbody").innerText()).toContain("attention.py:11, attention.py:12, attention.py:13 and 1 more");
  await page.locator("td button.link").nth(2).click();
  expect(await said()).toMatchObject([{ type: "reveal", place: { range: rangeOf(12) } }]);
  await page.getByRole("combobox", { name: "Rows are" }).selectOption("gap");
  expect(await page.locator("tbody").innerText()).toContain("after aten::mm, before <img");
  await page.getByRole("combobox", { name: "Backend" }).selectOption("eager");
  expect(await said()).toEqual([{ type: "backend", backend: "eager" }]);
  await say(page, { type: "charts", charts: { kind: "profile", documents: [{ ...PROFILE, step: null, idle: null, problem: "the model raised" }] } });
  expect(await page.getByRole("alert").innerText()).toBe("Not measured: the model raised");
});

test("without an accelerator one can be chosen from the page, and what came before goes", async () => {
  const { page, said } = await open({ width: 400 });
  await say(page, ROOFS);
  await said();
  await say(page, { type: "state", state: { kind: "empty", why: "A roofline is that of an accelerator, and none is chosen." }, lacksAccelerator: true });
  expect(await page.locator("canvas").count()).toBe(0);
  await page.screenshot({ path: join(SCREENSHOTS, "charts-no-accelerator.png") });
  await page.getByRole("button", { name: "Choose Accelerator" }).click();
  expect((await said()).map(({ type }) => type)).toEqual(["chooseAccelerator"]);
  await say(page, { type: "state", state: { kind: "loading", what: "Counting what Attention costs", since: Date.now() } });
  expect(await page.getByRole("button", { name: "Choose Accelerator" }).isVisible()).toBe(false);
});

test("the same page as a file in a browser shows what was put in, and says where expressions are", async () => {
  const page = await openPage({ viewport: { width: 900, height: 900 } });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  const html = readFileSync(join(ROOT, "daemon", "inductor_debug", "report", "pages", "charts.html"), "utf8");
  const data = Buffer.from(JSON.stringify(MEMORY.charts)).toString("base64");
  await page.setContent(html.replace("@@INDUCTOR_DEBUG_DATA@@", data));
  await page.getByRole("heading", { name: "Memory over the run" }).waitFor();
  expect(await page.locator("button.link").count()).toBe(0);
  expect(await page.locator(".moment td code").first().getAttribute("title")).toMatch(/^attention\.py:\d+$/u);
  expect(faults).toEqual([]);
});
