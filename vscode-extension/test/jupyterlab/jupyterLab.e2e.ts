/**
 * A real JupyterLab in a real browser: cells are run as people run them, and what they are told stands under the cell, at the lines of their cells.
 */

import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { expect, inject, onTestFinished, test } from "vitest";

import { openPage } from "../e2e/browser.js";
import { PYTHON, SCREENSHOTS, until } from "../e2e/harness.js";
import { ROOT } from "../e2e/setup.mjs";

const LAB = join(ROOT, ".e2e", "jupyterlab");
const TOKEN = "a-token-of-this-test";
const CELLS = [
  "%load_ext inductor_debug",
  "import torch\nfrom torch import nn\nWIDTH = 4",
  `%%compile_check --graph
# inductor-debug: inputs=(torch.randn(2, 8),)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, WIDTH)

    def forward(self, x):
        x = torch.relu(self.layer(x))
        print(x)
        return x.double()`,
  "from inductor_debug import KernelDiffHarness\nKernelDiffHarness(Net(), (torch.randn(2, 8),), test_backend='aot_eager').compare()",
  "%%compile_check --no-run\nraise_if_run = open('was_run', 'w')",
];

function notebook(): string {
  const cells = CELLS.map((source) => ({ cell_type: "code", metadata: {}, outputs: [], execution_count: null, source }));
  const kernelspec = { name: "python3", display_name: "Python 3", language: "python" };
  return JSON.stringify({ cells, metadata: { kernelspec, language_info: { name: "python" } }, nbformat: 4, nbformat_minor: 4 });
}

/** Starts JupyterLab on a folder, with nothing of the user's own in it; its address. */
async function startLab(folder: string): Promise<string> {
  const home = mkdtempSync(join(inject("home"), "jupyter-"));
  const port = await new Promise<number>((found) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = probe.address() as { port: number };
      probe.close(() => { found(free); });
    });
  });
  const environment = {
    HOME: home, JUPYTER_CONFIG_DIR: home, JUPYTER_DATA_DIR: home, JUPYTER_RUNTIME_DIR: home, IPYTHONDIR: home, XDG_CACHE_HOME: home,
    JUPYTERLAB_DIR: join(LAB, "share", "jupyter", "lab"), JUPYTER_PATH: join(LAB, "share", "jupyter"), JUPYTER_CONFIG_PATH: join(LAB, "etc", "jupyter"),
    PYTHONPATH: [LAB, process.env["PYTHONPATH"]].filter(Boolean).join(delimiter), JUPYTER_PREFER_ENV_PATH: "0",
  };
  const words = ["--no-browser", "--allow-root", `--ServerApp.port=${String(port)}`, `--IdentityProvider.token=${TOKEN}`, `--ServerApp.root_dir=${folder}`, "--LabApp.news_url=", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"];
  const server = spawn(PYTHON, ["-m", "jupyterlab", ...words], { cwd: folder, stdio: ["ignore", "ignore", "pipe"], detached: true, env: { ...process.env, ...environment } });
  let said = "";
  server.stderr.on("data", (data: Buffer) => { said += data.toString(); });
  const ended = new Promise<void>((resolve) => { server.once("exit", () => { resolve(); }); });
  onTestFinished(async () => {
    process.kill(-(server.pid ?? 0), "SIGTERM");
    await ended;
  });
  const address = `http://127.0.0.1:${String(port)}`;
  await until("JupyterLab answers", () => fetch(`${address}/api/status?token=${TOKEN}`).then((response) => response.ok, () => {
    if (server.exitCode !== null) throw new Error(said);
    return false;
  }));
  return `${address}/lab/tree/model.ipynb?token=${TOKEN}`;
}

/** Runs the cells one after the other, as Shift+Enter does; a kernel that has only just begun may lose what it is sent, and is sent it again. */
async function runCells(page: Page, cells: Locator): Promise<void> {
  for (let at = 0; at < CELLS.length; at += 1) {
    const prompt = cells.nth(at).locator(".jp-InputPrompt");
    await until(`cell ${String(at + 1)} has run`, async () => {
      if (/\[\s\]/u.test((await prompt.textContent()) ?? "")) {
        await cells.nth(at).locator(".jp-InputArea-editor").click();
        await page.keyboard.press("Shift+Enter");
        await prompt.filter({ hasText: /\[[*\d]/u }).waitFor({ timeout: 5000 }).catch(() => undefined);
      }
      return /\[\d+\]/u.test((await prompt.textContent()) ?? "");
    });
  }
}

test("findings stand under the cell at its own lines, with graphs; comparisons are tables; nothing runs that was not run", async () => {
  const folder = mkdtempSync(join(inject("home"), "notebooks-"));
  writeFileSync(join(folder, "model.ipynb"), notebook());
  const address = await startLab(folder);
  mkdirSync(SCREENSHOTS, { recursive: true });
  const page = await openPage({ viewport: { width: 1200, height: 1700 } });
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  await page.goto(address);
  const cells = page.locator(".jp-Notebook .jp-CodeCell");
  await until("the notebook is there", async () => (await cells.count()) === CELLS.length);
  await until("the kernel is idle", () => page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first().isVisible());
  try {
    await runCells(page, cells);
  } finally {
    await page.screenshot({ path: join(SCREENSHOTS, "jupyterlab.png") });
  }

  await cells.nth(2).locator(".jp-InputArea").scrollIntoViewIfNeeded();
  await page.screenshot({ path: join(SCREENSHOTS, "jupyterlab-findings.png") });
  const checked = cells.nth(2).locator(".jp-OutputArea");
  const text = await checked.innerText();
  expect(text).toContain("graph-break");
  expect(text).toContain("print(x)");
  expect(text).toMatch(/cell 3, line 10/u);
  expect(await checked.locator("svg, img").count()).toBeGreaterThan(0);
  const compared = cells.nth(3).locator(".jp-OutputArea");
  expect(await compared.locator("table").count()).toBeGreaterThan(0);
  expect(await compared.innerText()).toMatch(/pass/u);
  expect(await until("a listing", async () => (await fetch(`${new URL(address).origin}/api/contents?token=${TOKEN}`)).text())).not.toContain("was_run");
  expect(faults).toEqual([]);
});
