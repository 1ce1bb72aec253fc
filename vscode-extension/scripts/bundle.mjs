// Bundles the extension into one file, and its pages; holds them to their size.

import { build } from "esbuild";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { writePages } from "./pages.mjs";

const HERE = join(dirname(fileURLToPath(import.meta.url)), "..");
const OUTPUT = join(HERE, "out", "extension.js");
const LARGEST = 500_000;

await build({
  absWorkingDir: HERE,
  entryPoints: ["src/extension.ts"],
  outfile: OUTPUT,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  external: ["vscode"],
  minify: !process.argv.includes("--debug"),
  sourcemap: process.argv.includes("--debug"),
  mainFields: ["module", "main"],
  banner: { js: "const inductorDebugLoading = performance.now();" }, // when VS Code began to load this file
  legalComments: "none",
  logLevel: "warning",
});
const { size } = statSync(OUTPUT);
console.log(`out/extension.js: ${size} bytes`);
if (size > LARGEST && !process.argv.includes("--debug")) {
  console.error(`error: the bundle may have ${LARGEST} bytes`);
  process.exit(1);
}
await writePages();
