/** Every setting that the daemon reads, set in the editor to something else than its default, arrives where a worker is asked. */

import { delimiter } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { DAEMON_SETTINGS } from "../../../shared_schema/generated/settings.js";
import { clickUntil, folder, PYTHON, until, Workbench } from "./harness.js";
import type { Window } from "./window.js";

const MODEL = "import torch\n\n\n# inductor-debug: inputs=(torch.randn(8, 64),)\ndef double(x):\n    return x * 2\n";
const UNUSUAL: Readonly<Record<(typeof DAEMON_SETTINGS)[number], unknown>> = {
  trigger: "manual",
  accelerator: "spyre",
  stages: ["preview", "aot"],
  strict: true,
  severity: { layout: "hint" },
  exclude: ["left_out"],
  include: ["kept"],
  allow: ["network"],
  timeout: 77,
  memoryLimit: 3 * 2 ** 30,
  infer: false,
  artifacts: "off",
};
/** A package with an adapter, installed as pip would. */
const CITRON = {
  "citron.py": 'from inductor_debug import AcceleratorAdapter, AcceleratorCapabilities\n\n\nclass Citron(AcceleratorAdapter):\n    capabilities = AcceleratorCapabilities("citron", title="Citron, 2 GB", memory_bytes=2 << 30)\n',
  "citron-0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: citron\nVersion: 0.1\n",
  "citron-0.1.dist-info/entry_points.txt": "[inductor_debug.accelerators]\ncitron = citron:Citron\n",
};

/** A job as the daemon logs it (`engine/runner.py`). */
interface Job {
  readonly settings: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, unknown>>;
}

let bench: Workbench;
let window: Window;

beforeAll(async () => {
  const said = Object.fromEntries(Object.entries(UNUSUAL).map(([name, value]) => [`inductorDebug.${name}`, value]));
  const path = [folder(CITRON), process.env["PYTHONPATH"]].filter(Boolean).join(delimiter);
  bench = await Workbench.start({ ...said, "inductorDebug.interpreter": PYTHON }, { PYTHONPATH: path }, [], "trace");
  window = await bench.open(bench.folder({ "model.py": MODEL }));
});
afterAll(() => bench.close());

function jobs(): Job[] {
  return [...window.output().matchAll(/ job (\{.*\})$/gmu)].map(([, json]) => JSON.parse(json ?? "") as Job);
}

test("every setting arrives", async () => {
  await window.openFile("model.py");
  await window.run("Inductor Debug: Check File");
  const job = await until("a worker is asked", () => jobs()[0]);
  const snake = (name: string): string => name.replace(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
  const { accelerator, ...plain } = UNUSUAL;
  for (const [name, value] of Object.entries(plain)) expect(job.settings[snake(name)], name).toEqual(name === "severity" ? expect.anything() : value);
  expect(JSON.stringify(job.settings["severity"])).toContain("hint");
  expect(job.settings["profile"]).toMatchObject({ name: accelerator });
  expect(job.request).toMatchObject({ stages: UNUSUAL.stages, allow: UNUSUAL.allow, memory_limit: UNUSUAL.memoryLimit, infer: UNUSUAL.infer });
});

test("an installed adapter is offered in the picker, and chosen there judges the next check", async () => {
  await window.run("Inductor Debug: Choose Accelerator");
  const row = window.page.locator(".quick-input-list .monaco-list-row", { hasText: "citron" });
  await until("it is offered with its title and package", async () => (await row.innerText()).includes("Citron, 2 GB · with citron 0.1"));
  await window.screenshot("citron");
  await clickUntil("the status says so", row, async () => (await window.status()).includes("Accelerator: citron"));
  await window.run("Inductor Debug: Check File");
  const job = await until("a worker is asked", () => jobs().find(({ settings }) => (settings["profile"] as { name?: string }).name === "citron"));
  expect(job.settings["profile"]).toMatchObject({ source: { capabilities: { memory_bytes: 2 ** 31 } } });
});
