/** The KernelDiff page in a browser, without VS Code: documents of every kind and size, themes, a narrow pane, keys, names for readers. */

import { encode } from "@msgpack/msgpack";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import type { DiffDocument, DiffNode, DiffTensor } from "../../../shared_schema/generated/wire.js";
import { EVIL, openPage, OUT, THEMES } from "./browser.js";
import { SCREENSHOTS } from "./harness.js";

interface Opened {
  readonly page: Page;
  readonly faults: string[];
  /** What the page said to the editor. */
  readonly said: () => Promise<unknown[]>;
}

async function open(shown: DiffDocument, maps: Uint8Array | undefined, { theme = "dark", width = 900 }: { theme?: keyof typeof THEMES; width?: number } = {}): Promise<Opened> {
  const page = await openPage({ viewport: { width, height: 860 } });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => { if (message.type() === "error") faults.push(message.text()); });
  const { class: kind, background, foreground, link } = THEMES[theme];
  const variables = `--vscode-editor-background:${background};--vscode-foreground:${foreground};--vscode-textLink-foreground:${link};--vscode-descriptionForeground:${foreground};--vscode-focusBorder:${link}`;
  await page.setContent(`<!DOCTYPE html><html style="${variables}"><head><style>${readFileSync(join(OUT, "kerneldiff.css"), "utf8")}</style></head><body class="${kind}"><script type="application/json" id="subject">null</script></body></html>`);
  await page.evaluate("globalThis.said = []; globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => { said.push(message); }, setState: () => {} });");
  await page.addScriptTag({ content: readFileSync(join(OUT, "kerneldiff.js"), "utf8") });
  await page.evaluate(
    ([document, content]) => {
      const data = { type: "comparison", document, maps: content ? new Uint8Array(content).buffer : undefined, subject: null };
      dispatchEvent(new MessageEvent("message", { data }));
    },
    [shown, maps ? [...maps] : null] as const,
  );
  return { page, faults, said: () => page.evaluate("globalThis.said") };
}

const RANGE = { start: { line: 11, character: 4 }, end: { line: 11, character: 20 } };

function output(name: string, more: Partial<DiffTensor> = {}): DiffTensor {
  const metrics = {
    elements: 8, max_abs: 0.01, mean_abs: 0.001, max_rel: 0.2, mean_rel: 0.1, mismatches: 1, nan_reference: 0, nan_actual: 0, inf_reference: 0, inf_actual: 0, norm_reference: 1, rmse: 0.002, mismatch_percent: 12.5, cosine: 0.999, snr_db: 40, max_ulp: 12,
    nonfinite_mismatches: 0, anchored_ratio: 3,
  };
  return { name, verdict: "wrong", why: "", shape: [8], dtype: "float32", passed: false, metrics, worst: [], passes_with: { atol: 0.01, rtol: null }, ...more };
}

function node(index: number, more: Partial<DiffNode> = {}): DiffNode {
  const error = { max_abs: 0.1, rmse: 0.1, relative: 10 ** -(3 + (index % 5)), anchored_ratio: index % 7, invalid: false };
  return { node: `mm_${index}`, graph: "0", op: "aten.mm.default", module: `layers.${index}`, isolated: error, accumulated: error, growth: 1.5, replaced: null, path: "/work/model.py", range: RANGE, ...more };
}

function diff(outputs: readonly DiffTensor[], nodes: readonly DiffNode[] = [], more: Partial<DiffDocument> = {}): DiffDocument {
  return {
    schema: 1, target: "Net", reference: "eager", backend: "spyre", verdict: "wrong", why: "output['x'] is wrong.", outputs, gradients: [], nodes, segments: [], blame: [], faults: [], first_divergent: null,
    largest_growth: null, deterministic: true, seed: 0, runs: 1, weights: "", notes: [], seconds: { total: 1.5 }, partial: false, ...more,
  };
}

/** A map of errors of any shape, one cell an element; `value` gives each its error. */
function map(name: string, shape: readonly number[], value: (index: number) => number = (index) => 10 ** -(1 + (index % 6))): object {
  const cells = Float32Array.from({ length: shape.reduce((all, size) => all * size, 1) }, (_none, index) => value(index));
  const bytes = (column: ArrayBufferView): Uint8Array => new Uint8Array(column.buffer);
  return {
    name, shape, bins: shape, steps: shape.map(() => 1), cells: bytes(cells), first_decade: -6, bins_per_decade: 5,
    counts: bytes(cells.length > 0 ? Float64Array.of(1, 0, 5, 0, 100) : new Float64Array()), equal: 3, invalid: cells.filter((one) => one === Infinity).length,
  };
}

const maps = (...all: readonly object[]): Uint8Array => encode({ format: "inductor-debug-diff-maps", schema: 1, outputs: all });
const SHAPES: readonly (readonly [string, readonly number[], number])[] = [["0-d", [], 0], ["1-d", [200], 0], ["2-d", [30, 40], 0], ["3-d", [3, 8, 8], 1], ["5-d", [2, 3, 4, 6, 6], 3], ["flat", [1, 1, 4, 5], 0]];
const result = (page: Page, name: string): ReturnType<Page["getByRole"]> => page.getByRole("button", { name, exact: true });

test("errors of every shape: sliders for the leading dimensions, arrow keys say what a cell stands for", async () => {
  const all = maps(...SHAPES.map(([name, shape]) => map(name, shape)), map("nan", [4, 4], () => Infinity), map("empty", [0, 3]), map("same", [3], () => 0));
  const names = [...SHAPES.map(([name]) => name), "nan", "empty", "same", "unmapped"];
  const { page, faults } = await open(diff(names.map((name) => output(name))), all);
  for (const [name, shape, sliders] of SHAPES) {
    await result(page, name).click();
    await page.getByRole("heading", { name: `Errors of ${name}` }).waitFor();
    expect(await page.getByRole("slider").count(), name).toBe(sliders);
    const picture = page.getByRole("img", { name: new RegExp(`Absolute error of ${name} \\[${shape.join(", ")}\\]`, "u") });
    await picture.focus();
    await picture.press("ArrowRight");
    const place = shape.length === 0 ? "\\[\\]" : `\\[(?:\\d+(?:, )?){${shape.length}}\\]`;
    await page.getByText(new RegExp(`^${place}: `, "u")).waitFor();
  }
  await result(page, "5-d").click();
  const slider = page.getByRole("slider", { name: /Dimension 2 \(of 4\)/u });
  await slider.focus();
  await slider.press("End");
  expect(await slider.getAttribute("aria-valuetext")).toBe("3");
  await page.getByText(/^\[\d+, \d+, 3, \d+, \d+\]: /u).waitFor();
  await page.screenshot({ path: join(SCREENSHOTS, "kerneldiff-page-5d.png"), fullPage: true });
  await result(page, "nan").click();
  await page.locator(".legend").getByText("only one side is a finite number").waitFor();
  await result(page, "empty").click();
  await page.getByText("There are no elements.").waitFor();
  await result(page, "unmapped").click();
  await page.getByText("There is no map of the errors of this result.").waitFor();
  expect(faults).toEqual([]);
});

test("with the keyboard alone: a result keeps the focus when it is chosen, and sorted headers do", async () => {
  const many = Array.from({ length: 400 }, (_none, index) => output(`output[${index}]`));
  const { page, said } = await open(diff(many, [node(0), node(1), node(2)]), undefined);
  await page.getByRole("button", { name: "Show 200 more" }).press("Enter");
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toBe("Outputs and gradients with their metrics");
  const far = result(page, "output[390]");
  await far.press("Enter");
  await page.getByRole("heading", { name: "Errors of output[390]" }).waitFor();
  expect(await far.evaluate((button) => button === document.activeElement)).toBe(true);
  expect(await page.locator('[aria-current="true"]').allInnerTexts()).toEqual(["output[390]"]);
  const header = page.getByRole("button", { name: /^Accumulated/u });
  await header.press("Enter");
  expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/^Accumulated [↑↓]$/u);
  await page.getByRole("img", { name: /Relative error of 3 operations/u }).press("End");
  await page.getByText(/mm_2/u).first().waitFor();
  await page.getByRole("img", { name: /Relative error of 3 operations/u }).press("Enter");
  expect((await said()).at(-1)).toEqual({ type: "reveal", place: { path: "/work/model.py", range: RANGE }, focus: false });
});

test("five thousand operations, the blamed ones first", async () => {
  const nodes = Array.from({ length: 5000 }, (_none, index) => node(index));
  const guilty = node(4321);
  const blame = [{ ...guilty, nodes: [guilty.node], why: "its result is off" }];
  const { page, faults } = await open(diff([output("output")], nodes, { blame }), maps(map("output", [8])));
  const rows = page.getByRole("region", { name: "Operations with their errors" }).getByRole("row");
  expect(await rows.count()).toBe(201);
  expect(await rows.nth(1).textContent()).toMatch(/layers\.4321/u);
  await page.getByRole("button", { name: "Show 4800 more" }).click();
  expect(await rows.count()).toBe(5001);
  expect(faults).toEqual([]);
});

test("the end of a comparison leaves the focus and the places where they are", async () => {
  const outputs = [output("first"), output("second")];
  const nodes = Array.from({ length: 60 }, (_none, index) => node(index));
  const { page } = await open(diff(outputs, nodes), undefined);
  const hear = (data: object): Promise<void> => page.evaluate((said) => { dispatchEvent(new MessageEvent("message", { data: said })); }, data);
  await hear({ type: "piece", piece: { begun: diff(outputs, nodes, { verdict: null, partial: true }) }, first: true });
  await page.locator(".badge.comparing").waitFor();
  const table = page.getByRole("region", { name: "Operations with their errors" });
  await table.evaluate((region) => { region.scrollTop = 300; });
  await table.focus();
  const before = await page.evaluate(() => scrollY);
  await hear({ type: "comparison", document: diff(outputs, nodes), maps: undefined, subject: null });
  await page.getByRole("button", { name: "Compare Again" }).waitFor();
  expect(await table.evaluate((region) => [region.scrollTop, region === document.activeElement])).toEqual([300, true]);
  expect(await page.evaluate(() => scrollY)).toBe(before);
});

test("a comparison that did not end shows all that had come, also to a page that is loaded afterwards", async () => {
  const { page } = await open(diff([output("old")], [], { target: "Before" }), maps(map("old", [4])));
  await page.evaluate((said) => { for (const data of said) dispatchEvent(new MessageEvent("message", { data })); }, [
    { type: "piece", piece: { begun: diff([output("first")], [], { target: "After", verdict: null, partial: true }) }, first: true },
    { type: "piece", piece: { outputs: [output("second")] }, first: false },
    { type: "stopped" },
  ]);
  await page.locator("h1", { hasText: "After: spyre against eager" }).waitFor();
  expect(await page.locator(".badge.unfinished").count()).toBe(1);
  expect(await result(page, "second").count()).toBe(1);
  expect(await result(page, "old").count()).toBe(0);
});

test("one of something is told as one", async () => {
  const { page } = await open(diff([output("output")], [node(0)]), maps({ ...map("output", [8]), equal: 1 }));
  await page.getByText("Seed 0, 1 run, 1 operation measured.").waitFor();
  await page.getByText("1 element agrees exactly; in 0 only one side is a finite number.").waitFor();
});

test("names and sentences of other people are text", async () => {
  const evil = node(0, { op: EVIL, node: EVIL, module: EVIL, path: EVIL });
  const { page, faults } = await open(diff([output(EVIL, { why: EVIL, dtype: EVIL })], [evil], { target: EVIL, why: EVIL, notes: [EVIL], blame: [{ ...evil, nodes: [EVIL], why: EVIL }] }), maps(map(EVIL, [2])));
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
  expect(faults).toEqual([]);
});

test.each(Object.keys(THEMES) as (keyof typeof THEMES)[])("%s, in a narrow pane: nothing but tables is wider than the pane, and every control has a name", async (theme) => {
  const failed = { ...output("text", { shape: null, dtype: "str" }), worst: [{ index: [], reference: "'a'", actual: "'b'" }] };
  const outputs = [output("output['logits']"), output("output['states'][0].hidden", { verdict: "pass" }), output("grad of weight", { verdict: "suspicious" }), failed];
  const blame = [{ ...node(1), nodes: ["mm_1"], why: "on the reference's inputs its result is off by 800 times the error to expect" }];
  const { page, faults } = await open(diff(outputs, Array.from({ length: 30 }, (_none, index) => node(index)), { blame }), maps(map("output['logits']", [2, 20, 30])), { theme, width: 340 });
  await page.screenshot({ path: join(SCREENSHOTS, `kerneldiff-page-${theme}.png`), fullPage: true });
  const smallest = await page.locator("svg text").evaluateAll((all) => Math.min(...all.map((one) => one.getBoundingClientRect().height)));
  expect(smallest).toBeGreaterThan(6); // pixels
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  const unnamed = await page.locator("button, input, [role=img], [role=region], canvas, svg[tabindex]").evaluateAll((all) => all.filter((one) => {
    const named = `${one.getAttribute("aria-label") ?? ""}${one.textContent}`;
    return named.trim() === "" && one.closest("label") === null;
  }).map((one) => one.outerHTML.slice(0, 120)));
  expect(unnamed).toEqual([]);
  expect(faults).toEqual([]);
});

test("a comparison that failed shows why, and no tables", async () => {
  const { page } = await open(diff([], [], { verdict: "failed", why: "inductor raised in the forward, and the other side did not: boom" }), undefined);
  await page.getByText("inductor raised in the forward, and the other side did not: boom").waitFor();
  expect(await page.locator("table").count()).toBe(0);
});
