/** The page of orders (bisections, transfers, reproducers) in a browser, without VS Code: each of its states in every theme and in a narrow pane. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import type { BisectDocument, BisectPiece, BisectRung, TransferRow, TransfersDocument } from "../../../shared_schema/generated/wire.js";
import type { PageState } from "../../webview/shared/state.js";
import { openPage, OUT, THEMES } from "./browser.js";
import { PYTHON, SCREENSHOTS } from "./harness.js";
import { ROOT } from "./setup.mjs";

const RANGE = { start: { line: 5, character: 11 }, end: { line: 5, character: 16 } };
const PLACE = { path: "/work/a project with a long name/models/attention.py", range: RANGE };
const LADDER: readonly BisectRung[] = [
  { backend: "eager", adds: "the model", state: "ok", why: "The model runs.", seconds: 0.01 },
  { backend: "dynamo", adds: "Dynamo's capture", state: "ok", why: "All 4 results are equal to the reference's, to the last bit.", seconds: 1.2 },
  { backend: "inductor", adds: "Inductor's passes, lowerings and generated code", state: "wrong", why: "output: 4,481,612 times the error to expect; 73.1729 instead of 125.668 at [0].", seconds: 12.5 },
];
const CLIMB: BisectPiece = { planned: LADDER.map(({ backend, adds }) => ({ backend, adds })), ladder: LADDER.slice(0, 2) };
const BISECTION: BisectDocument = {
  schema: 1, target: "Attention", ladder: LADDER, verdict: "back-end",
  guilty: { backend: "inductor", graph: "0", direction: "forward", pass: "lowerings number 3: cos", node: "cos", op: "aten.cos.default", ...PLACE },
  commands: ["inductor-debug diff models/attention.py::Attention --backend aot_eager_decomp_partition", "inductor-debug diff models/attention.py::Attention --backend inductor"],
  notes: [],
};
const TRANSFER: TransferRow = {
  stride: [393_216, 768, 1],
  graph: "0", direction: "to-device", role: "input", name: "positions", shape: [8, 512, 768], dtype: "int64", device_dtype: "int32", host_bytes: 25_165_824,
  device_bytes: 12_582_912, layout: { size: [8, 512, 768], stride_map: [393_216, 768, 1], bytes: 16_777_216, padding_bytes: 4_194_304 }, digest: "0123456789abcdef", round_trip: "changed", changed: 1,
  example: { index: [1], before: "1099511627776", after: "0" }, path: PLACE.path, line: 3, note: "",
  values: [{ index: [0, 0, 0], before: "1", after: "1" }, { index: [0, 0, 1], before: "1099511627776", after: "0" }, { index: [7, 511, 767], before: "7", after: "7" }],
};
const CROSSED: TransfersDocument = { schema: 1, target: "Attention", accelerator: "spyre", summary: { transfers: 6, host_bytes: 32, device_bytes: 256, changed: 1 }, problem: null, error: null, transfers: Array(6).fill(TRANSFER), values: 1 };

/** The pages as the daemon writes them. */
const RENDERING = `
import json, sys
from inductor_debug.report.html.bisect_page import Climb, bisect_page
from inductor_debug.report.html.transfers_page import transfers_page
from inductor_debug.report.file_names import FileNames
from inductor_debug.report.source_characters import ShownTexts
from inductor_debug_schema import BisectDocument, BisectPiece, from_wire, TransfersDocument
climb, bisection, crossed = map(from_wire, (BisectPiece, BisectDocument, TransfersDocument), json.load(sys.stdin))
about = FileNames("", "/work"), ShownTexts()
growing = Climb().hear(bisection.target, climb)
print(json.dumps([growing, bisect_page([bisection], *about), transfers_page([crossed], *about, log="/work/transfers.jsonl")]))
`;
const env = { ...process.env, PYTHONPATH: [join(ROOT, "daemon"), join(ROOT, "shared_schema")].join(":") };
const rendered = spawnSync(PYTHON, ["-c", RENDERING], { input: JSON.stringify([CLIMB, BISECTION, CROSSED]), encoding: "utf8", env });
if (rendered.status !== 0) throw new Error(rendered.stderr);
const [GROWING = "", BISECTED = "", TRANSFERRED = ""] = JSON.parse(rendered.stdout) as string[];

const LOADING: PageState = { kind: "loading", what: "Bisecting Attention", step: "comparing inductor", percentage: 40, since: 0 };
const FAILED: PageState = { kind: "failed", what: "Bisecting Attention", why: "the model raises RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x64 and 12x2)", place: PLACE };
const CANCELLED: PageState = { kind: "cancelled", what: "Bisecting Attention" };
const SHOWN: PageState = { kind: "shown", note: "" };
const STATES: readonly (readonly [name: string, html: string, state: PageState, buttons: readonly string[]])[] = [
  ["loading", "", LOADING, ["Cancel"]],
  ["growing", GROWING, LOADING, ["Cancel"]],
  ["failed", "", FAILED, ["Go to line 6", "Retry"]],
  ["cancelled", GROWING, CANCELLED, ["Retry"]],
  ["bisection", BISECTED, SHOWN, []],
  ["transfers", TRANSFERRED, SHOWN, []],
];

beforeAll(() => { mkdirSync(SCREENSHOTS, { recursive: true }); });

async function open(theme: keyof typeof THEMES, width: number, html: string, state: PageState): Promise<{ page: Page; faults: string[] }> {
  const page = await openPage({ viewport: { width, height: 700 } });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  const { class: kind, background, foreground, link, button, error, block } = THEMES[theme];
  const variables = Object.entries({
    "editor-background": background, foreground, "descriptionForeground": foreground, "textLink-foreground": link, "focusBorder": link, "errorForeground": error,
    "button-background": button, "button-foreground": "#ffffff", "textCodeBlock-background": block, "progressBar-background": link, ...(theme === "contrast" ? { "button-border": "#6fc3df" } : {}), "contrastBorder": theme === "contrast" ? "#6fc3df" : "transparent",
  }).map(([name, value]) => `--vscode-${name}:${value}`).join(";");
  await page.setContent(`<!DOCTYPE html><html style="${variables}"><head><style>body{background:${background};color:${foreground};font-family:sans-serif;font-size:13px}a{color:${link}}</style><style>${readFileSync(join(OUT, "order.css"), "utf8")}</style></head><body class="${kind}"></body></html>`);
  await page.evaluate("globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => { (globalThis.told ??= []).push(message); }, setState: () => {} });");
  await page.addScriptTag({ content: readFileSync(join(OUT, "order.js"), "utf8") });
  const said = state.kind === "loading" ? { ...state, since: Date.now() - 12_000 } : state;
  await page.evaluate(([content, now]) => {
    const tell = (data: unknown): void => { dispatchEvent(new MessageEvent("message", { data })); };
    if (content !== "") tell({ type: "content", html: content });
    tell({ type: "state", state: now });
  }, [html, said] as const);
  return { page, faults };
}

const LOOKS = [["light", 400], ["dark", 400], ["contrast", 400], ["dark", 900]] as const;

test.each(STATES.flatMap(([name, html, state, buttons]) => LOOKS.map(([theme, width]) => ({ name, html, state, buttons, theme, width }))))(
  "$name in $theme at $width pixels shows all of itself and what one can do",
  async ({ name, html, state, buttons, theme, width }) => {
    const { page, faults } = await open(theme, width, html, state);
    await page.screenshot({ path: join(SCREENSHOTS, `order-${name}-${theme}-${String(width)}.png`), animations: "disabled" });
    expect(faults).toEqual([]);
    const shown = page.locator("button:visible");
    expect(await shown.allInnerTexts()).toEqual(buttons);
    for (const box of await Promise.all((await shown.all()).map((button) => button.boundingBox()))) expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    expect(await page.evaluate("document.documentElement.scrollWidth"), "tables scroll, the page does not").toBeLessThanOrEqual(width);
    const words = await page.locator("main").innerText();
    if (html === GROWING) expect([words.includes("running…"), words.includes("not run")]).toEqual(name === "growing" ? [true, false] : [false, true]);
    if (state.kind !== "shown") expect(await page.locator("body").innerText()).toContain("Bisecting Attention");
  },
);

test("transfers show values beside each other, and one chooses how many", async () => {
  const { page } = await open("dark", 900, TRANSFERRED, SHOWN);
  const choice = page.getByLabel("Of each tensor:");
  expect(await choice.inputValue()).toBe("1");
  await page.locator("summary").first().click();
  const cells = await page.locator("details[open] tbody td").allInnerTexts();
  expect(cells).toEqual(["[0, 0, 0]", "1", "1", "", "[0, 0, 1]", "1099511627776", "0", "differs", "…", "", "", "", "[7, 511, 767]", "7", "7", ""]);
  await page.screenshot({ path: join(SCREENSHOTS, "order-values.png"), animations: "disabled" });
  await choice.selectOption("16");
  expect(await page.evaluate("globalThis.told.at(-1)")).toEqual({ type: "values", count: 16 });
});
