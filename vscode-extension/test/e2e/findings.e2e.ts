/** What a person sees while typing: the squiggle, where it goes, and what the status, the view and the palette say. */

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { clickUntil, folder, until, write } from "./harness.js";
import { ATTENTION, CLEAN, CULPRIT, DIGITS, DOUBLE, held, OVERTAKEN } from "./models.js";
import { ROOT } from "./setup.mjs";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

const COMMANDS = [
  "Bisect",
  "Cancel Analysis",
  "Change Sizes of the Inputs",
  "Check File",
  "Check the Whole Workspace",
  "Choose Accelerator",
  "Choose Interpreter",
  "Compare",
  "Compare With Gradients",
  "Copy Troubleshooting Information",
  "Create a Bug Report",
  "Debug the Compiled Target",
  "Explain a Rule",
  "Guided Demo",
  "Install torch",
  "Make a Minimal Reproducer",
  "Open Compiler Artifacts…",
  "Open a Sample Model",
  "Pin the Tensor View to This Line",
  "Report",
  "Restart",
  "Run to This Expression",
  "Set Example Inputs for a Class",
  "Show Graph",
  "Show Output",
  "Show Tensors at the Cursor",
  "Show Transfers",
  "Suggest What Makes It Faster",
  "Toggle Heat",
  "What If on Another Accelerator?",
];

/** Single mistakes in files that declare no inputs, and where they are told. */
const MISTAKES = [
  { what: "a layer of another size", file: "digits.py", right: "9216", wrong: "9200", line: 18, under: "self.fc1(x)" },
  { what: "a misspelt attribute", file: "digits.py", right: "self.dropout(x)", wrong: "self.droput(x)", line: 16, under: "self.droput" },
  { what: "a missing transpose", file: "attention.py", right: "k.transpose(-2, -1)", wrong: "k", line: 15, under: "q @ k" },
] as const;

/** What the documentation's first page has its readers write. */
const STARTED = /```\n(import torch[^`]+)```/u.exec(readFileSync(join(ROOT, "docs", "get-started.md"), "utf8"))?.[1] ?? "";

describe("a model with float64 in it", () => {
  let window: Window;
  let hold = "";
  let text = DOUBLE;

  beforeAll(async () => {
    hold = join(folder({}), "hold");
    window = await sharedWindow({ "model.py": DOUBLE, "overtaken.py": OVERTAKEN, "held.py": held(hold) });
    await window.openFile("model.py");
  });
  afterAll(() => window.screenshot("findings-last"));

  test("is underlined at the exact expression", async () => {
    await window.untilUnderlined([[13, CULPRIT]]);
    await until("it is a warning", async () => (await window.squiggles()).every(({ severity }) => severity === "warning"));
    expect(await window.notifications()).toEqual([]);
  });

  test("has a status with the finding, torch and the accelerator", async () => {
    await until("the status is settled", async () => (await window.status()).includes("1 finding"));
    await window.showStatus(/torch 2\.\d+/u, /Accelerator: mock/u);
    await window.screenshot("status");
  });

  test("stands in the view with its stages and its finding", async () => {
    await window.page.locator('.activitybar a[aria-label^="Inductor Debug"]').click();
    const rows = await until("the finding is a row", async () => {
      const rows = await window.tree();
      const complete = rows.filter((row) => row.includes("Stage ")).length === 2;
      return complete && rows.some((row) => row.includes("dtype at line 13")) ? rows : undefined;
    });
    expect(rows[0]).toContain("model.py");
    expect(rows.some((row) => row.includes("Target Classifier"))).toBe(true);
    await window.goTo(1);
    await clickUntil("the cursor is at the finding", window.page.locator('.pane-body .monaco-list-row[aria-label*="dtype at line 13"]'), () => window.page.locator(".statusbar-item", { hasText: "Ln 13" }).isVisible());
    await window.screenshot("view");
  });

  test("has in the palette the commands that fit a model, and no others", async () => {
    const own = async (filter: string): Promise<string[]> => {
      const labels = (await window.palette(`Inductor Debug: ${filter}`)).map((label) => label.replace(/,.*$/u, ""));
      return labels.filter((label) => label.startsWith("Inductor Debug: ")).map((label) => label.replace("Inductor Debug: ", ""));
    };
    await window.untilOffered(COMMANDS.filter((title) => title !== "Cancel Analysis").map((title) => `Inductor Debug: ${title}`)); // one by one: the list only draws what fits
    expect(await own("Cancel Analysis")).not.toContain("Cancel Analysis");
    expect((await own("")).filter((title) => !title.startsWith("Focus on ") && !COMMANDS.includes(title))).toEqual([]);
  });

  test("is followed while it is typed, without a save", async () => {
    text = await window.replace(text, "        hidden =", "        x = x + 1\n        hidden =");
    await window.untilUnderlined([[14, CULPRIT]]);
    text = await window.replace(text, "x = x + 1", "x = x + x.double().float()");
    await window.untilUnderlined([[13, "x.double()"], [14, CULPRIT]]);
  });

  test("loses its squiggles as it is mended", async () => {
    text = await window.replace(text, "x.double().float()", "x");
    await window.untilUnderlined([[14, CULPRIT]]);
    text = await window.replace(text, "(self.first(x)).double()", "(self.first(x))");
    await window.untilUnderlined([]);
    await until("the status says so", async () => (await window.status()).includes("no findings"));
    await window.save();
  });

  test("saved ten times in a second gives one result", async () => {
    /** The generations that a worker brought to their end. VS Code may save twice what it has; the second is answered with what is known. */
    const results = (): string[] => {
      const ended = (pattern: RegExp): string[] => [...window.output().matchAll(pattern)].map((match) => match[1] ?? "");
      const ran = new Set(ended(/overtaken\.py: running, .*generation (\d+), stage mock/gu));
      return [...new Set(ended(/overtaken\.py: done, .*generation (\d+),/gu))].filter((generation) => ran.has(generation));
    };
    await window.openFile("overtaken.py");
    await window.untilUnderlined([[16, CULPRIT]]);
    await until("its opening has its result", () => results().length > 0); // a squiggle comes before the result
    const before = results().length;
    await window.goTo(1);
    for (let index = 0; index < 10; index += 1) {
      await window.page.keyboard.insertText("0\n"); // top-level code: only a save has it checked
      await window.page.keyboard.press("Control+S");
    }
    await window.untilUnderlined([[26, CULPRIT]]);
    await until("the result is in", () => results().length > before);
    await until("the status is settled", async () => (await window.status()).includes("1 finding"));
    expect(results().slice(before)).toHaveLength(1);
  });

  test("keeps what was found while a newer run takes its time, marked as such", async () => {
    await window.openFile("held.py");
    await window.untilUnderlined([[16, CULPRIT]]);
    write(hold, "");
    await window.replace(held(hold), "hidden.float()", "hidden.float() + 0");
    const marks = window.page.locator(".glyph-margin-widgets [class*=TextEditorDecorationType]");
    await until("the finding is marked", () => marks.first().isVisible());
    await window.untilUnderlined([[16, CULPRIT]]);
    await until("the view says so", async () => (await window.tree()).some((row) => row.includes("held.py, checking")));
    await window.screenshot("outdated");
    expect(await marks.first().isVisible(), "the mark stays until the run is through").toBe(true);
    rmSync(hold);
    await until("the mark is gone", async () => (await marks.count()) === 0);
    await window.untilUnderlined([[16, CULPRIT]]);
  });

  test("starts without a word", async () => {
    expect(await window.notifications()).toEqual([]);
    expect(window.output()).toMatch(/loaded in \d+\.\d ms, activated in \d+\.\d ms/u);
  });
});

describe("a file that declares nothing", () => {
  let window: Window;

  beforeAll(async () => { window = await sharedWindow({ "digits.py": DIGITS, "attention.py": ATTENTION, "started.py": STARTED }); });

  test.each(MISTAKES)("$what is underlined while it is typed, and gone when it is undone", async ({ file, right, wrong, line, under }) => {
    await window.openFile(file);
    await until("the status says so", async () => (await window.status()).includes("no findings"));
    expect(await window.squiggles()).toEqual([]);
    await window.replace(file === "digits.py" ? DIGITS : ATTENTION, right, wrong);
    await window.untilUnderlined([[line, under]]);
    await window.screenshot(`plain-${file.replace(".py", "")}-${String(line)}`);
    await window.page.keyboard.press("Control+Z");
    await window.untilUnderlined([]);
  });

  test("the file of the documentation's first page is underlined as that says, explained, and mended by the first quick fix", async () => {
    await window.openFile("started.py");
    await window.untilUnderlined([[14, "self.fc1(x.flatten(1))"]]);
    await window.screenshot("started");
    expect(await window.hover(14, 36, /takes 9200 features/u)).toContain("9216");
    const entries = await window.fix(14, 36, "9216");
    expect(entries.find((entry) => entry.includes("(verified)"))).toContain("9216");
    await window.untilUnderlined([]);
  });
});

test("a file that is fine has no squiggle, and the status says so", async () => {
  const name = "Ordner mit Größe und 模型/model.py";
  const window = await sharedWindow({ [name]: CLEAN });
  await window.openFile(name);
  await until("the status says so", async () => (await window.status()).includes("no findings"));
  expect(await window.squiggles()).toEqual([]);
});
