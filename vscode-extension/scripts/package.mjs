// Builds the VSIX: libraries, licence, bundle (vsce runs `vscode:prepublish`), and the archive that VS Code, VSCodium and code-server install.

import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const EXTENSION = join(dirname(fileURLToPath(import.meta.url)), "..");
const ROOT = join(EXTENSION, "..");
const README = "out/README.md";
const OUTPUT = join(EXTENSION, "out", "inductor-debug.vsix");

function node(script, ...args) {
  const result = spawnSync(process.execPath, [script, ...args], { cwd: EXTENSION, stdio: "inherit" });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

node(join(EXTENSION, "scripts", "libraries.mjs"));
copyFileSync(join(ROOT, "LICENSE"), join(EXTENSION, "LICENSE"));
// VS Code shows pictures from the web only: the README in the package goes without.
writeFileSync(join(EXTENSION, README), readFileSync(join(EXTENSION, "README.md"), "utf8").replace(/^!\[.*\n+/gmu, ""));
node(join(ROOT, "node_modules", "@vscode", "vsce", "vsce"), "package", "--no-dependencies", "--skip-license", "--allow-missing-repository", "--readme-path", README, "--out", OUTPUT);
console.log(`${OUTPUT}: ${statSync(OUTPUT).size} bytes`);
