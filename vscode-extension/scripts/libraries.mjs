// Puts into `bundled/` what the daemon needs to run in any Python from 3.10 on: pure-Python libraries, a copy of the daemon and of
// the schema, and the script that starts it. The libraries are installed once for each list of versions; the copy is always fresh.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const EXTENSION = join(dirname(fileURLToPath(import.meta.url)), "..");
const ROOT = join(EXTENSION, "..");
const BUNDLED = join(EXTENSION, "bundled");
const LIBRARIES = join(BUNDLED, "libraries");
const DAEMON = join(BUNDLED, "daemon");
const STAMP = join(EXTENSION, "out", "libraries.stamp");
const REQUIREMENTS = join(EXTENSION, "python", "requirements.txt");

function python() {
  const own = join(ROOT, ".venv", process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  return process.env.INDUCTOR_DEBUG_PYTHON ?? (existsSync(own) ? own : "python3");
}

/** Compiled parts are for one Python only; each of these libraries works without. */
function removeCompiled(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (["__pycache__", "bin", "tests", "test"].includes(entry.name)) rmSync(path, { recursive: true });
      else removeCompiled(path);
    } else if (/\.(so|pyd|pyx|c|h|dylib)$/u.test(entry.name)) rmSync(path);
  }
}

function installLibraries() {
  const wanted = readFileSync(REQUIREMENTS, "utf8");
  if (existsSync(LIBRARIES) && existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) return;
  rmSync(BUNDLED, { recursive: true, force: true });
  mkdirSync(LIBRARIES, { recursive: true });
  mkdirSync(dirname(STAMP), { recursive: true });
  const options = ["--quiet", "--quiet", "--no-deps", "--disable-pip-version-check", "--target", LIBRARIES];
  const result = spawnSync(python(), ["-m", "pip", "install", ...options, "--requirement", REQUIREMENTS], { stdio: "inherit" });
  if (result.status !== 0) throw new Error("the daemon's libraries could not be installed; the lines above say why");
  removeCompiled(LIBRARIES);
  writeFileSync(STAMP, wanted);
}

function copyDaemon() {
  rmSync(DAEMON, { recursive: true, force: true });
  const filter = (path) => !/(__pycache__|\.pyc)$/u.test(path);
  for (const [room, name] of [["daemon", "inductor_debug"], ["shared_schema", "inductor_debug_schema"]]) {
    cpSync(join(ROOT, room, name), join(DAEMON, name), { recursive: true, filter });
  }
  cpSync(join(EXTENSION, "python", "run.py"), join(BUNDLED, "run.py"));
}

installLibraries();
copyDaemon();
