/** Whoever gets code of others from us gets the texts of its licences. */

import { build } from "esbuild";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { NOTICES, Packages } from "../../scripts/notices.mjs";

const EXTENSION = join(import.meta.dirname, "..", "..");

test("what the language client's bundle has of others is told with its licence, each package once", async () => {
  const { metafile } = await build({
    absWorkingDir: EXTENSION, entryPoints: ["src/server/connection.ts"], bundle: true, write: false, metafile: true, platform: "node", external: ["vscode"],
    mainFields: ["module", "main"], logLevel: "silent",
  });
  const packages = new Packages();
  packages.add(metafile, EXTENSION);
  const said = packages.and(packages).notices("Of others:");
  const names = [...said.matchAll(/^=+\n(\S+) \d\S* \((\S+)\)\n=+\n\n(?=\S)/gmu)].map(([, name]) => name);
  expect(names).toEqual([...new Set(names)]);
  expect(names).toEqual(expect.arrayContaining(["vscode-languageclient", "vscode-jsonrpc", "minimatch", "semver"]));
  expect(said.match(/Permission is hereby granted|Permission to use, copy|Blue Oak Model License/gu)?.length).toBeGreaterThanOrEqual(names.length);
});

test("a package without a licence's text ends the build", () => {
  const root = mkdtempSync(join(tmpdir(), "notices-"));
  onTestFinished(() => { rmSync(root, { recursive: true }); });
  mkdirSync(join(root, "node_modules", "theirs"), { recursive: true });
  writeFileSync(join(root, "node_modules", "theirs", "package.json"), JSON.stringify({ name: "theirs", version: "1.0.0", license: "MIT" }));
  const packages = new Packages();
  packages.add({ inputs: { "node_modules/theirs/index.js": {}, "src/ours.ts": {} } }, root);
  expect(() => packages.notices("")).toThrow("theirs has no text of its licence");
});

test("the texts are in what users get, beside the pages and in the VSIX", () => {
  expect(readFileSync(join(EXTENSION, ".vscodeignore"), "utf8").split("\n")).toContain(`!out/${NOTICES}`);
  expect(readFileSync(join(EXTENSION, "..", "daemon", "inductor_debug", "report", "pages", NOTICES), "utf8")).toContain("@msgpack/msgpack");
});
