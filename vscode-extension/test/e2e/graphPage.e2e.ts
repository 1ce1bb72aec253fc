/** The offline page in a browser: nothing is fetched, nothing in a name runs, keys and files work. `bench/graph.mjs` has its speed. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";

import type { Graph, GraphDocument } from "../../../shared_schema/generated/wire.js";
import { document, encodeDocument, graph, place, transformer, TRANSFORMER_CLASSES } from "../unit/graphDocuments.js";
import { SCREENSHOTS, until } from "./harness.js";
import { openPage } from "./browser.js";
import { ROOT } from "./setup.mjs";

const PAGE = join(ROOT, "daemon", "inductor_debug", "report", "pages", "graph.html");
const EVIL = `<img src=x onerror="globalThis.ran=1"></script><script>globalThis.ran=1</script>`;
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "inductor-debug-graph-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What went wrong in a page, and what it tried to fetch. */
interface Opened {
  readonly page: Page;
  readonly faults: string[];
}

async function open(written: readonly GraphDocument[], { findings = [] as unknown[], dark = false, sources = {} } = {}): Promise<Opened> {
  const data = { schema: 1, title: "Model", documents: written.map((one) => Buffer.from(encodeDocument(one)).toString("base64")), findings, sources, statistics: [] };
  const file = join(folder, `${Math.random().toString(36).slice(2)}.html`);
  writeFileSync(file, readFileSync(PAGE, "utf8").replace("@@INDUCTOR_DEBUG_DATA@@", Buffer.from(JSON.stringify(data)).toString("base64")));
  const page = await openPage({ viewport: { width: 1400, height: 860 }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  page.on("request", (request) => { if (!/^(?:file|blob|data):/u.test(request.url())) faults.push(`fetched ${request.url()}`); });
  await page.goto(`file://${file}`);
  return { page, faults };
}

function drawn(page: Page): Promise<unknown> {
  return until("the graph is drawn", () => page.evaluate("globalThis.inductorDebugGraph?.panes[0].scene?.layout !== undefined && globalThis.inductorDebugGraph.panes[0].drawing.lastFrame > 0"));
}

const rows = (page: Page, which = ""): Promise<string[]> => page.locator(`[role="treeitem"]${which}`).evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""));
const FINDING = { rule: "dtype", severity: "error", message: "float64 is not supported", ...place(46), stage: "aot", op: null };

test.each([["light", false], ["dark", true]])("twelve layers, %s", async (name, dark) => {
  const { page, faults } = await open([document([transformer(12, { lastType: "float64" })], { modules: TRANSFORMER_CLASSES })], { findings: [FINDING], dark });
  await drawn(page);
  expect(await rows(page)).toContainEqual(expect.stringMatching(/layer\.0–10, EncoderLayer, 11 identical modules/u));
  await page.screenshot({ path: join(SCREENSHOTS, `graph-page-${name}.png`) });
  expect(faults).toEqual([]);
});

test("names with HTML in them are names", async () => {
  const evil = graph([
    { name: EVIL, op: EVIL, module: EVIL, dtype: EVIL, shape: [EVIL], detail: EVIL, place: place(1, 0, 5, EVIL) },
    { name: "b", op: "aten.relu.default", inputs: [EVIL], module: "x" },
  ]);
  const kernel = { name: EVIL, language: "cpp", source: EVIL, graph: "0.forward", nodes: ["b"], places: [] };
  const { page, faults } = await open([document([evil], { target: EVIL, notes: [EVIL], kernels: [kernel] })], { sources: { [EVIL]: EVIL } });
  await drawn(page);
  await page.locator('[role="treeitem"]').first().click();
  await page.locator('[role="tab"]').last().click();
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
  expect(await page.locator("img").count()).toBe(0);
  expect(faults).toEqual([]);
});

test("search, filters and keys find their way, in the outline too", async () => {
  const { page, faults } = await open([document([transformer(3, { lastType: "float64" })], { modules: TRANSFORMER_CLASSES })], { findings: [FINDING] });
  await drawn(page);
  await page.keyboard.press("Tab");
  await page.locator("canvas").first().focus();
  await page.keyboard.press("/");
  await page.keyboard.type("softmax");
  await until("three are found", async () => (await page.locator(".found").innerText()) === "3");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter");
  await until("the second is selected", async () => (await page.locator(".details h2").innerText()) === "l1_weights");
  await page.locator("canvas").first().focus();
  await page.keyboard.press("ArrowUp");
  expect(await page.locator(".details h2").innerText()).toBe("l1_masked");
  await page.locator('[aria-label^="Search"]').fill("");
  await page.locator('[aria-label^="Filter"]').click();
  await page.locator(".menu label", { hasText: "dtype" }).click();
  await until("only what the rule is at is listed", async () => (await rows(page)).every((row) => !row.startsWith("embedding")));
  await page.locator(".outline").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowLeft");
  await until("the first row is folded", async () => {
    const active = await page.locator(".outline").getAttribute("aria-activedescendant");
    return (await page.locator(`[id="${active ?? ""}"]`).getAttribute("aria-expanded")) === "false";
  });
  expect(faults).toEqual([]);
});

test("sizes and patterns can be searched for; what is wrong is told and hides nothing", async () => {
  const { page, faults } = await open([document([transformer(3)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  const box = page.locator('input[type="search"]');
  await box.fill("kind:product shape:<100");
  await until("one is found", async () => (await page.locator(".found").innerText()) === "1");
  const before = (await rows(page)).length;
  await box.fill("/conv(/");
  await until("it is told", async () => (await page.locator(".search-problem").innerText()).includes("no regular expression"));
  expect((await rows(page)).length).toBeGreaterThan(before);
  await page.locator('[aria-label="What one can search for"]').click();
  await page.screenshot({ path: join(SCREENSHOTS, "graph-page-search-help.png") });
  await page.locator(".help button", { hasText: "shape:>1M" }).click();
  await until("an example is tried", async () => (await box.inputValue()) === "shape:>1M");
  expect(await page.locator(".search-problem").isVisible()).toBe(false);
  expect(faults).toEqual([]);
});

test("heat has a legend, signs, and a list that leads to nodes; the minimap stands beside the drawing", async () => {
  const { page, faults } = await open([document([transformer(12)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  await page.locator('select[aria-label="What colours say"]').selectOption("flops");
  expect(await page.locator(".legend li").allInnerTexts()).toEqual(["Floating-point operations, of all in this graph:", "○ ≤ 0.01 %", "◔ 0.01–0.1 %", "◑ 0.1–1 %", "◕ 1–10 %", "● > 10 %"]);
  expect(await page.locator(".ranking li").count()).toBe(9);
  await page.screenshot({ path: join(SCREENSHOTS, "graph-page-heat.png") });
  await page.locator(".ranking li button").first().click();
  await until("the node is selected", async () => (await page.locator(".details h2").innerText()).includes("_"));
  const [drawing, minimap] = await Promise.all([page.locator(".drawing-room").first().boundingBox(), page.locator(".minimap").first().boundingBox()]);
  expect(minimap!.x).toBeGreaterThanOrEqual(drawing!.x + drawing!.width);
  expect(faults).toEqual([]);
});

test("a link to a node leads back to it", async () => {
  const { page, faults } = await open([document([transformer(3)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  await page.locator('[role="treeitem"]', { hasText: "mask" }).first().click();
  const name = await page.locator(".details h2").innerText();
  await page.locator(".details button", { hasText: "Copy link" }).click();
  await until("it stands in the address", () => Promise.resolve(page.url().includes("#graph=0.forward")));
  await page.reload();
  await drawn(page);
  await until("the node is selected", async () => (await page.locator(".details h2").innerText()) === name);
  expect(faults).toEqual([]);
});

test("eighty unfolded layers stay in a column, and letters can be read at first", async () => {
  const { page, faults } = await open([document([transformer(80)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  await page.locator('[aria-label="Unfold all"]').click();
  await until("all is open", () => page.evaluate("inductorDebugGraph.panes[0].scene.visible.items.length > 1800"));
  const [width, height, zoom] = await page.evaluate<[number, number, number]>("[inductorDebugGraph.panes[0].scene.layout.boxes[2], inductorDebugGraph.panes[0].scene.layout.boxes[3], inductorDebugGraph.panes[0].drawing.camera.zoom]");
  expect(width).toBeLessThan(height / 20);
  expect(11 * zoom).toBeGreaterThanOrEqual(9);
  expect(faults).toEqual([]);
});

test("a parameter that is searched for is shown where it is read", async () => {
  const { page, faults } = await open([document([transformer(3)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  await page.locator('[aria-label^="Search"]').fill("layer.1.mlp.up.weight");
  await until("it is found", async () => (await page.locator(".found").innerText()) === "1");
  await page.keyboard.press("Enter");
  await until("it is selected", async () => (await page.locator(".details h2").innerText()) === "w1_up");
  await until("the operation that reads it is lit, in the outline too", async () => (await rows(page, ".related")).some((row) => row.startsWith("addmm") && row.includes("up.weight")));
  expect(await page.evaluate("{ const { drawing, scene } = globalThis.inductorDebugGraph.panes[0]; const [left, top] = drawing.onScreen([...scene.related][0]); left > 0 && top > 0 && left < drawing.width && top < drawing.height }")).toBe(true);
  expect(faults).toEqual([]);
});

test("colours are explained, and the menu of filters can be used with keys alone", async () => {
  const { page, faults } = await open([document([transformer(2, { lastType: "float64" })], { modules: TRANSFORMER_CLASSES })], { findings: [FINDING] });
  await drawn(page);
  expect(await page.locator(".legend li").allInnerTexts()).toEqual(["Matrix products", "Reductions", "Elementwise", "Lookups", "Layout"]);
  await page.locator('select[aria-label="What colours say"]').selectOption("dtype");
  await until("data types are explained", async () => (await page.locator(".legend li").allInnerTexts()).join() === "f32,f64,i64,b8");
  const colours = await page.locator(".legend .sample").evaluateAll((all) => all.map((sample) => (sample as HTMLElement).style.background));
  expect(new Set(colours).size).toBe(4);
  await page.locator('[aria-label^="Filter"]').focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Space");
  await until("the first is ticked and still has the focus", () => page.evaluate("document.activeElement.type === 'checkbox' && document.activeElement.checked"));
  await page.keyboard.press("Escape");
  await until("the menu is closed", () => page.locator(".menu").isHidden());
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Filter by rule or data type");
  expect(faults).toEqual([]);
});

test("what stopped a capture is told, though it is at no node", async () => {
  const stopped = { ...FINDING, rule: "timeout", message: "Stopped after 120 s in the inductor stage.", ...place(0, 0, 0) };
  const { page, faults } = await open([document([transformer(1)])], { findings: [stopped] });
  await drawn(page);
  await until("the line at the foot says it", async () => (await page.locator(".status-text").innerText()) === stopped.message);
  expect(await page.locator(".details").innerText()).toContain("Findings at no node");
  expect(faults).toEqual([]);
});

test("headers of scopes stay in sight while one scrolls through them, and fold them there", async () => {
  const { page, faults } = await open([document([transformer(4)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  await page.locator('[aria-label="Unfold all"]').click();
  const encoder = page.locator('[role="treeitem"][aria-expanded="true"]').first();
  await until("it is open", async () => (await encoder.count()) === 1);
  const pin = `{
    const { drawing, scene } = globalThis.inductorDebugGraph.panes[0];
    const box = scene.visible.open.indexOf(1, 1);
    drawing.restoreCamera({ x: scene.layout.boxes[box * 4] - 20, y: scene.layout.boxes[box * 4 + 1] + 600, zoom: 1 });
    box > 0 && drawing.boxAt(20 + 14, 13) === box;
  }`;
  await until("it is laid out", () => page.evaluate(pin));
  await page.screenshot({ path: join(SCREENSHOTS, "graph-page-pinned.png") });
  await until("a click on its header folds it", async () => {
    // A layout that comes only now moves the drawing away from under the mouse.
    if (await page.evaluate(pin)) await page.locator("canvas").first().click({ position: { x: 20 + 14, y: 13 } });
    return (await encoder.count()) === 0;
  });
  expect(faults).toEqual([]);
});

test("a header that is pushed out goes below those of the scopes around it", async () => {
  const { page, faults } = await open([document([transformer(3)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  await page.locator('[aria-label="Unfold all"]').click();
  const scopes = page.locator('[role="treeitem"][aria-expanded="true"]');
  await until("layers are open in layers", async () => (await scopes.count()) > 2);
  await page.evaluate(`{
    const { drawing, scene } = globalThis.inductorDebugGraph.panes[0];
    const { visible, layout: { boxes } } = scene;
    const inner = visible.open.indexOf(1, visible.open.indexOf(1, 1) + 1);
    drawing.restoreCamera({ x: boxes[inner * 4] - 20, y: boxes[inner * 4 + 1] + boxes[inner * 4 + 3] - 34, zoom: 1 });
  }`);
  const outer = "{ const { drawing, scene } = globalThis.inductorDebugGraph.panes[0]; scene.visible.items[drawing.boxAt(60, 13)] === scene.visible.items[scene.visible.open.indexOf(1, 1)] }";
  await until("the outer one is on top", () => page.evaluate(outer));
  await page.screenshot({ path: join(SCREENSHOTS, "graph-page-pushed.png") });
  expect(faults).toEqual([]);
});

test("what is selected stays in sight when a second graph comes, and lights up there", async () => {
  const forward = transformer(2, { name: "0" });
  const after = { ...transformer(2, { name: "0.forward" }), made_from: "0" };
  const nodes = after.nodes.map((node) => ({ ...node, origins: [node.name] }));
  const { page, faults } = await open([document([{ ...forward, kind: "fx" }, { ...after, nodes }], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  await page.locator('[aria-label^="Search"]').fill("l1_weights");
  await page.keyboard.press("Enter");
  await until("it is selected", async () => (await page.locator(".details h2").innerText()) === "l1_weights");
  await page.locator('[aria-label^="Show a second"]').click();
  await until("its partner lights up", () => page.evaluate("globalThis.inductorDebugGraph.panes[1].scene?.related.size === 1"));
  const seen = "((pane, box) => { const [left, top, width, height] = pane.drawing.onScreen(box); return left > 0 && top > 0 && top + height < pane.drawing.height; })";
  expect(await page.evaluate(`${seen}(globalThis.inductorDebugGraph.panes[0], globalThis.inductorDebugGraph.panes[0].scene.boxOf(globalThis.inductorDebugGraph.panes[0].scene.selected))`)).toBe(true);
  expect(await page.evaluate(`${seen}(globalThis.inductorDebugGraph.panes[1], [...globalThis.inductorDebugGraph.panes[1].scene.related][0])`)).toBe(true);
  expect(await page.locator(".details h2").innerText()).toBe("l1_weights");
  expect(faults).toEqual([]);
});

test("three panes in step: a node before, after the compiler's passes, and the kernel that computes it", async () => {
  const named = (name: string, madeFrom: string, kind: "fx" | "post_grad", more: object): Graph => ({
    ...graph([{ name: "a", op: "aten.relu.default", place: place(3), ...more }, { name: "b", op: "aten.exp.default", inputs: ["a"], place: place(4) }], name, kind, madeFrom),
  });
  const post = named("0.post", "0", "post_grad", {});
  const nodes = post.nodes.map((node) => ({ ...node, origins: [node.name], kernels: [`kernel_${node.name}`] }));
  const kernels = ["a", "b"].map((name) => ({ name: `kernel_${name}`, language: "cpp", source: `void ${name}() {}`, graph: "0.post", nodes: [name], places: [place(name === "a" ? 3 : 4)], lines: [{ line: 0, place: place(3) }, { line: 0, place: place(4) }] }));
  const { page, faults } = await open([document([named("0", "", "fx", {}), { ...post, nodes }], { kernels })], { sources: { "/project/model.py": "one\ntwo\n" } });
  await drawn(page);
  await page.locator('[aria-label^="Show a second"]').click();
  await page.locator('[aria-label^="Show kernels and IR"]').click();
  const shown = page.locator('.pane [aria-label="Text to show"]');
  await until("all three are there", async () => (await page.locator(".pane:visible").count()) === 3);
  for (const [row, name] of [[1, "b"], [0, "a"]] as const) {
    await page.locator('[role="treeitem"]').nth(row).click();
    await until("the kernel follows", async () => (await shown.locator("option:checked").innerText()) === `kernel_${name}`);
    await until("so does the other graph", () => page.evaluate(`globalThis.inductorDebugGraph.panes[1].scene.related.has(${row + 1})`));
  }
  const middle = await page.evaluate("{ const { drawing, scene } = globalThis.inductorDebugGraph.panes[0]; const [left, , width] = drawing.onScreen(scene.boxOf(0)); (left + width / 2) / drawing.width }");
  expect(middle, "what was in the middle stays there while panes come").toBeCloseTo(0.5, 1);
  await page.locator(".pane .places button", { hasText: "1 node" }).click();
  await until("a kernel lights its nodes in both", () => page.evaluate("globalThis.inductorDebugGraph.panes.every(({ scene }) => scene.related.has(1) && scene.related.size === 1)"));
  await page.screenshot({ path: join(SCREENSHOTS, "graph-page-three.png") });
  await page.locator('.pane[aria-label="Kernels and IR"] .line.linked').click();
  await until("a line lights the nodes of all its expressions", () => page.evaluate("globalThis.inductorDebugGraph.panes.every(({ scene }) => scene.related.has(1) && scene.related.has(2))"));
  await page.locator('.pane[aria-label="Kernels and IR"] [aria-label="Close this pane"]').click();
  expect(await page.locator(".pane:visible").count()).toBe(2);
  expect(faults).toEqual([]);
});

test.each([320, 520, 820])("every tool can be reached in a window of %i pixels", async (width) => {
  const { page, faults } = await open([document([transformer(2)], { modules: TRANSFORMER_CLASSES })]);
  await page.setViewportSize({ width, height: 600 });
  await drawn(page);
  const outside = await page.locator(".toolbar :is(button, select):visible").evaluateAll((all, edge) => all.filter((tool) => tool.closest(".tabs") === null && tool.getBoundingClientRect().right > edge).map((tool) => tool.getAttribute("aria-label")), width);
  expect(outside).toEqual([]);
  expect(faults).toEqual([]);
});

test.each(["svg", "png", "dot"])("the graph is saved as %s", async (kind) => {
  const { page, faults } = await open([document([transformer(2)], { modules: TRANSFORMER_CLASSES })]);
  await drawn(page);
  const download = page.waitForEvent("download");
  await page.locator("select.save").selectOption(kind);
  const file = await (await download).path();
  const content = readFileSync(file);
  const start = { svg: "<svg xmlns=", png: "\u0089PNG", dot: "digraph {" }[kind];
  expect(content.toString("latin1").startsWith(start ?? "?")).toBe(true);
  expect((await download).suggestedFilename()).toBe(`Model-0.forward.${kind}`);
  if (kind === "svg") expect(content.toString()).toContain("_softmax");
  expect(faults).toEqual([]);
});

test("a foreign or damaged file is told in words", async () => {
  const { page } = await open([]);
  await until("it says so", async () => (await page.locator(".state-why").innerText()) === "There is no graph to show.");
  const damaged = { schema: 1, title: "", documents: [Buffer.from("not a graph").toString("base64")], findings: [] };
  const file = join(folder, "damaged.html");
  writeFileSync(file, readFileSync(PAGE, "utf8").replace("@@INDUCTOR_DEBUG_DATA@@", Buffer.from(JSON.stringify(damaged)).toString("base64")));
  await page.goto(`file://${file}`);
  await until("it says what is wrong", async () => (await page.locator(".state-why").innerText()).startsWith("This is no graph file"));
});

test("graphs of 1 and of 50,000 nodes are drawn", async () => {
  const one = await open([document([graph([{ name: "x", op: "placeholder", role: "input", shape: [8], dtype: "float32" }])])]);
  await drawn(one.page);
  expect(await rows(one.page)).toEqual([expect.stringContaining("x")]);
  const chain = Array.from({ length: 50_000 }, (_value, index) => ({ name: `n${index}`, op: "aten.relu.default", inputs: index === 0 ? [] : [`n${index - 1}`], shape: [8, 64], dtype: "float32" }));
  const many = await open([document([graph(chain)])]);
  await drawn(many.page);
  expect(await rows(many.page)).toContainEqual(expect.stringContaining("part 201–400"));
  await many.page.locator('[aria-label="Unfold all"]').click();
  await until("as much as can be drawn is unfolded", async () => (await many.page.locator(".status-text").innerText()).startsWith("Not everything is unfolded"));
  const first = many.page.locator('[role="treeitem"][aria-expanded]').first();
  await until("the first part is open", async () => (await first.getAttribute("aria-expanded")) === "true");
  await first.locator(".twistie").click();
  await until("it is folded again", async () => (await first.getAttribute("aria-expanded")) === "false");
  expect([...one.faults, ...many.faults]).toEqual([]);
});
