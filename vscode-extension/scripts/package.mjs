// Builds the VSIX: libraries, licence, bundle (vsce runs `vscode:prepublish`), and the archive that VS Code, VSCodium and code-server install.

import { spawnSync } from "node:child_process";
import { copyFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const EXTENSION = join(dirname(fileURLToPath(import.meta.url)), "..");
const ROOT = join(EXTENSION, "..");
const OUTPUT = join(EXTENSION, "out", "inductor-debug.vsix");

function node(script, ...args) {
  const result = spawnSync(process.execPath, [script, ...args], { cwd: EXTENSION, stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

node(join(EXTENSION, "scripts", "libraries.mjs"));
copyFileSync(join(ROOT, "LICENSE"), join(EXTENSION, "LICENSE"));
node(join(ROOT, "node_modules", "@vscode", "vsce", "vsce"), "package", "--no-dependencies", "--skip-license", "--allow-missing-repository", "--out", OUTPUT);
console.log(`${OUTPUT}: ${statSync(OUTPUT).size} bytes`);
