/** What somebody's compile has left, opened from the explorer: its kernels beside the source, followed both ways, and back after a reload. */

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Frame } from "playwright-core";
import { beforeAll, expect, test } from "vitest";

import { drawnGraph, outlineRows } from "./graphFrame.js";
import { clickUntil, PYTHON, until } from "./harness.js";
import { ROOT } from "./setup.mjs";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

/** The same small files that Python's tests read. */
const WRITE = "import sys; from pathlib import Path; from compiler_samples import *; root = Path(sys.argv[1]); write_debug_folder(root, write_model(root))";

let window: Window;

beforeAll(async () => {
  window = await sharedWindow({}, { settings: { "workbench.colorTheme": "Default Light Modern", "breadcrumbs.enabled": false }, viewport: { width: 1500, height: 850 } });
  const written = spawnSync(PYTHON, ["-c", WRITE, window.folder], { env: { ...process.env, PYTHONPATH: join(ROOT, "tests") }, encoding: "utf8" });
  if (written.status !== 0) throw new Error(written.stderr);
  await window.openFile("model.py");
  return () => window.screenshot("artifacts-last");
});

const graphFrame = (): Promise<Frame> => drawnGraph(window);

const openFromExplorer = (): Promise<void> => window.fromExplorer("torch_compile_debug", "Open Compiler Artifacts");

test("the menu of a folder opens its compile beside the source, kernels and all", async () => {
  await openFromExplorer();
  await window.page.locator(".tab", { hasText: "Graph: model__0" }).waitFor();
  const frame = await graphFrame();
  await until("the lowered nodes are there", async () => (await outlineRows(frame)).some((row) => row.startsWith("addmm")));
  await window.screenshot("artifacts-graph");
  expect(await window.notifications()).toEqual([]);
});

test("a node leads to its expression, and the cursor in the source to its kernels' nodes", async () => {
  const frame = await graphFrame();
  await frame.locator('[aria-label="Outline"]').click();
  await clickUntil("the expression is selected", frame.locator('[role="treeitem"]', { hasText: "addmm" }).first(), async () => (await window.page.locator(".editor-instance .selected-text").count()) > 0);
  await until("it is line 11", async () => (await window.page.locator(".line-numbers.active-line-number").first().innerText()) === "11");
  await frame.locator('[aria-label="Details"]').first().click();
  await until("the details name the kernel", async () => (await frame.locator(".details").innerText()).includes("extern_kernels.addmm"));
  await window.screenshot("artifacts-node");
  await window.page.locator(".editor-instance .view-line").first().click();
  await window.goTo(12, 20);
  await until("what comes from line 12 is lit", async () => (await outlineRows(frame, ".related")).length > 0);
});

test("a source that has changed since is told, and a folder of something else is refused in words", async () => {
  const path = join(window.folder, "torch_compile_debug");
  await window.replace(readFileSync(join(window.folder, "model.py"), "utf8"), "softmax(-1)", "softmax(0)");
  await window.save();
  await window.reload();
  const frame = await graphFrame();
  await until("the page says so", async () => (await frame.locator("body").innerText()).includes("has changed since: 1 line"));
  await window.page.locator(".tab", { hasText: "Graph: model__0" }).waitFor();
  rmSync(path, { recursive: true });
  mkdirSync(path);
  await openFromExplorer();
  await window.untilNotification("torch_compile_debug is empty");
});
