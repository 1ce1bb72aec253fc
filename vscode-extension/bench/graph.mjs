// How fast the graph page is with 20,000 and 50,000 nodes: first paint, folding, panning, in headless Chromium. Run by hand:
//   node bench/graph.mjs [layers]      (28 nodes a layer; 715 layers are 20,000 nodes)

import { build } from "esbuild";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const EXTENSION = join(dirname(fileURLToPath(import.meta.url)), "..");
const PAGE = join(EXTENSION, "..", "daemon", "inductor_debug", "report", "pages", "graph.html");
const layers = Number(process.argv[2] ?? 715);
const home = mkdtempSync(join(tmpdir(), "graph-bench-"));

/** The generator of the tests, bundled so that Node can run it. */
async function documents() {
  const outfile = join(home, "documents.mjs");
  await build({ absWorkingDir: EXTENSION, entryPoints: ["test/unit/graphDocuments.ts"], outfile, bundle: true, platform: "node", format: "esm", logLevel: "warning" });
  return import(pathToFileURL(outfile).href);
}

const { document, encodeDocument, transformer, TRANSFORMER_CLASSES } = await documents();
const written = document([transformer(layers)], { modules: TRANSFORMER_CLASSES });
const file = encodeDocument(written);
const data = { schema: 1, title: "bench", documents: [Buffer.from(file).toString("base64")], findings: [], statistics: [] };
const path = join(home, "graph.html");
writeFileSync(path, readFileSync(PAGE, "utf8").replace("@@INDUCTOR_DEBUG_DATA@@", Buffer.from(JSON.stringify(data)).toString("base64")));

const browser = await chromium.launch({ executablePath: process.env.INDUCTOR_DEBUG_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 1400, height: 860 } });
await page.addInitScript(() => {
  const look = () => {
    if (globalThis.inductorDebugGraph?.panes[0].drawing.lastFrame > 0) globalThis.firstPaint = performance.now();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
});
await page.goto(pathToFileURL(path).href);
let firstPaint;
while (firstPaint === undefined) firstPaint = await page.evaluate("globalThis.firstPaint");

const result = await page.evaluate(async () => {
  const app = globalThis.inductorDebugGraph;
  const { scene, drawing } = app.panes[0];
  const frame = () => new Promise((done) => { requestAnimationFrame(done); });
  const pan = async (frames) => {
    const began = performance.now();
    let drawn = 0;
    for (let index = 0; index < frames; index += 1) {
      drawing.panBy(index % 2 === 0 ? -8 : 8, -25);
      await frame();
      drawn += drawing.lastFrame;
    }
    return { fps: (frames * 1000) / (performance.now() - began), drawn: drawn / frames };
  };
  const folded = await pan(60);
  const repeat = scene.hierarchy.scopes.find((scope) => scope.kind === "repeat");
  const layer = scene.hierarchy.scopes.find((scope) => scope.path === "encoder.layer.0");
  const times = [];
  for (let index = 0; index < 30; index += 1) {
    const item = scene.hierarchy.table.count + (index % 4 < 2 && repeat ? repeat.id : layer.id);
    const began = performance.now();
    scene.toggle(item);
    await scene.update();
    app.redraw();
    await frame();
    times.push(performance.now() - began);
  }
  times.sort((left, right) => left - right);
  scene.unfoldAll();
  await scene.update();
  app.redraw();
  await frame();
  const unfolded = await pan(60);
  drawing.fit();
  const whole = await pan(60);
  return { nodes: scene.hierarchy.table.count, boxes: scene.visible.items.length, folded, fold: times[Math.floor(times.length / 2)], worst: times.at(-1), unfolded, whole };
});
await browser.close();
rmSync(home, { recursive: true });
const line = (name, { fps, drawn }) => console.log(`${name}: ${fps.toFixed(0)} frames a second, ${drawn.toFixed(1)} ms to draw one`);
console.log(`${result.nodes} nodes, file of ${(file.length / 1e6).toFixed(2)} MB`);
console.log(`first paint: ${firstPaint.toFixed(0)} ms`);
console.log(`folding: ${result.fold.toFixed(1)} ms in the middle, ${result.worst.toFixed(1)} ms at worst`);
line("panning, as it opens", result.folded);
line(`panning, ${result.boxes} boxes unfolded`, result.unfolded);
line("panning, all of them in sight", result.whole);
