// Collects the sentences in `t("…")`, of the extension and of its pages, into `l10n/bundle.l10n.json`, which translators copy. `--check` says when it is stale.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const EXTENSION = join(dirname(fileURLToPath(import.meta.url)), "..");
const BUNDLE = join(EXTENSION, "l10n", "bundle.l10n.json");

function sentences() {
  const found = new Set();
  const files = ["src", "webview"].flatMap((folder) => readdirSync(join(EXTENSION, folder), { recursive: true }).map((entry) => join(folder, entry)));
  for (const entry of files) {
    if (!entry.endsWith(".ts")) continue;
    const text = readFileSync(join(EXTENSION, entry), "utf8");
    for (const match of text.matchAll(/(?<![\w$])t\(\s*("(?:[^"\\]|\\.)*")/gu)) found.add(JSON.parse(match[1]));
  }
  return [...found].sort();
}

const wanted = `${JSON.stringify(Object.fromEntries(sentences().map((text) => [text, text])), undefined, 2)}\n`;
if (process.argv.includes("--check")) {
  if (readFileSync(BUNDLE, "utf8") !== wanted) {
    console.error("error: l10n/bundle.l10n.json is stale; run `npm run l10n --workspace vscode-extension`");
    process.exit(1);
  }
} else writeFileSync(BUNDLE, wanted);
