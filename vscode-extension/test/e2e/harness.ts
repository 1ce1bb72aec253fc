/**
 * A real VS Code for the end-to-end tests: code-server from `.e2e/`, the packaged extension in it, Chromium in front of it.
 *
 * One server and one browser serve a whole test file; every test opens a window on a folder of its own. Nothing waits for a
 * fixed time: `until` asks again and again, and on failure says what it saw last.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium as playwright } from "playwright-core";

import { chromium, ENTRY, ROOT } from "./setup.mjs";
import { Window } from "./window.js";

export const PYTHON = join(ROOT, ".venv", "bin", "python");
const EXTENSION = join(ROOT, "vscode-extension");
const VSIX = join(EXTENSION, "out", "inductor-debug.vsix");
export const SCREENSHOTS = join(EXTENSION, "out", "screenshots");

/** What every window starts with: nothing that moves, pops up or completes by itself. */
const SETTINGS = {
  // The models of these tests were written for a device that lacks float64; other tests look at what everybody is told.
  "inductorDebug.accelerator": "mock",
  "security.workspace.trust.enabled": false,
  "workbench.startupEditor": "none",
  "workbench.reduceMotion": "on",
  "workbench.tips.enabled": false,
  "workbench.editor.enablePreview": false,
  "chat.commandCenter.enabled": false,
  "telemetry.telemetryLevel": "off",
  "extensions.ignoreRecommendations": true,
  "extensions.autoCheckUpdates": false,
  "git.enabled": false,
  "files.autoSave": "off",
  "files.hotExit": "off",
  "window.confirmBeforeClose": "never",
  "editor.autoClosingBrackets": "never",
  "editor.autoClosingQuotes": "never",
  "editor.autoIndent": "none",
  "editor.quickSuggestions": { other: "off", comments: "off", strings: "off" },
  "editor.suggestOnTriggerCharacters": false,
  "editor.wordBasedSuggestions": "off",
  "editor.minimap.enabled": false,
  "editor.lightbulb.enabled": "on",
  "editor.fontFamily": "DejaVu Sans Mono",
};
const CHROMIUM_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export type Settings = Record<string, unknown>;

/** So long anything may take, in milliseconds: a busy machine is several times slower than any that one has at hand. */
const PATIENCE = 150_000;

/** Waits until `look` gives something true and returns it; throws with the last thing seen. */
export async function until<T>(what: string, look: () => Promise<T> | T, patience = PATIENCE): Promise<NonNullable<T>> {
  const end = Date.now() + patience;
  let last: unknown;
  for (;;) {
    try {
      const seen = await look();
      if (seen) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`timed out after ${patience} ms: ${what}; last seen: ${String(last)}`);
    await new Promise((resolve) => { setTimeout(resolve, 40); });
  }
}

export class Workbench {
  private readonly windows: Window[] = [];

  private constructor(
    private readonly home: string,
    private readonly port: number,
    private readonly server: ChildProcess,
    private readonly browser: Browser,
  ) {}

  /** Starts everything. `settings` are the user's, added to those that keep the window quiet; `environment` likewise; `keys` are key bindings, `level` is that of all logs. */
  static async start(settings: Settings = {}, environment: NodeJS.ProcessEnv = {}, keys: readonly unknown[] = [], level = "debug"): Promise<Workbench> {
    const home = mkdtempSync(join(tmpdir(), "inductor-debug-e2e-"));
    const [user, extensions] = [join(home, "user"), join(home, "extensions")];
    mkdirSync(join(user, "User"), { recursive: true });
    writeFileSync(join(user, "User", "settings.json"), JSON.stringify({ ...SETTINGS, ...settings }));
    writeFileSync(join(user, "User", "keybindings.json"), JSON.stringify(keys));
    const common = ["--user-data-dir", user, "--extensions-dir", extensions, "--config", join(home, "config.yaml")];
    writeFileSync(join(home, "config.yaml"), "");
    const installed = spawnSync(process.execPath, [ENTRY, ...common, "--install-extension", VSIX], { encoding: "utf8" });
    if (installed.status !== 0) throw new Error(`the VSIX could not be installed: ${installed.stdout}${installed.stderr}`);
    const port = await freePort();
    const quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override", "--log", level];
    const server = spawn(process.execPath, [ENTRY, ...common, ...quiet, "--bind-addr", `127.0.0.1:${port}`], {
      stdio: "ignore",
      detached: true,
      env: { ...process.env, CODE_SERVER_PARENT_PID: undefined, ...environment },
    });
    const executablePath = chromium();
    const browser = await playwright.launch({ ...(executablePath ? { executablePath } : {}), args: CHROMIUM_FLAGS });
    await until("code-server answers", () => fetch(`http://127.0.0.1:${port}/healthz`).then((response) => response.ok, () => false));
    return new Workbench(home, port, server, browser);
  }

  /** A folder with these files; `name` may have spaces and any letters. */
  folder(files: Readonly<Record<string, string>>, name = "project"): string {
    const folder = join(mkdtempSync(join(this.home, "folder-")), name);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }

  /** Writes a file, with the folders it needs, in one step: whoever watches it never reads half of it. */
  write(path: string, text: string): void {
    mkdirSync(join(path, ".."), { recursive: true });
    const whole = join(this.home, "whole");
    writeFileSync(whole, text);
    renameSync(whole, path);
  }

  text(path: string): string {
    return readFileSync(path, "utf8");
  }

  /** Opens a window on a folder, or on a `.code-workspace` file. */
  async open(path: string): Promise<Window> {
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const kind = path.endsWith(".code-workspace") ? "workspace" : "folder";
    await page.goto(`http://127.0.0.1:${this.port}/?${kind}=${encodeURIComponent(path)}`);
    await page.waitForSelector(".monaco-workbench .part.statusbar");
    const window = new Window(page, path, join(this.home, "user"));
    this.windows.push(window);
    return window;
  }

  async close(): Promise<void> {
    await this.browser.close();
    if (this.server.pid !== undefined) {
      try {
        process.kill(-this.server.pid, "SIGTERM");
      } catch {
        // it has ended already
      }
      await until("code-server ends", () => this.server.exitCode !== null || this.server.signalCode !== null, 10_000).catch(() => {
        if (this.server.pid !== undefined) process.kill(-this.server.pid, "SIGKILL");
      });
    }
    if (process.env["INDUCTOR_DEBUG_E2E_KEEP"] === undefined) rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => { resolve(typeof address === "object" && address ? address.port : 0); });
    });
  });
}
