/** The manifest, the code and the texts agree with each other. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const EXTENSION = join(import.meta.dirname, "..", "..");
const read = (...path: string[]): string => readFileSync(join(EXTENSION, ...path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  contributes: {
    commands: { command: string }[];
    configuration: { properties: Record<string, { markdownDescription?: string; scope?: string; default?: unknown }> };
    walkthroughs: { id: string; steps: { media: { markdown: string } }[] }[];
  };
  capabilities: { untrustedWorkspaces: { supported: unknown } };
};
const texts = JSON.parse(read("package.nls.json")) as Record<string, string>;
const sources = readdirSync(join(EXTENSION, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => read("src", name));

test("every text the manifest asks for is there, and none is left over", () => {
  const asked = new Set([...read("package.json").matchAll(/%([\w.]+)%/gu)].map((match) => match[1]));
  expect([...asked].sort()).toEqual(Object.keys(texts).sort());
});

test("every command of the manifest is registered", () => {
  const code = sources.join("\n");
  for (const { command } of manifest.contributes.commands) expect(code).toContain(`registerCommand("${command}"`);
});

test("no command has the name of one of the daemon's, which the language client registers itself", () => {
  const wire = JSON.parse(read("..", "shared_schema", "generated", "wire.schema.json")) as { $defs: { Commands: { properties: object } } };
  const theirs = Object.keys(wire.$defs.Commands.properties);
  expect(theirs.length).toBeGreaterThan(5);
  expect(manifest.contributes.commands.map(({ command }) => command).filter((command) => theirs.includes(command))).toEqual([]);
});

test("every setting has a description, a scope and a default", () => {
  for (const [name, setting] of Object.entries(manifest.contributes.configuration.properties)) {
    expect([name, setting.markdownDescription !== undefined, setting.scope !== undefined, "default" in setting]).toEqual([
      name, true, true, true,
    ]);
  }
});

test("every page that is bundled is packaged", () => {
  const packaged = read(".vscodeignore").split("\n");
  const pages = [...read("scripts", "pages.mjs").matchAll(/(?:writePage\("|paged\(\{ name: ")(\w+)"/gu)].map((match) => match[1] ?? "").filter((page) => page !== "browser");
  expect(pages.length).toBeGreaterThan(4);
  for (const page of pages) expect(packaged).toEqual(expect.arrayContaining([`!out/${page}.js`, `!out/${page}.css`]));
});

test("the walkthrough has at most six steps, each with its page", () => {
  for (const { steps } of manifest.contributes.walkthroughs) {
    expect(steps.length).toBeLessThanOrEqual(6);
    for (const { media } of steps) expect(existsSync(join(EXTENSION, media.markdown))).toBe(true);
  }
});

test("the walkthrough of the guided demo has the steps of the command, and says what they say", () => {
  const result = spawnSync(process.execPath, [join(EXTENSION, "scripts", "walkthrough.mjs"), "--check"], { encoding: "utf8" });
  expect(result.stderr).toBe("");
  const demo = JSON.parse(read("..", "daemon", "inductor_debug", "cli", "demo", "steps.json")) as { steps: { id: string; editor: { command: string } }[] };
  const walkthrough = manifest.contributes.walkthroughs.find(({ id }) => id === "demo");
  expect(walkthrough?.steps).toEqual(demo.steps.map(({ id }) => ({
    id, title: `%demo.${id}.title%`, description: `%demo.${id}.description%`, media: { markdown: `walkthrough/demo/${id}.md` },
    completionEvents: [`onContext:inductorDebug.demo.${id}`],
  })));
  const known = manifest.contributes.commands.map(({ command }) => command);
  expect(demo.steps.map(({ editor }) => editor.command).filter((command) => !known.includes(command))).toEqual(["editor.action.quickFix"]); // VS Code's own
});

test("nothing starts in a workspace that is not trusted", () => {
  expect(manifest.capabilities.untrustedWorkspaces.supported).toBe(false);
});

test("the bundle for translators is up to date", () => {
  const result = spawnSync(process.execPath, [join(EXTENSION, "scripts", "l10n.mjs"), "--check"], { encoding: "utf8" });
  expect(result.stderr).toBe("");
});
