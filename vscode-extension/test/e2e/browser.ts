/** What tests of a page alone stand on: a browser without VS Code, and the colours that VS Code would give the page. */

import { join } from "node:path";
import { type Browser, chromium as playwright } from "playwright-core";

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

export function launched(): Promise<Browser> {
  const executablePath = chromium();
  return playwright.launch({ ...(executablePath ? { executablePath } : {}), args: ["--no-sandbox", "--disable-gpu"] });
}
