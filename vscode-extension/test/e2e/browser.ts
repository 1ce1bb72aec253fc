/** The browser of all tests, and what tests of a page alone stand on: the colours that VS Code would give the page. */

import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium as playwright, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

import { chromium, ROOT } from "./setup.mjs";

/** Where the bundled pages are. */
export const OUT = join(ROOT, "vscode-extension", "out");

/** A name that runs, where a page takes names for markup. */
export const EVIL = `<img src=x onerror="globalThis.ran=1">`;

export const THEMES = {
  light: { class: "vscode-light", background: "#ffffff", foreground: "#3b3b3b", link: "#005fb8", button: "#005fb8", error: "#f85149", block: "#f2f2f2" },
  dark: { class: "vscode-dark", background: "#1f1f1f", foreground: "#cccccc", link: "#4daafc", button: "#0078d4", error: "#f85149", block: "#2b2b2b" },
  contrast: { class: "vscode-high-contrast", background: "#000000", foreground: "#ffffff", link: "#21a6ff", button: "#000000", error: "#f48771", block: "#000000" },
} as const;

const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

let launched: Promise<Browser> | undefined;

/** The one browser of this run, which ends with the process of the tests. Each window and each page has a context of its own in it. */
export function browser(): Promise<Browser> {
  const executablePath = chromium();
  return launched ??= playwright.launch({ ...(executablePath ? { executablePath } : {}), args: FLAGS });
}

/** A page for one test, which ends with it. */
export async function openPage(options: BrowserContextOptions): Promise<Page> {
  const context = await (await browser()).newContext(options);
  onTestFinished(() => context.close());
  return context.newPage();
}
