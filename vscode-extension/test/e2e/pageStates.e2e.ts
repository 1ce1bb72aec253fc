/** Every page that waits for the daemon, in a narrow pane and in every theme: loading, failed and cancelled look and work the same everywhere, and so does what comes then. */

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import type { LineTensors, TensorRow } from "../../../shared_schema/generated/wire.js";
import type { PageState } from "../../webview/shared/state.js";
import { document, encodeDocument, transformer, TRANSFORMER_CLASSES } from "../unit/graphDocuments.js";
import { openPage, OUT, THEMES } from "./browser.js";
import { SCREENSHOTS } from "./harness.js";

const WIDTH = 400;
const PLACE = { path: "/work/a project with a long name/models/attention.py", range: { start: { line: 5, character: 11 }, end: { line: 5, character: 16 } } };
const STATES: readonly (readonly [state: PageState, buttons: readonly string[]])[] = [
  [{ kind: "loading", what: "Checking Attention", step: "forward and backward", percentage: 40, since: Date.now() - 12_000 }, ["Cancel"]],
  [{ kind: "failed", what: "Checking Attention", why: "the model raises RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x64 and 12x2)", place: PLACE }, ["Go to line 6", "Retry"]],
  [{ kind: "cancelled", what: "Checking Attention" }, ["Retry"]],
];
const NAMES = Object.keys(THEMES) as (keyof typeof THEMES)[];

beforeAll(() => { mkdirSync(SCREENSHOTS, { recursive: true }); });

/** A page as VS Code shows it, and what went wrong in it. */
async function open(name: string, theme: keyof typeof THEMES): Promise<{ page: Page; faults: string[] }> {
  const page = await openPage({ viewport: { width: WIDTH, height: 640 }, colorScheme: theme === "light" ? "light" : "dark" });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  const { class: kind, background, foreground, link, button, error, block } = THEMES[theme];
  const edge = theme === "contrast" ? "#6fc3df" : "transparent";
  const variables = Object.entries({
    "editor-background": background, "sideBar-background": background, foreground, "editor-foreground": foreground, "descriptionForeground": foreground, "textLink-foreground": link, "focusBorder": link,
    "errorForeground": error, "button-background": button, "button-foreground": "#ffffff", "button-border": edge, "textCodeBlock-background": block, "progressBar-background": link, "contrastBorder": edge,
  }).map(([key, value]) => `--vscode-${key}:${value}`).join(";");
  await page.setContent(`<!DOCTYPE html><html style="${variables}"><head><style>body{background:${background};color:${foreground};font-family:sans-serif;font-size:13px}a{color:${link}}</style><style>${readFileSync(join(OUT, `${name}.css`), "utf8")}</style></head><body class="${kind}"></body></html>`);
  await page.evaluate("globalThis.told = []; globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => { told.push(message); }, getState: () => undefined, setState: () => {} });");
  await page.addScriptTag({ content: readFileSync(join(OUT, `${name}.js`), "utf8") });
  return { page, faults };
}

function say(page: Page, message: object): Promise<void> {
  return page.evaluate((data) => { dispatchEvent(new MessageEvent("message", { data })); }, message);
}

const looks = (names: readonly string[]) => names.flatMap((name) => NAMES.map((theme) => ({ name, theme })));

test.each(looks(["charts", "graph", "kerneldiff", "sizes", "tensors"]))("$name in $theme says what it waits for, what failed and what was cancelled, and what one can do", async ({ name, theme }) => {
  const { page, faults } = await open(name, theme);
  for (const [state, buttons] of STATES) {
    await say(page, { type: "state", state });
    await page.screenshot({ path: join(SCREENSHOTS, `state-${name}-${state.kind}-${theme}.png`), animations: "disabled" });
    const view = page.locator("section.state");
    expect(await view.innerText()).toContain("Checking Attention");
    const shown = view.locator("button:visible");
    expect(await shown.allInnerTexts()).toEqual(buttons);
    for (const one of await shown.all()) {
      const box = await one.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(WIDTH);
      await one.click();
    }
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(WIDTH);
  }
  const told = await page.evaluate("told.map(({ type }) => type).filter((type) => type !== 'ready')");
  expect(told).toEqual(["cancel", "reveal", "retry", "retry"]);
  expect(faults).toEqual([]);
});

const ROW: TensorRow = {
  id: 1, kind: "activation", label: "queries", named: true, scope: "", roles: ["made"], shape: [2, 8, 128, 64], sizes: [2, 8, 128, 64], dims: ["B", "heads", "T", ""], stride: [65_536, 8192, 64, 1],
  order: "contiguous", dtype: "float32", device: "cpu", requires_grad: true, bytes: 524_288, storage_bytes: 524_288, counted: true,
};
const LINE: LineTensors = {
  path: PLACE.path, line: 5, target: "Attention", targets: ["Attention"], call: 1, calls: 3, module: "layers.0.attention", function: "Attention.forward", start_line: 5, end_line: 5,
  rows: [ROW, { ...ROW, id: 2, label: "weight", kind: "parameter", roles: ["read"] }, { ...ROW, id: 3, label: "x", kind: "input", roles: [] }], first: 0, row_count: 3,
};

test.each(NAMES)("the tensors of a line in %s", async (theme) => {
  const { page, faults } = await open("tensors", theme);
  await say(page, { type: "tensors", asked: 1, document: LINE, text: "queries = self.split(self.query(x))" });
  await page.screenshot({ path: join(SCREENSHOTS, `state-tensors-full-${theme}.png`), animations: "disabled" });
  expect(await page.locator("main.tensors").innerText()).toContain("queries");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(WIDTH);
  expect(faults).toEqual([]);
});

test.each(NAMES)("a graph in %s", async (theme) => {
  const { page, faults } = await open("graph", theme);
  const written = [...encodeDocument(document([transformer(2)], { modules: TRANSFORMER_CLASSES }))];
  await page.evaluate((bytes) => {
    dispatchEvent(new MessageEvent("message", { data: { type: "documents", now: [new Uint8Array(bytes).buffer], before: [], depth: "check" } }));
  }, written);
  await page.waitForFunction("globalThis.inductorDebugGraph.panes[0].scene?.layout !== undefined && globalThis.inductorDebugGraph.panes[0].drawing.lastFrame > 0");
  await page.screenshot({ path: join(SCREENSHOTS, `state-graph-full-${theme}.png`), animations: "disabled" });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(WIDTH);
  expect(faults).toEqual([]);
});
