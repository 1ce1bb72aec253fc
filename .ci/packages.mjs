// Builds what is released, once, into `dist/`: wheel, sdist and VSIX. `describe TAG` then writes beside them what a release says
// of them (checksums, what they are made of, what is new) and refuses a tag that is none of the version built.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const DIST = join(ROOT, "dist");
const VSIX = "inductor-debug.vsix";
const VERSION = /__version__ = "([^"]+)"/u.exec(readFileSync(join(ROOT, "daemon", "inductor_debug", "__init__.py"), "utf8"))[1];

function fail(message) {
  console.error(`error: ${message}`);
  process.exit(2);
}

/** Runs a program to its end; what it prints is given back where it is `kept`. */
function must(command, args, kept = false) {
  const shell = process.platform === "win32" && command === "npm"; // npm is a script there
  const result = spawnSync(command, args, { cwd: ROOT, shell, encoding: "utf8", maxBuffer: 1 << 26, stdio: ["ignore", kept ? "pipe" : "inherit", "inherit"] });
  if (result.status !== 0) fail(`${command} ${args.join(" ")} failed; the lines above say why`);
  return result.stdout;
}

/** An environment with what builds Python packages and reads what they need. */
function tools() {
  const folder = join(ROOT, "build", "tools");
  const python = process.platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
  const own = process.env.INDUCTOR_DEBUG_PYTHON ?? (process.platform === "win32" ? "python" : "python3");
  if (!existsSync(python)) must(own, ["-m", "venv", folder]);
  must(python, ["-m", "pip", "install", "--quiet", "build", "cyclonedx-bom"]);
  return python;
}

function build() {
  rmSync(DIST, { recursive: true, force: true });
  mkdirSync(DIST, { recursive: true });
  must(tools(), ["-m", "build", "--outdir", DIST, "."]);
  must("npm", ["run", "package"]);
  copyFileSync(join(ROOT, "vscode-extension", "out", VSIX), join(DIST, VSIX));
  console.log(readdirSync(DIST).sort().join("\n"));
}

function describe(tag) {
  if (tag !== `v${VERSION}`) fail(`the tag is ${tag}, but what was built is version ${VERSION}`);
  const packages = readdirSync(DIST).filter((name) => /\.(whl|tar\.gz|vsix)$/u.test(name)).sort();
  if (packages.length !== 3) fail(`dist/ should have a wheel, an sdist and a VSIX: ${packages.join(", ")}`);
  const python = tools();
  const fresh = join(ROOT, "build", "installed");
  rmSync(fresh, { recursive: true, force: true });
  must(python, ["-m", "venv", fresh]);
  const installed = process.platform === "win32" ? join(fresh, "Scripts", "python.exe") : join(fresh, "bin", "python");
  must(installed, ["-m", "pip", "install", "--quiet", join(DIST, packages.find((name) => name.endsWith(".whl")))]);
  must(python, ["-m", "cyclonedx_py", "environment", installed, "--output-file", join(DIST, "sbom-python.cdx.json")]);
  must(python, ["-m", "cyclonedx_py", "requirements", "vscode-extension/python/requirements.txt", "--output-file", join(DIST, "sbom-vsix-python.cdx.json")]);
  writeFileSync(join(DIST, "sbom-vsix-npm.cdx.json"), must("npm", ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"], true));
  const changes = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8").split(/^## /mu).find((part) => part.startsWith(`${VERSION} `) || part.startsWith(`${VERSION}\n`));
  if (changes === undefined) fail(`CHANGELOG.md says nothing of version ${VERSION}`);
  writeFileSync(join(DIST, "NOTES.md"), changes.slice(changes.indexOf("\n")).trimStart());
  const sums = packages.map((name) => `${createHash("sha256").update(readFileSync(join(DIST, name))).digest("hex")}  ${name}`);
  writeFileSync(join(DIST, "SHA256SUMS"), `${sums.join("\n")}\n`);
  console.log(sums.join("\n"));
}

const [task = "build", tag = ""] = process.argv.slice(2);
if (task === "build") build();
else if (task === "describe") describe(tag);
else fail(`unknown task ${task}; there are: build, describe TAG`);
