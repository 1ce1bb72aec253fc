/** Files in unusual places: several folders with interpreters of their own, no folder, no file, too much text. */

import { chmodSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { folder, PYTHON, until, Workbench } from "./harness.js";
import { CULPRIT, DOUBLE } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";

test("two folders run their models under two interpreters", async () => {
  const bench = await Workbench.start({ "inductorDebug.interpreter": PYTHON, "inductorDebug.allow": ["write"] });
  onTestFinished(() => bench.close());
  const first = bench.folder({ "first.py": DOUBLE }, "one");
  const second = bench.folder({}, "Ordner mit Größe und 模型");
  const interpreter = join(second, "python");
  const trace = `import torch\nopen(r"${join(second, "trace")}", "a").write(__import__("os").environ.get("WHICH", ""))\n`;
  bench.write(join(second, "second.py"), DOUBLE.replace("import torch\n", trace));
  bench.write(interpreter, `#!/bin/sh\nWHICH=second exec ${PYTHON} "$@"\n`);
  chmodSync(interpreter, 0o755);
  const settings = (path: string): string => JSON.stringify({ "inductorDebug.interpreter": path });
  const both = bench.folder({
    "both.code-workspace": JSON.stringify({ folders: [{ path: first }, { path: second }] }),
  });
  bench.write(join(first, ".vscode", "settings.json"), settings(PYTHON));
  bench.write(join(second, ".vscode", "settings.json"), settings("${workspaceFolder}/python"));
  const window = await bench.open(join(both, "both.code-workspace"));
  await window.openFile("first.py");
  await window.untilUnderlined([[13, CULPRIT]]);
  await window.openFile("second.py");
  await window.untilUnderlined([[14, CULPRIT]]);
  expect(bench.text(join(second, "trace"))).toMatch(/second/u);
  expect(await window.notifications()).toEqual([]);
});

test("a file that was never saved waits for it, and the status says so", async () => {
  const window = await sharedWindow({ "model.py": DOUBLE });
  await window.openFile("model.py");
  await window.untilUnderlined([[13, CULPRIT]]);
  await window.run("Create: New File...");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Text File" }).first().click();
  await window.run("Change Language Mode");
  await window.page.locator(".quick-input-widget input").first().fill("python");
  await window.page.locator(".quick-input-list .monaco-list-row", { hasText: "Python" }).first().click();
  await window.page.keyboard.insertText("import torch\n");
  await until("the status says so", async () => (await window.status()).includes("save the file to have it checked"));
  expect(await window.notifications()).toEqual([]);
  await window.screenshot("untitled");
});

test("a file outside of the workspace is checked like any other", async () => {
  const outside = join(folder({ "outside.py": DOUBLE }, "elsewhere"), "outside.py");
  const window = await sharedWindow({ "model.py": "x = 1\n" });
  await window.openPath(outside);
  await window.untilUnderlined([[13, CULPRIT]]);
});

test("a file of a megabyte neither blocks nor floods the window", async () => {
  const filler = `# ${"x".repeat(98)}\n`.repeat(12_000);
  const window = await sharedWindow({ "huge.py": DOUBLE + filler });
  await window.openFile("huge.py");
  await until("it is told", async () => (await window.status()).includes("1 finding"));
  expect((await window.notifications()).length).toBeLessThanOrEqual(1);
  await window.screenshot("huge");
});
