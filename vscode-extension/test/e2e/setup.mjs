// Puts a real VS Code (code-server) and the means to drive it into `.e2e/`, once; later runs find the stamp.
//
// Why by hand: code-server's own post-install step wants prebuilt downloads, which closed networks do not have. Everything
// here comes from the npm registry and from Debian. What is missing at the end is said in one sentence, so that the
// caller can skip the end-to-end tests loudly instead of failing in the middle of one.

import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
export const HOME = process.env.INDUCTOR_DEBUG_E2E ?? join(ROOT, ".e2e");
export const CODE_SERVER = join(HOME, "node_modules", "code-server");
export const ENTRY = join(CODE_SERVER, "out", "node", "entry.js");
/** VS Code 1.100, our minimum engine, and the last one that runs on Node 20. Others can be named; 4.139.1 wants Node 24. */
const VERSION = process.env.INDUCTOR_DEBUG_CODE_SERVER ?? "4.100.3";
const STAMP = join(HOME, "stamp");
const LOG = join(HOME, "setup.log");
const PACKAGES = ["chromium", "ripgrep", "libkrb5-dev", "libsecret-1-dev", "pkg-config", "g++", "make", "fonts-dejavu-core"];
const NATIVE = ["@vscode/spdlog", "node-pty", "@parcel/watcher", "native-watchdog", "kerberos", "@vscode/deviceid"];

/** A reason for which there can be no end-to-end tests on this machine. */
export class Unavailable extends Error {}

/** Chromium without anything that is only for the screen: it draws the same pages in half the time. */
const HEADLESS = "/usr/bin/chromium-headless-shell";

/** The browser to drive, or undefined. */
export function chromium() {
  const names = [process.env.INDUCTOR_DEBUG_CHROMIUM, HEADLESS, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return names.find((name) => name !== undefined && existsSync(name));
}

function which(name) {
  const result = spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" });
  return result.status === 0 ? result.stdout.trim() : undefined;
}

function run(what, command, args, options = {}) {
  const { optional = false, ...rest } = options;
  const result = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 26, ...rest });
  writeFileSync(LOG, `\n$ ${command} ${args.join(" ")}\n${result.stdout ?? ""}${result.stderr ?? ""}`, { flag: "a" });
  if ((result.error || result.status !== 0) && !optional) {
    throw new Unavailable(`${what} failed (${result.error?.message ?? `exit code ${result.status}`}); see ${LOG}`);
  }
}

/** The browser that is quickest, where Debian has it and it can be installed; any other will do. */
function installHeadless() {
  if (existsSync(HEADLESS) || !which("apt-get") || process.getuid?.() !== 0) return;
  console.error(`end-to-end set-up: installing ${basename(HEADLESS)}, if there is one`);
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, optional: true, timeout: 180_000 };
  run("apt-get update", "apt-get", ["update", "-q"], options);
  run("apt-get install", "apt-get", ["install", "-y", "-q", "--no-install-recommends", basename(HEADLESS), "fonts-dejavu-core"], options);
}

function installDebianPackages() {
  const complete = chromium() && which("rg") && which("g++") && which("make") && which("pkg-config");
  if (complete) return;
  const packages = PACKAGES.filter((name) => name !== "chromium" || !chromium());
  const list = packages.join(" ");
  if (!which("apt-get") || process.getuid?.() !== 0) {
    throw new Unavailable(`Debian's packages are missing and cannot be installed from here; as root: apt-get install ${list}`);
  }
  console.error(`end-to-end set-up: installing ${list}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  run("apt-get update", "apt-get", ["update", "-q"], { env });
  run("apt-get install", "apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], { env });
}

function link(target, path) {
  if (lstatSync(path, { throwIfNoEntry: false })) rmSync(path, { recursive: true });
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

function installCodeServer() {
  console.error(`end-to-end set-up: installing code-server ${VERSION} into ${HOME} (about two minutes, once)`);
  rmSync(join(HOME, "node_modules"), { recursive: true, force: true });
  writeFileSync(join(HOME, "package.json"), JSON.stringify({ name: "end-to-end", private: true }));
  const env = { ...process.env, npm_config_yes: "true" }; // node-pty's script asks npx for node-gyp
  const npm = (what, folder, args, options = {}) =>
    run(what, "npm", [...args, "--no-audit", "--no-fund", "--no-update-notifier"], { cwd: folder, env, ...options });
  npm("installing code-server", HOME, ["install", "--ignore-scripts", `code-server@${VERSION}`]);
  const vscode = join(CODE_SERVER, "lib", "vscode");
  npm("installing VS Code's modules", vscode, ["install", "--ignore-scripts", "--omit=dev"]);
  for (const name of NATIVE) npm(`building ${name}`, vscode, ["rebuild", name, "--ignore-scripts=false"], { optional: true });
  link(join(vscode, "node_modules"), join(vscode, "node_modules.asar"));
  link(which("rg") ?? "rg", join(vscode, "node_modules", "@vscode", "ripgrep", "bin", "rg"));
  npm("installing VS Code's extensions", join(vscode, "extensions"), ["install", "--ignore-scripts", "--omit=dev"]);
  npm("building argon2", HOME, ["rebuild", "argon2", "--ignore-scripts=false"]);
}

/** Brings everything up to date. Throws `Unavailable` where this machine cannot have it. */
export function setup() {
  if (process.platform !== "linux") throw new Unavailable(`the set-up knows Debian only, not ${process.platform}`);
  mkdirSync(HOME, { recursive: true });
  const wanted = `code-server ${VERSION}, node ${process.versions.modules}, ${HOME}`;
  const stamped = existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted;
  if (!stamped) installHeadless();
  installDebianPackages();
  if (!stamped || !existsSync(ENTRY)) {
    rmSync(LOG, { force: true });
    installCodeServer();
    run("starting code-server", process.execPath, [ENTRY, "--version"]);
    writeFileSync(`${STAMP}.new`, wanted);
    renameSync(`${STAMP}.new`, STAMP);
  }
  if (!chromium()) throw new Unavailable("no chromium; name one in INDUCTOR_DEBUG_CHROMIUM");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    setup();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    console.error(`end-to-end set-up: ${error.message}`);
    process.exit(3);
  }
}
