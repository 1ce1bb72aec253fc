// Runs the end-to-end tests: set-up, package, tests. Where this machine cannot have a real VS Code, says so, loudly; on CI that
// is a failure. A file of tests that fails is run once more, in a new window, and is named when it passes only then.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

import { ROOT, setup, Unavailable } from "./setup.mjs";

const EXTENSION = join(ROOT, "vscode-extension");

function run(command, ...args) {
  return spawnSync(command, args, { cwd: EXTENSION, stdio: "inherit" }).status ?? 1;
}

try {
  setup();
} catch (error) {
  if (!(error instanceof Unavailable)) throw error;
  const bar = "!".repeat(100);
  console.error(`${bar}\nSKIPPED: the end-to-end tests of the extension did not run.\n${error.message}\n${bar}`);
  process.exit(process.env.CI ? 1 : 0);
}
const packaged = run(process.execPath, join("scripts", "package.mjs"));
if (packaged !== 0) process.exit(packaged);
const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
const record = join(EXTENSION, "out", "end-to-end.json");
const MOST_AGAIN = 2;

function tests(...selected) {
  return run(
    process.execPath, vitest, "run", "--config", join("test", "e2e", "vitest.config.mts"),
    "--reporter=default", "--reporter=json", `--outputFile.json=${record}`, ...selected,
  );
}

rmSync(record, { force: true });
const status = tests(...process.argv.slice(2));
if (status === 0 || !existsSync(record)) process.exit(status);
const failed = JSON.parse(readFileSync(record, "utf8")).testResults.filter((file) => file.status === "failed");
const names = failed.map((file) => relative(EXTENSION, file.name));
if (names.length === 0 || names.length > MOST_AGAIN) process.exit(status);
console.error(`\n== end-to-end tests, again: ${names.join(", ")}`);
const again = tests(...names);
if (again === 0) console.error(`\nunsteady, passed only the second time:\n  ${names.join("\n  ")}`);
process.exit(again);
