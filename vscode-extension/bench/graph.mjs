// How fast the graph page is with 20,000 nodes and more: first paint, panning, and folding with thousands of boxes open, in headless
// Chromium. Run by hand, on a machine that does nothing else:
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

const { document, encodeDocument, graph, transformer, TRANSFORMER_CLASSES } = await documents();

/** The same number of operations without a single module: what folds are the parts of a long chain with a few residual edges. */
function chain(count) {
  const name = (index) => `n${Math.max(0, index)}`;
  return graph(Array.from({ length: count }, (_value, index) => ({
    name: name(index), op: "aten.add.Tensor", inputs: index === 0 ? [] : [name(index - 1), name(index - 1 - (index % 7))], shape: [8, 64], dtype: "float32", bytes: 2048,
  })));
}

const browser = await chromium.launch({ executablePath: process.env.INDUCTOR_DEBUG_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });

/** Opens the offline page with one document and waits for its first frame. */
async function open(written) {
  const file = encodeDocument(written);
  const data = { schema: 1, title: "bench", documents: [Buffer.from(file).toString("base64")], findings: [], statistics: [] };
  const path = join(home, "graph.html");
  writeFileSync(path, readFileSync(PAGE, "utf8").replace("@@INDUCTOR_DEBUG_DATA@@", Buffer.from(JSON.stringify(data)).toString("base64")));
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
  console.log(`${written.graphs[0].nodes.length} nodes, file of ${(file.length / 1e6).toFixed(2)} MB, first paint after ${firstPaint.toFixed(0)} ms`);
  return page;
}

/** Panning: frames a second, and how long drawing one takes. */
async function pan(page, what) {
  const { fps, drawn } = await page.evaluate(async () => {
    const { drawing } = globalThis.inductorDebugGraph.panes[0];
    const frame = () => new Promise((done) => { requestAnimationFrame(done); });
    const began = performance.now();
    let drawn = 0;
    for (let index = 0; index < 60; index += 1) {
      drawing.panBy(index % 2 === 0 ? -8 : 8, -25);
      await frame();
      drawn += drawing.lastFrame;
    }
    return { fps: 60_000 / (performance.now() - began), drawn: drawn / 60 };
  });
  console.log(`  panning, ${what}: ${fps.toFixed(0)} frames a second, ${drawn.toFixed(1)} ms to draw one`);
}

/**
 * Folds and unfolds scopes as a click does, one after the other. A step is done when the new layout is drawn; `late` is the longest time
 * between two frames meanwhile, which is what stutters.
 */
async function fold(page, what, kind) {
  const { steps, late, boxes } = await page.evaluate(async (kind) => {
    const app = globalThis.inductorDebugGraph;
    const { scene, drawing } = app.panes[0];
    const { scopes, table } = scene.hierarchy;
    const seen = (scope) => scope.id !== 0 && scope.children.length > 1 && scene.visible.boxOfItem[table.count + scope.id] >= 0;
    const depth = (scope) => (scope.parent < 0 ? 0 : 1 + depth(scopes[scope.parent]));
    const candidates = scopes.filter(seen).sort((one, other) => depth(one) - depth(other));
    const deepest = depth(candidates.at(-1));
    const chosen = kind === "root" ? candidates.slice(0, 2) : candidates.filter((scope) => depth(scope) === deepest);
    const some = Array.from({ length: Math.min(6, chosen.length) }, (_value, index) => chosen[Math.floor((index * (chosen.length - 1)) / Math.max(1, Math.min(6, chosen.length) - 1))]);
    const boxes = scene.visible.items.length;
    const frame = () => new Promise((done) => { requestAnimationFrame(done); });
    const steps = [];
    let [late, drawn] = [0, 0];
    const draw = drawing.draw.bind(drawing);
    drawing.draw = () => {
      draw();
      drawn = performance.now();
    };
    for (let round = 0; round < 3; round += 1) for (const scope of some) for (let twice = 0; twice < 2; twice += 1) {
      drawing.reveal(scene.boxOf(table.count + scope.id));
      await frame();
      await frame();
      const before = scene.layout;
      const began = performance.now();
      app.toggle(0, table.count + scope.id);
      let last = began;
      let arrived = false;
      for (let done = false; !done;) {
        await frame();
        const now = performance.now();
        late = Math.max(late, now - last);
        last = now;
        done = arrived && drawn > began;
        if (!arrived && scene.layout !== before) [arrived, done] = [true, drawing.frame === 0];
      }
      steps.push(drawn - began);
    }
    drawing.draw = draw;
    return { steps: steps.sort((one, other) => one - other), late, boxes };
  }, kind);
  const at = (part) => steps[Math.floor((steps.length - 1) * part)].toFixed(1);
  console.log(`  folding ${what}, ${boxes} boxes open: ${at(0.5)} ms in the middle, ${at(0.9)} ms for nine of ten, ${at(1)} ms at worst; longest frame ${late.toFixed(1)} ms`);
}

/** Unfolds outer scopes first, until there are so many boxes. */
async function unfold(page, budget) {
  const { boxes, time, late } = await page.evaluate(async (budget) => {
    const app = globalThis.inductorDebugGraph;
    const { scene } = app.panes[0];
    let [late, last, done] = [0, performance.now(), false];
    const look = () => {
      late = Math.max(late, performance.now() - last);
      last = performance.now();
      if (!done) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    const began = performance.now();
    scene.unfoldAll(budget);
    await scene.update();
    app.state.changed();
    const time = performance.now() - began;
    await new Promise((next) => { requestAnimationFrame(next); });
    done = true;
    return { boxes: scene.visible.items.length, time, late };
  }, budget);
  console.log(`  unfolding ${boxes} boxes for the first time: ${time.toFixed(0)} ms, longest frame ${late.toFixed(1)} ms`);
  return boxes;
}

async function measure(written) {
  const page = await open(written);
  await pan(page, "as it opens");
  await fold(page, "near the root", "root");
  for (const budget of [3_000, 25_000]) {
    const boxes = await unfold(page, budget);
    await pan(page, `${boxes} boxes unfolded`);
    await fold(page, "near the root", "root");
    await fold(page, "near the leaves", "leaf");
    await page.evaluate(() => { globalThis.inductorDebugGraph.panes[0].drawing.fit(); });
    await pan(page, "all of them in sight");
  }
  await page.close();
}

await measure(document([transformer(layers)], { modules: TRANSFORMER_CLASSES }));
await measure(document([chain(layers * 28)]));
await browser.close();
rmSync(home, { recursive: true });
