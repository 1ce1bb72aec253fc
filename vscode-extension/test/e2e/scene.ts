/** What stands in a window, in short: for whoever reads why a test failed on a machine that keeps no pictures. Never throws. */

import type { Frame } from "playwright-core";

import type { Window } from "./window.js";

/** How much of each text and of the extension's output is told. */
const LONGEST_TEXT = 300;
const LINES_OF_OUTPUT = 15;

export async function sceneOf(window: Window): Promise<string> {
  const { page, folder } = window;
  const texts = (selector: string): Promise<string[]> => page.locator(selector).filter({ visible: true }).allInnerTexts();
  const textOf = (frame: Frame): Promise<string> => frame.locator("body").innerText({ timeout: 2_000 }).catch(String);
  const parts: readonly (readonly [string, () => Promise<readonly string[]>])[] = [
    ["tabs", () => texts(".tab.active")],
    ["question", () => texts(".quick-input-widget, .monaco-dialog-box, .action-widget")],
    ["pop-ups", () => window.notifications()],
    ["pages", () => Promise.all(page.frames().filter((frame) => frame !== page.mainFrame() && !frame.url().includes("webWorkerExtensionHost")).map(textOf))],
  ];
  const said = parts.map(async ([name, look]) => {
    const seen = (await look().catch((error: unknown) => [String(error)])).map((text) => text.replaceAll(/\s+/gu, " ").trim()).filter(Boolean);
    return `  ${name}: ${seen.map((text) => text.slice(0, LONGEST_TEXT)).join(" | ")}`;
  });
  return [`in the window of ${folder}:`, ...(await Promise.all(said)), "  output:", ...window.output().trimEnd().split("\n").slice(-LINES_OF_OUTPUT)].join("\n");
}
