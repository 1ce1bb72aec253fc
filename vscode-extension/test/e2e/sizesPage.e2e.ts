/** The view "Sizes" and the page of accelerators in a browser, without VS Code: sliders, keys, states, themes, a narrow pane. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import type { TargetSizes } from "../../../shared_schema/generated/wire.js";
import { EVIL, openPage, OUT, THEMES } from "./browser.js";
import { SCREENSHOTS } from "./harness.js";

const TARGETS: readonly TargetSizes[] = [
  {
    uri: "file:///model.py", target: "GPT", at_once: true, seconds: 0.03, findings: 3, peak_bytes: 3 << 28, device_bytes: 1 << 30, inputs: "(torch.zeros((4, 512)),)",
    sizes: [
      { name: "B", value: 4, usual: 1, given: true, dimensions: ["idx[0]"] },
      { name: "T", value: 512, usual: 512, maximum: 1024, dimensions: ["idx[1]", "targets[1]"] },
    ],
  },
  { uri: "file:///model.py", target: EVIL, at_once: false, seconds: 0.1, findings: 0, sizes: [{ name: "batch", value: 2, usual: 2, known: false, inferred: true }] },
];

async function open(message: unknown, { theme = "dark", width = 400 }: { theme?: keyof typeof THEMES; width?: number } = {}): Promise<{ page: Page; faults: string[]; said: () => Promise<unknown[]> }> {
  const page = await openPage({ viewport: { width, height: 620 } });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  const { class: kind, background, foreground, link } = THEMES[theme];
  const variables = `background:${background};--vscode-editor-background:${background};--vscode-foreground:${foreground};--vscode-textLink-foreground:${link};--vscode-descriptionForeground:${foreground};--vscode-focusBorder:${link};--vscode-contrastBorder:${theme === "contrast" ? "#6fc3df" : "transparent"};--vscode-input-border:#8888;--vscode-button-background:${link};--vscode-button-secondaryBackground:${theme === "contrast" ? "#000" : "#8883"};--vscode-button-secondaryForeground:${foreground};--vscode-errorForeground:#f48771`;
  await page.setContent(`<!DOCTYPE html><html style="${variables}"><head><style>${readFileSync(join(OUT, "sizes.css"), "utf8")}</style></head><body class="${kind}" style="font-family: sans-serif; font-size: 13px"></body></html>`);
  await page.evaluate("globalThis.said = []; globalThis.acquireVsCodeApi = () => ({ postMessage: (message) => { said.push(message); } });");
  await page.addScriptTag({ content: readFileSync(join(OUT, "sizes.js"), "utf8") });
  await send(page, message);
  return { page, faults, said: () => page.evaluate("said.splice(0)") };
}

const send = (page: Page, message: unknown): Promise<void> => page.evaluate((data) => { dispatchEvent(new MessageEvent("message", { data })); }, message as object);
const shown = { type: "sizes", file: "/model.py", targets: TARGETS, selected: undefined };

test.each(Object.keys(THEMES) as (keyof typeof THEMES)[])("all that is free is shown, in %s, at 400 pixels", async (theme) => {
  const { page, faults } = await open(shown, { theme });
  await page.screenshot({ path: join(SCREENSHOTS, `sizes-${theme}.png`) });
  expect(await page.locator("section[aria-label] h2").allInnerTexts()).toEqual(["GPT", EVIL]);
  expect(await page.locator(".summary").allInnerTexts()).toEqual(["3 findings · peak memory 768 MiB of 1 GiB", "no findings · being captured with these sizes"]);
  expect(await page.locator(".note").allInnerTexts()).toEqual(["set by you", "as the inputs are", "any size"]);
  expect(await page.evaluate("globalThis.ran")).toBeUndefined();
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  expect(faults).toEqual([]);
});

test("a slider, a number and a preset each set one size and keep the others; reset takes all back", async () => {
  const { page, said } = await open(shown);
  await said();
  const slider = page.getByRole("slider").nth(1);
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  expect(await said()).toEqual([{ type: "set", target: "GPT", sizes: { B: 4, T: 576 } }]);
  await page.getByRole("spinbutton", { name: "B, as a number" }).fill("7");
  await page.keyboard.press("Enter");
  expect(await said()).toEqual([{ type: "set", target: "GPT", sizes: { B: 7, T: 576 } }]);
  await page.getByRole("button", { name: "T: 1024" }).click();
  expect(await said()).toEqual([{ type: "set", target: "GPT", sizes: { B: 7, T: 1024 } }]);
  await page.getByRole("button", { name: "All sizes of GPT as usual again" }).click();
  expect(await said()).toEqual([{ type: "set", target: "GPT", sizes: {} }]);
  await page.getByRole("button", { name: "Write these sizes as the inputs of GPT" }).click();
  expect(await said()).toEqual([{ type: "write", target: "GPT", inputs: "(torch.zeros((4, 512)),)" }]);
});

test("what is no size is not sent, and marked", async () => {
  const { page, said } = await open(shown);
  await said();
  const field = page.getByRole("spinbutton", { name: "B, as a number" });
  for (const text of ["0", "-3", "2.5", ""]) {
    await field.fill(text);
    await field.blur();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
  }
  expect(await said()).toEqual([]);
});

test("newer values do not take the slider out of the user's hand, and the view keeps its focus", async () => {
  const { page } = await open(shown);
  const slider = page.getByRole("slider").first();
  await slider.focus();
  await page.keyboard.press("ArrowRight");
  const moved = await slider.inputValue();
  await send(page, shown);
  expect(await slider.inputValue()).toBe(moved);
  expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true);
});

test.each([
  ["loading", { kind: "loading", what: "Looking for free sizes", since: Date.now() }],
  ["failed", { kind: "failed", what: "Sizes", why: "unknown size 'x'; there are B, T." }],
  ["empty", { kind: "empty", why: "No size of the inputs is free in this file, as far as it was checked." }],
] as const)("the view says that it is %s", async (name, state) => {
  const { page } = await open({ type: "state", state });
  await page.screenshot({ path: join(SCREENSHOTS, `sizes-${name}.png`) });
  expect(await page.locator(".state").innerText()).toContain("what" in state ? state.what : state.why);
});
