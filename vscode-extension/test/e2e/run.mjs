// Runs the end-to-end tests: set-up, package, tests. Where this machine cannot have a real VS Code, says so, loudly; on CI that is a failure.

import { spawnSync } from "node:child_process";
import { join } from "node:path";

import { ROOT, setup, Unavailable } from "./setup.mjs";

function run(...args) {
  return spawnSync(process.execPath, args, { cwd: join(ROOT, "vscode-extension"), stdio: "inherit" }).status ?? 1;
}

try {
  setup();
} catch (error) {
  if (!(error instanceof Unavailable)) throw error;
  const bar = "!".repeat(100);
  console.error(`${bar}\nSKIPPED: the end-to-end tests of the extension did not run.\n${error.message}\n${bar}`);
  process.exit(process.env.CI ? 1 : 0);
}
const packaged = run(join("scripts", "package.mjs"));
if (packaged !== 0) process.exit(packaged);
const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
process.exit(run(vitest, "run", "--config", join("test", "e2e", "vitest.config.mts"), ...process.argv.slice(2)));
