/** What stands in the text beside the squiggles: lenses, hovers, hints and quick fixes, and what is inferred in the view. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { until, write } from "./harness.js";
import { BARE, CULPRIT, DOUBLE, UNKNOWABLE } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

let window: Window;
let folder: string;
const onDisk = (name: string): string => readFileSync(join(folder, name), "utf8");
const set = (settings: Record<string, unknown>): void => {
  write(join(folder, ".vscode", "settings.json"), JSON.stringify(settings));
};
/** The column of a piece of CULPRIT's line. */
const columnOf = (piece: string): number => `        hidden = ${CULPRIT}`.indexOf(piece) + 1;

beforeAll(async () => {
  window = await sharedWindow({ "model.py": DOUBLE, "fixed.py": DOUBLE, "silent.py": DOUBLE, "bare.py": BARE, "odd.py": UNKNOWABLE });
  folder = window.folder;
  await window.openFile("model.py");
  await window.untilUnderlined([[13, CULPRIT]]);
});
afterAll(() => window.screenshot("insights-last"));

test("a lens above the target says how it went, and a click checks it again", async () => {
  await window.openFile("model.py");
  const lens = /^capture: 1 finding · \d+ ops · \d\.\d\d s \| batch 8 \| graph \| compare$/u;
  await until("the lens is there", async () => (await window.lenses()).some((text) => lens.test(text)));
  await until("it is the only one", async () => (await window.lenses()).length === 1);
  const checks = (): number => window.output().split("\n").filter((line) => /model\.py: done.*command/u.test(line)).length;
  const before = checks();
  await window.page.locator(".codelens-decoration a").first().click();
  await until("it was checked again", () => checks() === before + 1);
  await until("the lens is back", async () => (await window.lenses()).some((text) => lens.test(text)));
});

test("a hover says shape, data type, strides, bytes, operations and module of the expression", async () => {
  await window.openFile("model.py");
  const text = await window.hover(13, columnOf("double"), /f64\[8, 64\]/u);
  await window.screenshot("hover-expression");
  expect(text).toContain("strides [64, 1] · 4 KiB");
  expect(text).toMatch(/1 op: .*_to_copy/u);
  const inner = await window.hover(13, columnOf("first"), /f32\[8, 64\]/u);
  expect(inner).toContain("in first");
  await window.page.keyboard.press("Escape");
});

test("hints, lenses and hovers can be switched off and on, each by its setting", async () => {
  await window.openFile("model.py");
  const hints = async (): Promise<string[]> => (await window.lines()).filter((line) => /: f\d\d\[/u.test(line));
  await until("the hint is there", async () => (await hints()).includes(`        hidden: f64[8, 64] = ${CULPRIT}`));
  await window.screenshot("hints");
  set({ "inductorDebug.inlayHints.enabled": false });
  await until("the hints are gone", async () => (await hints()).length === 0);
  await until("the lens stays", async () => (await window.lenses()).length === 1);
  set({ "inductorDebug.codeLens.enabled": false });
  await until("the hints are back, the lens is gone", async () => (await hints()).length > 0 && (await window.lenses()).length === 0);
  set({ "inductorDebug.hover.enabled": false });
  await until("the lens is back", async () => (await window.lenses()).length === 1);
  expect(await window.hover(13, columnOf("double"), /float64/u)).not.toContain("strides");
  set({});
  await window.hover(13, columnOf("double"), /strides/u);
  await window.page.keyboard.press("Escape");
  await window.untilUnderlined([[13, CULPRIT]]);
});

test("a fix that was verified is applied from the menu, and the squiggle goes", async () => {
  await window.openFile("fixed.py");
  await window.untilUnderlined([[13, CULPRIT]]);
  const entries = await window.fix(13, columnOf("double"), "(verified)");
  expect(entries.some((title) => title.includes("Silence dtype here"))).toBe(true);
  expect(entries.some((title) => title.includes("Explain dtype"))).toBe(true);
  await window.untilUnderlined([]);
  await window.save();
  expect(onDisk("fixed.py")).not.toContain("double()");
  await until("nothing is found in what was saved", async () => (await window.status()).includes("no findings"));
});

test("a comment silences the finding where it is", async () => {
  await window.openFile("silent.py");
  await window.untilUnderlined([[13, CULPRIT]]);
  await window.fix(13, columnOf("double"), "Silence dtype here");
  await window.untilUnderlined([]);
  await window.save();
  expect(onDisk("silent.py").split("\n")[12]).toBe(`        hidden = ${CULPRIT}  # inductor-debug: ignore[dtype]`);
});

test("a class without example inputs gets inferred ones, which a click writes down", async () => {
  await window.openFile("bare.py");
  await window.untilUnderlined([[11, "self.linear(x).double()"]]);
  await until("the lens says so", async () => (await window.lenses()).some((text) => /inputs inferred: x f32\[\w+, 64\]/u.test(text)));
  await window.run("Inductor Debug: Focus on Targets View");
  await until("the view says so", async () => (await window.tree()).some((row) => /Inputs of Net, inferred: x f32\[\w+, 64\]/u.test(row)));
  await window.screenshot("inferred");
  await window.page.locator(".codelens-decoration a", { hasText: "set example inputs" }).click();
  const input = window.page.locator(".quick-input-widget input").first();
  await until("it offers what was inferred", async () => /randn\(\d+, 64\)/u.test(await input.inputValue()));
  await input.fill("torch.randn(8, 64)");
  await window.accept();
  await until("it offers what was invented", async () => (await input.inputValue()) === "(64, 10)");
  await window.accept();
  const wanted = "\n# inductor-debug: inputs=(torch.randn(8, 64),), init=(64, 10)\nclass Net(nn.Module):\n";
  await until("the directive is in the file", () => onDisk("bare.py").includes(wanted));
  await window.untilUnderlined([[12, "self.linear(x).double()"]]);
  await until("nothing is inferred any more", async () => (await window.lenses()).every((text) => text.startsWith("capture: 1 finding")));
});

test("a class whose inputs nobody can guess says why", async () => {
  await window.openFile("odd.py");
  await until("the lens says so", async () => (await window.lenses()).some((text) => text.startsWith("not checked")));
  await until("and offers to say what", async () => (await window.lenses()).some((text) => text.includes("set example inputs")));
  await window.run("Inductor Debug: Focus on Targets View");
  await until("and so does the view", async () => (await window.tree()).some((row) => row.includes("Inputs of Odd, none known")));
  expect((await window.squiggles()).map(({ line, severity }) => [line, severity])).toEqual([[4, "hint"]]); // at the class
  set({ "inductorDebug.infer": false });
  await until("nothing is inferred when it is not wanted", async () => !(await window.lenses()).some((text) => text.includes("inferred")));
  set({});
  expect(await window.notifications()).toEqual([]);
});
