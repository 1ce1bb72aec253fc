// Makes the walkthrough of the guided demo of the steps that `inductor-debug demo` has (`daemon/inductor_debug/cli/demo/steps.json`): its texts in
// `package.nls.json`, which `package.json` names, and the page of each step. `--check` says what is stale.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const EXTENSION = join(dirname(fileURLToPath(import.meta.url)), "..");
const DEMO = JSON.parse(readFileSync(join(EXTENSION, "..", "daemon", "inductor_debug", "cli", "demo", "steps.json"), "utf8"));
const TEXTS = "package.nls.json";

const shown = (word) => (/[^\w@%+=:,./-]/u.test(word) ? `'${word}'` : word);
const button = ({ id, editor }) => `[${editor.label}](command:inductorDebug.demoStep?${encodeURIComponent(JSON.stringify([id]))})`;
const pageOf = ({ look, arguments: words }) => `Look at: ${look}\n\nThe same in a terminal:\n\n\`\`\`console\n$ inductor-debug ${words.map(shown).join(" ")}\n\`\`\`\n`;

function files() {
  const others = Object.entries(JSON.parse(readFileSync(join(EXTENSION, TEXTS), "utf8"))).filter(([key]) => !key.startsWith("demo."));
  const own = DEMO.steps.flatMap((step) => [[`demo.${step.id}.title`, step.title], [`demo.${step.id}.description`, `${step.what.replaceAll("`", "")}\n${button(step)}`]]);
  const texts = Object.fromEntries([...others, ["demo.title", DEMO.title], ["demo.description", DEMO.description], ...own]);
  return [[TEXTS, `${JSON.stringify(texts, undefined, 2)}\n`], ...DEMO.steps.map((step) => [join("walkthrough", "demo", `${step.id}.md`), pageOf(step)])];
}

let stale = false;
for (const [name, text] of files()) {
  const path = join(EXTENSION, name);
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  if (process.argv.includes("--check")) {
    console.error(`error: ${name} is stale; run \`npm run walkthrough --workspace vscode-extension\``);
    stale = true;
    continue;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
process.exit(stale ? 1 : 0);
