/**
 * One window, in the words of its user: open a file, edit a line, run a command, look at what is underlined.
 *
 * What is underlined is read from the screen, character by character under the squiggle, so the tests see what a person sees.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Locator, Page } from "playwright-core";

import { SCREENSHOTS, until } from "./harness.js";
import { type Squiggle, squigglesOnScreen } from "./squiggles.js";

export class Window {
  constructor(
    readonly page: Page,
    readonly folder: string,
    private readonly userData: string,
  ) {}

  async openFile(name: string): Promise<void> {
    const base = name.split("/").at(-1) ?? name;
    const path = join(this.folder, name);
    // By its whole path: a window that was used before may still list a file of that name which is gone.
    await this.pick("Control+P", existsSync(path) ? path : name, this.page.locator(`.quick-input-list .monaco-list-row[aria-label^="${base}"]`));
    await this.page.locator(`.editor-group-container.active .tab.active[data-resource-name="${base}"]`).waitFor();
    await this.page.locator(".editor-instance .view-line").first().waitFor();
  }

  /** Opens a file by its absolute path, in the workspace or not. */
  async openPath(path: string): Promise<void> {
    const base = path.split("/").at(-1) ?? path;
    const input = this.page.locator(".quick-input-widget input").first();
    const row = this.page.locator(".quick-input-list .monaco-list-row", { hasText: base }).first();
    await until(`${path} is chosen in the dialog`, async () => {
      await this.run("File: Open File...");
      try {
        await until("the dialog has its folder", async () => (await input.inputValue()).startsWith("/"), 10_000);
        await input.fill(path);
        await row.click({ timeout: 10_000 });
        await this.page.locator(`.tab.active[data-resource-name="${base}"]`).waitFor({ timeout: 10_000 }); // a click while the dialog looks at folders is lost
        return true;
      } catch (error) {
        await this.page.keyboard.press("Escape");
        throw error;
      }
    });
  }

  /** Closes the tab whose label has this text. */
  async closeTab(label: string): Promise<void> {
    const tab = this.page.locator(`.tab[aria-label*="${label}"]`).first();
    await tab.locator(".tab-actions .action-label").click();
    await tab.waitFor({ state: "detached" });
  }

  /** Whether some webview shows a text. */
  async frameText(pattern: RegExp): Promise<boolean> {
    for (const frame of this.page.frames()) {
      if (frame === this.page.mainFrame()) continue;
      const text = await frame.locator("body").innerText({ timeout: 500 }).catch(() => "");
      if (pattern.test(text)) return true;
    }
    return false;
  }

  /** Runs a command of the palette by its full title. */
  async run(title: string): Promise<void> {
    await this.pick("F1", `>${title}`, this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }));
  }

  /** Chooses an entry of the explorer's menu of a file or folder. */
  async fromExplorer(name: string, entry: string): Promise<void> {
    const row = this.page.locator(".explorer-folders-view .monaco-list-row", { hasText: name }).first();
    await row.waitFor();
    await row.click({ button: "right" });
    const item = this.page.locator(".context-view .action-label, .monaco-menu .action-label", { hasText: entry }).first();
    await item.waitFor();
    // A menu that has just opened takes no click yet, so that the one that opened it does not choose.
    await until("the menu takes the click", async () => {
      await item.click({ timeout: 1000 }).catch(() => undefined);
      return !(await item.isVisible());
    });
  }

  /** Reloads as a user does: VS Code keeps its state first, which it may not have done when the browser reloads. */
  async reload(): Promise<void> {
    const loaded = this.page.waitForEvent("load");
    await this.run("Developer: Reload Window");
    await loaded;
    await this.page.waitForSelector(".monaco-workbench .part.statusbar");
  }

  /** Opens the palette, or whatever a key opens, and clicks the first of these rows; again where a pop-up that goes away took the focus, which closes it. */
  private async pick(key: string, filter: string, rows: Locator): Promise<void> {
    await until(`${filter} is picked`, async () => {
      await this.filter(key, filter);
      try {
        await rows.first().click({ timeout: 5_000 });
      } catch (error) {
        await this.page.keyboard.press("Escape"); // one that is open keeps the files that it has found
        throw error;
      }
      return true;
    });
  }

  private async filter(key: string, filter: string): Promise<void> {
    await until(`there is a filter ${filter}`, async () => {
      await this.page.keyboard.press(key);
      await this.page.locator(".quick-input-widget input").first().fill(filter, { timeout: 2_000 });
      return true;
    });
  }

  /** The entries of the palette for a filter. */
  async palette(filter: string): Promise<string[]> {
    await this.filter("F1", `>${filter}`);
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    await rows.first().waitFor();
    const labels = await rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""));
    await this.page.keyboard.press("Escape");
    return labels;
  }

  /** Waits until the palette offers each of these commands, which stand in it by their full titles. */
  async untilOffered(titles: readonly string[]): Promise<void> {
    await this.filter("F1", ">");
    for (const title of titles) {
      await this.page.locator(".quick-input-widget input").first().fill(`>${title}`);
      await this.page.locator(`.quick-input-list .monaco-list-row:is([aria-label="${title}"], [aria-label^="${title},"])`).waitFor();
    }
    await this.page.keyboard.press("Escape");
  }

  /** Puts the cursor to a one-based line and column. */
  async goTo(line: number, column = 1): Promise<void> {
    const there = this.page.locator(`#status\\.editor\\.selection[aria-label="Ln ${line}, Col ${column}"]`);
    await until(`the cursor is in line ${line}, column ${column}`, async () => {
      await this.filter("Control+G", `:${line}:${column}`);
      await this.accept({ timeout: 5_000 });
      await there.waitFor({ timeout: 5_000 });
      return true;
    });
    await this.page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  }

  /** Presses Enter in the question that is open, and nowhere else: what opens late may have the focus. */
  async accept(patience: { timeout?: number } = {}): Promise<void> {
    await this.page.locator(".quick-input-widget input:not([type=checkbox])").filter({ visible: true }).first().press("Enter", patience);
  }

  /** Replaces `before`, which must stand once in the file, by `after`, in one edit. Returns the new text. */
  async replace(text: string, before: string, after: string): Promise<string> {
    if (text.split(before).length !== 2) throw new Error(`${before} does not stand exactly once in the text`);
    const widget = this.page.locator(".find-widget.visible");
    const find = widget.locator(".find-part textarea");
    await until("there is something to replace", async () => { // a pop-up that goes away may take the key, or the focus
      await this.page.locator(".editor-instance .view-line").first().click({ timeout: 5_000 });
      await this.page.keyboard.press("Control+H");
      await find.fill(before, { timeout: 5_000 });
      await widget.locator(".replace-part textarea").fill(after, { timeout: 5_000 });
      await widget.locator(".matchesCount", { hasText: "of 1" }).waitFor({ timeout: 5_000 });
      return true;
    });
    const found = widget.locator(".matchesCount", { hasText: "of 1" });
    await until("it is replaced", async () => {
      await widget.locator(".replace-part textarea").press("Control+Alt+Enter", { timeout: 5_000 });
      if (!after.includes(before)) await found.waitFor({ state: "detached", timeout: 5_000 }); // else it is found again
      return true;
    });
    await until("the widget is closed", async () => {
      if (await widget.count() > 0) await find.press("Escape", { timeout: 5_000 });
      return await widget.count() === 0;
    });
    return text.replace(before, after);
  }

  /** Saves what is in the active tab, again where something else had the key. */
  async save(): Promise<void> {
    await until("it is saved", async () => {
      await this.page.keyboard.press("Control+S");
      await this.page.locator(".tab.active.dirty").waitFor({ state: "detached", timeout: 10_000 });
      return true;
    });
  }

  /** What is underlined in the editor, from top to bottom, as it stands on the screen. */
  squiggles(): Promise<Squiggle[]> {
    return this.page.evaluate(squigglesOnScreen);
  }

  /** Waits until exactly this is underlined, as line and text. What is seen meanwhile does not count: it is on its way. */
  async untilUnderlined(wanted: readonly (readonly [number, string])[]): Promise<void> {
    let seen = "";
    const text = JSON.stringify(wanted);
    await until(`underlined: ${text}`, async () => {
      seen = JSON.stringify((await this.squiggles()).map(({ line, text: under }) => [line, under]));
      return seen === text;
    }).catch((error: unknown) => { throw new Error(`${String(error)}; underlined: ${seen}`); });
  }

  /** What stands above the lines, from top to bottom: one text for each lens. */
  lenses(): Promise<string[]> {
    return this.page.locator(".editor-instance .codelens-decoration").evaluateAll((all) =>
      all
        .map((element) => ({ top: element.getBoundingClientRect().top, text: element.textContent }))
        .sort((left, right) => left.top - right.top)
        .map(({ text }) => text.replaceAll("\u00a0", " ")),
    );
  }

  /** The lines on the screen, with what is shown in them beside the text, from top to bottom. */
  lines(): Promise<string[]> {
    return this.page.locator(".editor-instance .view-line").evaluateAll((all) =>
      all
        .map((element) => ({ top: element.getBoundingClientRect().top, text: element.textContent }))
        .sort((left, right) => left.top - right.top)
        .map(({ text }) => text.replaceAll("\u00a0", " ")),
    );
  }

  /** Shows the hover at a one-based line and column, as the keyboard does, and returns its text. */
  async hover(line: number, column: number, wanted: RegExp): Promise<string> {
    const content = this.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content").first();
    return until(`a hover with ${String(wanted)}`, async () => {
      await this.goTo(line, column);
      await this.run("Show or Focus Hover");
      const said = async (): Promise<string> => (await content.innerText({ timeout: 5_000 })).replaceAll("\u00a0", " ");
      try {
        return await until("it has loaded", async () => { // parts of it come one by one
          const text = await said();
          return wanted.test(text) ? text : undefined;
        }, 5_000);
      } catch (error) {
        await this.page.keyboard.press("Escape");
        throw error;
      }
    });
  }

  /** Opens the menu of the lightbulb at a one-based line and column until it has an entry, and chooses that one. */
  async fix(line: number, column: number, title: string): Promise<string[]> {
    const rows = this.page.locator(".action-widget .monaco-list-row.action");
    const entries = await until(`an action ${title}`, async () => {
      await this.goTo(line, column);
      await this.page.keyboard.press("Control+.");
      await rows.first().waitFor({ timeout: 10_000 });
      const titles = await rows.allInnerTexts();
      if (titles.some((text) => text.includes(title))) return titles;
      await this.page.keyboard.press("Escape");
      await rows.first().waitFor({ state: "detached" });
      return undefined;
    });
    await this.screenshot(`action-${title.replaceAll(/\W+/gu, "-").toLowerCase()}`);
    const chosen = this.page.locator(".action-widget .monaco-list-row.action.focused", { hasText: title });
    await until("the action is focused", async () => {
      if (await chosen.isVisible()) return true;
      await this.page.keyboard.press("ArrowDown");
      return false;
    });
    await this.page.keyboard.press("Enter");
    await rows.first().waitFor({ state: "detached" });
    return entries;
  }

  /** The text of every pop-up on the screen. */
  notifications(): Promise<string[]> {
    return this.page.locator(".notification-toast .notification-list-item-message").allInnerTexts();
  }

  async untilNotification(part: string | RegExp): Promise<string> {
    return until(`a notification with ${String(part)}`, async () => {
      const all = await this.notifications();
      return all.find((text) => (typeof part === "string" ? text.includes(part) : part.test(text)));
    });
  }

  async clearNotifications(): Promise<void> {
    await this.run("Notifications: Clear All Notifications");
    await until("they are gone", async () => (await this.notifications()).length === 0);
  }

  /** The entries of the language status, as a screen reader says them. */
  async status(): Promise<string> {
    return (await this.page.locator("#status\\.languageStatus").getAttribute("aria-label")) ?? "";
  }

  /** Opens the entries of the language status, as the braces in the status bar show them, and waits until they say all that is wanted. */
  async showStatus(...wanted: RegExp[]): Promise<void> {
    await until(`the status shows ${wanted.join(", ")}`, async () => {
      await this.page.mouse.move(0, 0);
      await this.page.locator("#status\\.languageStatus").hover();
      const entries = this.page.locator(".hover-language-status");
      await entries.first().waitFor({ timeout: 5_000 });
      const text = (await entries.allInnerTexts()).join("\n");
      return wanted.every((part) => part.test(text));
    });
  }

  /** The rows of the view "Targets". */
  async tree(): Promise<string[]> {
    const rows = this.page.locator(".pane-body .monaco-list-row");
    return rows.evaluateAll((all) => all.map((row) => row.getAttribute("aria-label") ?? ""));
  }

  async screenshot(name: string): Promise<void> {
    mkdirSync(SCREENSHOTS, { recursive: true });
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), animations: "disabled" }); // what fades in is there
  }

  /** What the extension has written to its output in the newest session that has this folder's window. */
  output(): string {
    const logs = join(this.userData, "logs");
    const files = walk(logs).filter((path) => path.endsWith("Inductor Debug.log"));
    const texts = files.map((path) => ({ path, time: statSync(dirname(path)).birthtimeMs }));
    const newest = texts.sort((left, right) => left.time - right.time).at(-1);
    return newest ? readFileSync(newest.path, "utf8") : "";
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}

function walk(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch {
    return [];
  }
}
