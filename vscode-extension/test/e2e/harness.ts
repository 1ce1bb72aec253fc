/**
 * A real VS Code for the end-to-end tests: code-server from `.e2e/`, the packaged extension in it, Chromium in front of it.
 *
 * A file of tests that looks at a start, at trust or at settings of the whole window has a server of its own (`Workbench.start`); the
 * others share one window (`sharedWindow.ts`). Nothing waits for a fixed time: `until` asks again and again, and on failure says what
 * it saw last.
 */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import type { BrowserContext } from "playwright-core";
import { inject } from "vitest";

import { browser } from "./browser.js";
import { sceneOf } from "./scene.js";
import { ENTRY, ROOT } from "./setup.mjs";
import { Window } from "./window.js";

export const PYTHON = join(ROOT, ".venv", "bin", "python");
const EXTENSION = join(ROOT, "vscode-extension");
/** What is installed: a package that was built before and is to be released, or the one that run.mjs has just made. */
const VSIX = resolve(ROOT, process.env["INDUCTOR_DEBUG_VSIX"] ?? join(EXTENSION, "out", "inductor-debug.vsix"));
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
  "workbench.editor.restoreViewState": false,
  "workbench.commandPalette.history": 0,
  "workbench.quickOpen.closeOnFocusLost": false, // on a busy machine what opens late takes the focus
  "chat.commandCenter.enabled": false,
  "telemetry.telemetryLevel": "off",
  "chat.disableAIFeatures": true, // newer ones open a chat beside the editors, which nothing here is about
  "workbench.secondarySideBar.defaultVisibility": "hidden",
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
  "editor.cursorBlinking": "solid",
  "editor.lightbulb.enabled": "on",
  "editor.fontFamily": "DejaVu Sans Mono",
};
export type Settings = Record<string, unknown>;
type Entries = [string, unknown][];

interface Manifest {
  readonly contributes: { readonly configuration: { readonly properties: Readonly<Record<string, { readonly scope?: string }>> } };
}

const MANIFEST = JSON.parse(readFileSync(join(EXTENSION, "package.json"), "utf8")) as Manifest;

/**
 * Whether a setting of ours is a machine's, which servers have a file of their own for. VS Code takes such from the user's file as well, but only
 * until that is written anew, as commands do that keep what they are told.
 */
function isOfMachine(name: string): boolean {
  return MANIFEST.contributes.configuration.properties[name]?.scope?.startsWith("machine") === true;
}

export const VIEWPORT = { width: 1280, height: 800 };

/** So long anything may take, in milliseconds: a busy machine is several times slower than any that one has at hand. */
const PATIENCE = 150_000;

/** How long to wait before one looks again, in milliseconds: what takes long is looked at less often, for each look takes time from it. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 200;

/** The windows that are open: what stands in them is told where one waited in vain. */
const windows = new Set<Window>();

/** Waits until `look` gives something true and returns it; throws with the last thing seen. */
export async function until<T>(what: string, look: () => Promise<T> | T, patience = PATIENCE): Promise<NonNullable<T>> {
  const end = Date.now() + patience;
  let last: unknown;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    try {
      const seen = await look();
      if (seen) return seen;
      last = seen;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) {
      const shown = patience < PATIENCE ? [] : await Promise.all([...windows].map(sceneOf));
      throw new Error([`timed out after ${patience} ms: ${what}; last seen: ${String(last)}`, ...shown].join("\n"));
    }
    await new Promise((resolve) => { setTimeout(resolve, pause); });
  }
}

/**
 * Presses a button until what it does is seen: on a busy machine what is redrawn under the pointer loses the press.
 * Only for what may be pressed twice, or is gone once it was pressed.
 */
export async function clickUntil(what: string, button: { click: (options: { timeout: number }) => Promise<void> }, seen: () => Promise<boolean | undefined> | boolean): Promise<void> {
  let pressed = false;
  await until(what, async () => {
    if (pressed && await seen()) return true;
    await button.click({ timeout: 10_000 });
    pressed = true;
    return until(what, seen, 10_000);
  });
}

/** Writes a file, with the folders it needs, in one step: whoever watches it never reads half of it. */
export function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const whole = join(inject("home"), "whole");
  writeFileSync(whole, text);
  renameSync(whole, path);
}

/** A new folder with these files; `name` may have spaces and any letters. */
export function folder(files: Readonly<Record<string, string>>, name = "project"): string {
  const made = join(mkdtempSync(join(inject("home"), "folder-")), name);
  mkdirSync(made);
  for (const [path, text] of Object.entries(files)) write(join(made, path), text);
  return made;
}

/** The folder in which the extension is installed, for all servers of this run. */
function installed(): string {
  const extensions = join(inject("home"), "extensions");
  if (existsSync(extensions)) return extensions;
  install(extensions, VSIX);
  return extensions;
}

function install(extensions: string, vsix: string): void {
  const made = spawnSync(process.execPath, [ENTRY, "--user-data-dir", join(inject("home"), "installing"), "--extensions-dir", extensions, "--config", configuration(), "--install-extension", vsix], { encoding: "utf8" });
  if (made.status !== 0) throw new Error(`${vsix} could not be installed: ${made.stdout}${made.stderr}`);
}

/**
 * Has windows that are opened from now on do what other people's extensions do in VS Code, which tests cannot install: run the cells of notebooks
 * in a Python process (`kernel`, as Jupyter's does), or debug Python with debugpy (`debugger`, as the Python Debugger does).
 */
export function installStandIn(name: "kernel" | "debugger"): void {
  const packed = mkdtempSync(join(inject("home"), `${name}-`));
  cpSync(join(EXTENSION, "test", "e2e", name), join(packed, "extension"), { recursive: true });
  renameSync(join(packed, "extension", "extension.vsixmanifest"), join(packed, "extension.vsixmanifest"));
  const types = ["json", "js", "vsixmanifest"].map((kind) => `<Default Extension=".${kind}" ContentType="text/plain"/>`);
  writeFileSync(join(packed, "[Content_Types].xml"), `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${types.join("")}</Types>`);
  const zipped = spawnSync(PYTHON, ["-m", "zipfile", "-c", `${name}.vsix`, "extension", "extension.vsixmanifest", "[Content_Types].xml"], { cwd: packed, encoding: "utf8" });
  if (zipped.status !== 0) throw new Error(`${name} could not be packed: ${zipped.stderr}`);
  install(installed(), join(packed, `${name}.vsix`));
}

/** code-server's own file of settings, empty: else it writes one into the user's home. */
function configuration(): string {
  const path = join(inject("home"), "config.yaml");
  writeFileSync(path, "");
  return path;
}

export class Workbench {
  private readonly contexts: BrowserContext[] = [];

  private constructor(
    private readonly user: string,
    private readonly port: number,
    private readonly server: ChildProcess,
  ) {}

  /** Starts a server. `settings` are the user's, added to those that keep the window quiet; `environment` likewise; `keys` are key bindings, `level` is that of all logs. */
  static async start(settings: Settings = {}, environment: NodeJS.ProcessEnv = {}, keys: readonly unknown[] = [], level = "debug"): Promise<Workbench> {
    const user = mkdtempSync(join(inject("home"), "user-"));
    const port = await freePort();
    const quiet = ["--auth", "none", "--disable-telemetry", "--disable-update-check", "--disable-getting-started-override", "--log", level];
    const places = ["--user-data-dir", user, "--extensions-dir", installed(), "--config", configuration(), "--bind-addr", `127.0.0.1:${port}`];
    const [ofMachine, others] = [true, false].map((wanted) => Object.entries(settings).filter(([name]) => isOfMachine(name) === wanted)) as [Entries, Entries];
    write(join(user, "Machine", "settings.json"), JSON.stringify(Object.fromEntries(ofMachine)));
    write(join(user, "User", "settings.json"), JSON.stringify({ ...SETTINGS, ...Object.fromEntries(others) }));
    write(join(user, "User", "keybindings.json"), JSON.stringify(keys));
    const server = spawn(process.execPath, [ENTRY, ...places, ...quiet], {
      stdio: "ignore",
      detached: true,
      env: { ...process.env, CODE_SERVER_PARENT_PID: undefined, ...environment },
    });
    const listed = join(inject("home"), "servers", String(server.pid));
    write(listed, ""); // until it has ended: whatever becomes of these tests, it is ended after them
    server.once("exit", () => { rmSync(listed, { force: true }); });
    await until("code-server answers", () => fetch(`http://127.0.0.1:${port}/healthz`).then((response) => response.ok, () => false));
    return new Workbench(user, port, server);
  }

  folder = folder;
  write = write;

  text(path: string): string {
    return readFileSync(path, "utf8");
  }

  /** Opens a window on a folder, or on a `.code-workspace` file. */
  async open(path: string): Promise<Window> {
    const context = await (await browser()).newContext({
      viewport: VIEWPORT,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    this.contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const kind = path.endsWith(".code-workspace") ? "workspace" : "folder";
    await page.goto(`http://127.0.0.1:${this.port}/?${kind}=${encodeURIComponent(path)}`);
    await page.waitForSelector(".monaco-workbench .part.statusbar");
    const window = new Window(page, path, this.user);
    windows.add(window);
    page.once("close", () => { windows.delete(window); });
    return window;
  }

  async close(): Promise<void> {
    for (const context of this.contexts) await context.close();
    const { pid } = this.server;
    if (pid === undefined || this.server.exitCode !== null) return;
    process.kill(-pid, "SIGTERM");
    const ended = (): boolean => this.server.exitCode !== null || this.server.signalCode !== null;
    await until("code-server ends", ended, 10_000).catch(() => process.kill(-pid, "SIGKILL"));
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
