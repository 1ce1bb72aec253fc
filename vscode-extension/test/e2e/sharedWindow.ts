/**
 * One window of VS Code for all files of tests that need nothing but a folder and settings: a server, a browser, an extension host and a
 * daemon with torch take longer to start than most tests to run.
 *
 * Each use begins as in a new window, on a folder with its own files, under its own settings. What a window is like when it starts is
 * looked at by tests that have one of their own (`Workbench.start`).
 */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { PYTHON, type Settings, until, VIEWPORT, Workbench, write } from "./harness.js";
import type { Window } from "./window.js";

interface Use {
  /** The workspace's, beside those of every window. */
  readonly settings?: Settings;
  readonly viewport?: { readonly width: number; readonly height: number };
}

/** Commands with arguments, which no menu and no palette has, on keys: a window reads its keys when it starts. */
export const KEYS = {
  compareEncoder: { key: "Control+Alt+K", command: "inductorDebug.compare", args: { backend: "spyre", inject: ["drop-last-stick@12"], target: "Encoder" } },
  compareSlow: { key: "Control+Alt+J", command: "inductorDebug.compare", args: { backend: "spyre", target: "Slow" } },
  closeEditor: { key: "Control+Alt+Shift+F9", command: "workbench.action.revertAndCloseActiveEditor" },
  putAway: {
    key: "Control+Alt+Shift+F10",
    command: "runCommands",
    args: { commands: ["notifications.clearAll", "workbench.action.closePanel", "workbench.action.closeAuxiliaryBar", "workbench.view.explorer"] },
  },
} as const;

const BINDINGS = Object.values(KEYS).map((binding) => ({ ...binding, key: binding.key.toLowerCase().replace("control", "ctrl") }));

/** A window that is not emptied in this time is not used again. */
const PATIENCE = 60_000;

let bench: Promise<Workbench> | undefined;
let used: Window | undefined;
let uses = 0;

/** The window, with nothing open, on a folder with these files. */
export async function sharedWindow(files: Readonly<Record<string, string>>, { settings = {}, viewport = VIEWPORT }: Use = {}): Promise<Window> {
  const server = await (bench ??= Workbench.start({ "inductorDebug.interpreter": PYTHON }, {}, BINDINGS));
  const window = (used && (await emptied(used))) ?? (await server.open(server.folder({})));
  used = window;
  uses += 1;
  const title = `use ${String(uses)}`;
  write(join(window.folder, ".vscode", "settings.json"), JSON.stringify({ ...settings, "window.title": title }));
  await until("the settings count", async () => (await window.page.title()) === title);
  for (const [path, text] of Object.entries(files)) write(join(window.folder, path), text);
  await window.page.setViewportSize(viewport);
  return window;
}

/** The window, once nothing is open in it and nothing in its folder; undefined, and closed, where it does not come to that. */
async function emptied(window: Window): Promise<Window | undefined> {
  const { page, folder } = window;
  try {
    await until("nothing is asked any more", async () => {
      if ((await page.locator(".quick-input-widget, .monaco-dialog-box, .context-view .monaco-menu").filter({ visible: true }).count()) === 0) return true;
      await page.keyboard.press("Escape");
      return false;
    }, PATIENCE);
    for (const opened of await page.locator('.sidebar .pane-header[aria-expanded="true"]', { hasText: /^(Sizes|Tensors)/u }).all()) await opened.click();
    await until("no editor is open", async () => {
      if ((await page.locator(".editor-group-container .tab").count()) === 0) return true;
      await page.keyboard.press(KEYS.closeEditor.key);
      return false;
    }, PATIENCE);
    await page.keyboard.press(KEYS.putAway.key);
    await until("no pop-up is left", async () => (await window.notifications()).length === 0, PATIENCE);
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    return window;
  } catch (error) {
    console.error(`the window cannot be used again, another one is opened: ${String(error)}`);
    await window.close();
    return undefined;
  }
}
