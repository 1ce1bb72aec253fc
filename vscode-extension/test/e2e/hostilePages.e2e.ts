/**
 * The pages in a browser, given whatever fits the wire, however odd: they draw it or what they can of it. Nothing is thrown, nothing in a name
 * becomes markup, and a sound document after it is shown.
 */

import fc from "fast-check";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { fitting } from "../unit/hostile.js";
import { openPage, OUT } from "./browser.js";

const RUNS = 60;

async function open(name: string): Promise<Page> {
  const page = await openPage({ viewport: { width: 900, height: 700 } });
  await page.setContent(`<!DOCTYPE html><html><head><style>${readFileSync(join(OUT, `${name}.css`), "utf8")}</style></head><body class="vscode-dark"><script type="application/json" id="subject">null</script></body></html>`);
  await page.evaluate(`
    globalThis.faults = [];
    addEventListener("error", (event) => { faults.push(String(event.error?.stack ?? event.message)); });
    addEventListener("unhandledrejection", (event) => { faults.push(String(event.reason?.stack ?? event.reason)); });
    globalThis.acquireVsCodeApi = () => ({ postMessage: () => {}, setState: () => {}, getState: () => undefined });
  `);
  await page.addScriptTag({ content: readFileSync(join(OUT, `${name}.js`), "utf8") });
  return page;
}

/** What went wrong while the page was told something and drew it. */
function faultsOf(page: Page, messages: readonly unknown[]): Promise<string[]> {
  return page.evaluate(async (told) => {
    for (const data of told) dispatchEvent(new MessageEvent("message", { data }));
    await new Promise((drawn) => { requestAnimationFrame(() => { requestAnimationFrame(drawn); }); });
    const { faults, ran } = globalThis as unknown as { faults: string[]; ran?: unknown };
    return [...faults.splice(0), ...(ran === undefined ? [] : ["markup ran"])];
  }, messages as object[]);
}

const charts = (kind: string) => (document: unknown): unknown[] => [{ type: "charts", charts: { kind, documents: [document, document] } }];
const PAGES: readonly (readonly [string, string, string, (document: unknown) => unknown[]])[] = [
  ["the memory over a run", "charts", "MemoryDocument", charts("memory")],
  ["the roofline", "charts", "RooflineDocument", charts("roofline")],
  ["compile times", "charts", "CompileTimeDocument", charts("compile-time")],
  ["a profile", "charts", "RunProfileDocument", charts("profile")],
  ["a comparison", "kerneldiff", "DiffDocument", (document) => [{ type: "comparison", document, maps: undefined, subject: null }]],
  ["a comparison that grows", "kerneldiff", "DiffPiece", (piece) => [{ type: "piece", piece, first: true }, { type: "piece", piece, first: false }, { type: "stopped" }]],
  ["tensors", "tensors", "LineTensors", (document) => [{ type: "tensors", asked: 1, document, text: "x = y" }, { type: "rows", asked: 1, document }]],
  ["sizes", "sizes", "TargetSizes", (target) => [{ type: "sizes", file: "/a.py", targets: [target, target], selected: undefined }]],
];

test("what a page throws would be seen", async () => {
  expect(await faultsOf(await open("charts"), [{ type: "charts", charts: { kind: "memory", documents: [null] } }])).not.toEqual([]);
});

test.each(PAGES)("%s", async (_name, bundle, shape, messages) => {
  const page = await open(bundle);
  await fc.assert(fc.asyncProperty(fitting(shape), async (document) => {
    expect(await faultsOf(page, messages(document))).toEqual([]);
    await page.mouse.click(450, 250);
    expect(await faultsOf(page, [])).toEqual([]);
  }), { numRuns: RUNS, interruptAfterTimeLimit: 60_000 });
});
