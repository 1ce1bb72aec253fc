// Bundles the extension and its pages, and holds them to their size. The language client, which is four times as large as the rest, is a file of
// its own: VS Code loads what the window waits for, and the client while the daemon starts.

import { build } from "esbuild";
import { statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { NOTICES, Packages } from "./notices.mjs";
import { pagePackages, writePages } from "./pages.mjs";

const HERE = join(dirname(fileURLToPath(import.meta.url)), "..");
const OUT = join(HERE, "out");
const CLIENT = "./connection.js"; // as `server/session.ts` imports it, and where it lies beside `extension.js`
const DEBUG = process.argv.includes("--debug");
const FILES = [
  { name: "extension.js", source: "src/extension.ts", largest: 200_000, banner: "const inductorDebugLoading = performance.now();" }, // when VS Code began to load it
  { name: "connection.js", source: "src/server/connection.ts", largest: 460_000, banner: "" },
];

const packages = new Packages();
for (const { name, source, largest, banner } of FILES) {
  const outfile = join(OUT, name);
  const { metafile } = await build({
    absWorkingDir: HERE,
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode", CLIENT],
    supported: { "dynamic-import": false }, // `require`, so that VS Code gives the client its module `vscode`
    minify: !DEBUG,
    sourcemap: DEBUG,
    mainFields: ["module", "main"],
    banner: { js: banner },
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  packages.add(metafile, HERE);
  const { size } = statSync(outfile);
  console.log(`out/${name}: ${size} bytes`);
  if (size > largest && !DEBUG) {
    console.error(`error: out/${name} may have ${largest} bytes`);
    process.exit(1);
  }
}
await writePages();
const head = `This extension has code of others in it, under these licences, beside Python libraries, whose licences are with them in
bundled/libraries/*.dist-info/licenses.`;
writeFileSync(join(OUT, NOTICES), packages.and(pagePackages).notices(head));
