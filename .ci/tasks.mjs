// The project's tasks, behind `npm start`, `npm test` and `npm run …`.
//
// A task first brings the set-up up to date and then does its one job. The set-up is a virtual environment in `.venv`
// with CPU torch and the project itself; a stamp in it makes the second run quick. Only Node's standard library is
// used, so that a fresh clone needs nothing installed beforehand but Node and a Python from 3.10 to 3.13.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { EndToEndFailures, passesAgain, PythonFailures } from "./again.mjs";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const ENVIRONMENT = join(ROOT, ".venv");
const BIN = join(ENVIRONMENT, process.platform === "win32" ? "Scripts" : "bin");
const PYTHON = join(BIN, process.platform === "win32" ? "python.exe" : "python");
const STAMP = join(ENVIRONMENT, "inductor-debug-setup");
const EXTENSION = join(ROOT, "vscode-extension");
const NODE_STAMP = join(ROOT, "node_modules", "inductor-debug-setup");
const TORCH = "torch==2.13.0"; // exactly: an open range may pull gigabytes of CUDA libraries
/** What `npm run matrix` is run by; it makes its own environments in `.nox`. */
const MATRIX_TOOLS = ["nox>=2026", "uv"];
const JUPYTERLAB = "jupyterlab>=4.4,<5";
const TRITON = "triton==3.7.1"; // beside the environment: whatever imports Inductor would import it too, for a second each
const TRITON_FOLDER = join(ENVIRONMENT, "triton");
const SUPPORTED = "sys.version_info[:2] >= (3, 10) and sys.version_info[:2] < (3, 14)";

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(2);
}

/** Runs a program to its end and gives its exit status. */
function run(command, args, options = {}) {
  // Thousands of processes are started: what they load is compiled once, whatever the environment says of that. And
  // the makers of mkdocs' themes and plugins quarrel over its successor in every build.
  const quiet = { NO_MKDOCS_2_WARNING: "1", DISABLE_MKDOCS_2_WARNING: "true", PYTHONDONTWRITEBYTECODE: "" };
  const env = { ...process.env, ...quiet, PATH: `${BIN}${delimiter}${process.env.PATH}`, ...options.env };
  const child = spawn(command, args, { cwd: ROOT, stdio: "inherit", ...options, env });
  return new Promise((ended) => {
    child.on("error", (error) => fail(`${command} could not be started: ${error.message}`));
    child.on("close", (status) => ended(status ?? 1));
    options.started?.(child);
  });
}

/** Has a program, and what it starts from now on, give way to others. */
function giveWay(child) {
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
}

/** Runs a program that gives way to all others and keeps what it says. */
async function runBeside(command, args, options = {}) {
  const said = [];
  const started = (child) => {
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => said.push(data));
    giveWay(child);
  };
  const status = await run(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"], started });
  return { status, said: Buffer.concat(said).toString() };
}

function succeeds(command, args) {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

async function must(what, command, args) {
  if ((await run(command, args)) !== 0) fail(`${what} failed; the lines above say why`);
}

function findPython() {
  const named = process.env.INDUCTOR_DEBUG_PYTHON;
  const candidates = named ? [named] : ["python3", "python", "python3.13", "python3.12", "python3.11", "python3.10"];
  const found = candidates.find((name) => succeeds(name, ["-c", `import sys, venv; sys.exit(not (${SUPPORTED}))`]));
  return (
    found ??
    fail(
      `no Python from 3.10 to 3.13 with the venv module among: ${candidates.join(", ")}. ` +
        "Install one, or name it in INDUCTOR_DEBUG_PYTHON.",
    )
  );
}

function fingerprint() {
  const hash = createHash("sha256").update(TORCH).update(TRITON).update(ROOT);
  hash.update(readFileSync(join(ROOT, "pyproject.toml")));
  return hash.digest("hex");
}

async function setup() {
  const wanted = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted && existsSync(PYTHON)) return;
  if (!existsSync(PYTHON) || !succeeds(PYTHON, ["-c", `import sys; sys.exit(not (${SUPPORTED}))`])) {
    console.error("set-up: making a virtual environment in .venv");
    rmSync(ENVIRONMENT, { recursive: true, force: true });
    await must("making the virtual environment", findPython(), ["-m", "venv", ENVIRONMENT]);
  }
  if (!succeeds(PYTHON, ["-c", "import torch"])) {
    console.error(`set-up: installing ${TORCH}`);
    await must("installing torch", PYTHON, ["-m", "pip", "install", "--quiet", TORCH]);
  }
  console.error("set-up: installing inductor-debug and what its examples and tests need");
  await must("installing the project", PYTHON, ["-m", "pip", "install", "--quiet", "--editable", ".[models,dev,docs]"]);
  if (process.platform === "linux" && process.arch === "x64") {
    console.error(`set-up: installing ${TRITON}, for the tests that compile kernels`);
    const where = ["--upgrade", "--no-deps", "--target", TRITON_FOLDER];
    await must("installing Triton", PYTHON, ["-m", "pip", "install", "--quiet", ...where, TRITON]);
  }
  writeFileSync(STAMP, wanted);
}

/** The extension's tools, from the lock file. Only what needs them waits for them: `npm start` does not. */
async function setupNode() {
  const hash = createHash("sha256").update(process.versions.node).update(ROOT);
  const wanted = hash.update(readFileSync(join(ROOT, "package-lock.json"))).digest("hex");
  if (existsSync(NODE_STAMP) && readFileSync(NODE_STAMP, "utf8") === wanted) return;
  console.error("set-up: installing what the extension is built and tested with");
  await must("installing the extension's tools", "npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
  writeFileSync(NODE_STAMP, wanted);
}

async function start(args) {
  await setup();
  const from = process.env.INIT_CWD ?? process.cwd();
  const given = args.map((arg) => (arg.startsWith("-") || isAbsolute(arg) ? arg : resolve(from, arg)));
  const paths = given.length > 0 ? given : [join(ROOT, "examples", "tiny_attention.py")];
  return run(PYTHON, ["-m", "inductor_debug", "watch", "--once", ...paths]);
}

/** These read texts alone. */
const CHECKS = [
  ["lint", ["-m", "ruff", "check", "."]],
  ["format", ["-m", "ruff", "format", "--check", "."]],
  ["imports", ["-c", "from importlinter.cli import lint_imports_command as main; main()", "--no-logo"]],
  ["types", ["-m", "mypy"]],
  ["documentation", ["-m", "mkdocs", "build", "--quiet"]],
];

/** Three test processes even on two cores: many tests wait for a server or a worker of their own. Failures of tests in quarantine are told. */
const TESTS = ["-m", "pytest", "--numprocesses", "3", "--dist", "worksteal", "-rx"];

/** The tests whose failure is told and does not fail a run, with the reason. */
const QUARANTINE = join(ROOT, ".ci", "quarantine.json");

/** `npm test -- --fast`: what needs neither torch nor a window, for every save; the whole suite is for every commit. */
const FAST = ["-m", "not torch"];

/** Run in `vscode-extension/` with Node. */
const EXTENSION_CHECKS = [
  ["extension lint", [join(ROOT, "node_modules", "eslint", "bin", "eslint.js"), "."]],
  ["extension types", [join(ROOT, "node_modules", "typescript", "bin", "tsc"), "--noEmit"]],
  ["page types", [join(ROOT, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--project", "webview"]],
  ["end-to-end types", [join(ROOT, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--project", "test/e2e"]],
  ["JupyterLab test types", [join(ROOT, "node_modules", "typescript", "bin", "tsc"), "--noEmit", "--project", "test/jupyterlab"]],
];
const EXTENSION_TESTS = [join(ROOT, "node_modules", "vitest", "vitest.mjs"), "run", "--config", "vitest.config.mts"];
const END_TO_END = join("test", "e2e");
/** Each drives one real editor, which no set-up of ours brings. */
const EDITOR_TESTS = ["neovim", "helix"].map((editor) => join("tests", "server", `test_${editor}.py`));

/**
 * Every check. Tests and downloads wait much, for servers, windows and networks, so three lanes run side by side: Python's tests, the
 * extension's, and what only reads texts. The extension's are a chain that nothing can share out, so the others give way to them.
 */
async function test(given) {
  const fast = given.includes("--fast");
  const args = [...given.filter((arg) => arg !== "--fast"), ...(fast ? FAST : [])];
  const began = performance.now();
  const failed = [];
  const times = [];
  const timed = async (name, job) => {
    const began = performance.now();
    if ((await job()) !== 0) failed.push(name);
    times.push(`${name} ${Math.round((performance.now() - began) / 1000)} s`);
  };
  const tests = (name, job) => (console.error(`\n== ${name}`), timed(name, job));
  const texts = (name, command, commandArgs, options) =>
    timed(name, async () => {
      const { status, said } = await runBeside(command, commandArgs, options);
      console.error(`\n== ${name}\n${said}`);
      return status;
    });
  const inExtension = (...nodeArgs) => run(process.execPath, nodeArgs, { cwd: EXTENSION });
  const windows = (...files) => inExtension(join(END_TO_END, "run.mjs"), ...files);
  const [ofPython, ofWindows] = [new PythonFailures(ROOT), new EndToEndFailures(ROOT)];
  for (const failures of [ofPython, ofWindows]) failures.forget();

  const tools = setupNode();
  const editor = fast ? undefined : tools.then(() => inExtension(join(END_TO_END, "setup.mjs"))); // where there can be none, its tests say so
  await setup();
  const ofExtension = (async () => {
    await tools;
    await tests("extension tests", () => inExtension(...EXTENSION_TESTS)); // first: packaging makes anew what they compare
    if (fast) return;
    await editor;
    await tests("end-to-end tests", () => windows());
  })();
  const ofTexts = (async () => {
    for (const [name, command] of CHECKS) await texts(name, PYTHON, command);
    await tools;
    for (const [name, command] of EXTENSION_CHECKS) await texts(name, process.execPath, command, { cwd: EXTENSION });
  })();
  await tests("tests", () => run(PYTHON, [...TESTS, ...args], { started: giveWay }));
  await Promise.all([ofExtension, ofTexts]);
  const again = [
    ["tests", ofPython, (selection) => run(PYTHON, selection)],
    ["end-to-end tests", ofWindows, (selection) => windows(...selection)],
  ];
  for (const [lane, failures, job] of again) {
    if (failed.includes(lane) && (await passesAgain(lane, failures, job))) failed.splice(failed.indexOf(lane), 1);
  }
  console.error(`\nin ${Math.round((performance.now() - began) / 1000)} s: ${times.join(", ")}`);
  if (failed.length > 0) console.error(`failed: ${failed.join(", ")}`);
  return failed.length > 0 ? 1 : 0;
}

const TASKS = {
  setup: async () => (await setup(), 0),
  start,
  test,
  package: async () => {
    const quarantined = JSON.parse(readFileSync(QUARANTINE, "utf8"));
    if (quarantined.length > 0) fail(`nothing is packaged for users while a test is in quarantine: ${quarantined.map(({ test }) => test).join(", ")}`);
    await setup();
    await setupNode();
    return run(process.execPath, [join("scripts", "package.mjs")], { cwd: EXTENSION });
  },
  /** Every torch and Python that we promise, in environments of their own (noxfile.py). */
  matrix: async (args) => {
    const tools = join(ROOT, ".nox", "tools");
    const bin = join(tools, process.platform === "win32" ? "Scripts" : "bin");
    const python = join(bin, process.platform === "win32" ? "python.exe" : "python");
    if (!succeeds(python, ["-c", "import nox, uv"])) {
      console.error("matrix: installing nox and uv into .nox/tools");
      await must("making an environment for nox", findPython(), ["-m", "venv", "--clear", tools]);
      await must("installing nox and uv", python, ["-m", "pip", "install", "--quiet", ...MATRIX_TOOLS]);
    }
    return run(python, ["-m", "nox", ...args], { env: { PATH: `${bin}${delimiter}${process.env.PATH}` } });
  },
  /** The documentation site, into build/site. */
  docs: async (args) => {
    await setup();
    return run(PYTHON, ["-m", "mkdocs", "build", ...args]);
  },
  /**
   * The tests of properties with examples of this run alone, a thousand of each, where `npm test` has the same hundred every time; and all
   * cases of the families of which that has some (`tests/breadth.py`).
   */
  properties: async (args) => {
    await setup();
    const env = { INDUCTOR_DEBUG_PROPERTIES: "search" };
    return run(PYTHON, ["-m", "pytest", "--numprocesses", "2", "-m", "hypothesis or broad", ...args], { env });
  },
  /** Random edits, reloads and kills through an editor's connection, for `--minutes N`. */
  soak: async (args) => {
    await setup();
    return run(PYTHON, ["-m", "inductor_debug", "bench", "soak", ...args]);
  },
  /** Cells in a real JupyterLab in a real browser; it is installed for that, into a folder of its own. */
  jupyterlab: async (args) => {
    await setup();
    await setupNode();
    const node = (...words) => run(process.execPath, words, { cwd: EXTENSION });
    if ((await node(join(END_TO_END, "setup.mjs"))) !== 0) fail("this machine cannot have what the end-to-end tests need; the lines above say why");
    const folder = join(ROOT, ".e2e", "jupyterlab");
    if (!existsSync(join(folder, "jupyterlab"))) {
      console.error("jupyterlab: installing JupyterLab into .e2e/jupyterlab (about a minute, once)");
      await must("installing JupyterLab", PYTHON, ["-m", "pip", "install", "--quiet", "--target", folder, JUPYTERLAB]);
    }
    return node(join(ROOT, "node_modules", "vitest", "vitest.mjs"), "run", "--config", join("test", "jupyterlab", "vitest.config.mts"), ...args);
  },
  /** README's recipes in the real Neovim and the real Helix of this machine; `npm_lifecycle_event` tells the tests that a lack is a failure. */
  editors: async (args) => {
    await setup();
    return run(PYTHON, ["-m", "pytest", "-rs", ...EDITOR_TESTS, ...args]);
  },
  bench: async (args) => {
    await setup();
    return run(PYTHON, ["-m", "inductor_debug", "bench", ...args]);
  },
  /** The pages of case studies, from runs made anew; with `--check` which numbers have changed. */
  "case-studies": async (args) => {
    await setup();
    return run(PYTHON, ["-m", "inductor_debug_benchmarks.case_studies", ...args]);
  },
  /** Many models in one table; what it names is taken from where the command was given. */
  survey: async (args) => {
    await setup();
    return run(PYTHON, ["-m", "inductor_debug", "survey", ...args], { cwd: process.env.INIT_CWD ?? process.cwd() });
  },
};

const [task, ...rest] = process.argv.slice(2);
if (!(task in TASKS)) fail(`unknown task ${task}; there are: ${Object.keys(TASKS).join(", ")}`);
process.exit(await TASKS[task](rest));
