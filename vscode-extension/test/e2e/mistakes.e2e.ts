/** The ten mistakes that everyone makes, typed into a model that declares nothing: found at the expression, and mended by the first quick fix. */

import { afterAll, beforeAll, test } from "vitest";

import { until } from "./harness.js";
import { LANGUAGE } from "./models.js";
import { sharedWindow } from "./sharedWindow.js";
import type { Window } from "./window.js";

interface Mistake {
  readonly what: string;
  readonly right: string;
  readonly wrong: string;
  /** What is underlined as an error, and in which line. */
  readonly under: string;
  readonly line: number;
}

const MISTAKES: readonly Mistake[] = [
  { what: "a transpose is forgotten", right: "(q @ k.transpose(-2, -1))", wrong: "(q @ k)", under: "q @ k", line: 22 },
  { what: "other dimensions are swapped", right: "k.transpose(-2, -1)", wrong: "k.transpose(1, 2)", under: "q @ k.transpose(1, 2)", line: 22 },
  { what: "a layer is a feature too wide", right: "nn.Linear(4 * width, width)", wrong: "nn.Linear(4 * width + 1, width)", under: "self.mlp(x)", line: 25 },
  { what: "heads are split wrongly", right: "v = v.view(B, T, self.heads, C // self.heads)", wrong: "v = v.view(B, T, self.heads, C // self.heads + 1)", under: "v.view(B, T, self.heads, C // self.heads + 1)", line: 20 },
  { what: "tensors are joined along another dimension", right: "torch.cat([start, x], dim=1)", wrong: "torch.cat([start, x], dim=2)", under: "torch.cat([start, x], dim=2)", line: 41 },
  { what: "an unsqueeze is missing", right: "expand(B, -1).unsqueeze(1)", wrong: "expand(B, -1)", under: "torch.cat([start, x], dim=1)", line: 41 },
  { what: "dtypes are mixed", right: "self.out(mixed)", wrong: "self.out(mixed.double())", under: "self.out(mixed.double())", line: 24 },
  { what: "a reshape is wrong", right: "reshape(B, T, C)", wrong: "reshape(B, T, C // 2)", under: ".reshape(B, T, C // 2)", line: 23 },
  { what: "an attribute is misspelt", right: "self.norm(x)", wrong: "self.nrom(x)", under: "self.nrom", line: 17 },
  { what: "self is missing", right: "def forward(self, tokens)", wrong: "def forward(tokens)", under: "forward", line: 37 },
];

let window: Window;
beforeAll(async () => {
  window = await sharedWindow({ "language.py": LANGUAGE }, { settings: { "inductorDebug.accelerator": "", "editor.stickyScroll.enabled": false } });
  await window.openFile("language.py");
});
afterAll(() => window.screenshot("mistakes-last"));

/** In the nightly run all of them; where each is found is also held without an editor. */
const EVERY = process.env["INDUCTOR_DEBUG_PROPERTIES"] === "search" ? 1 : 3;

test.each(MISTAKES.filter((_, number) => number % EVERY === 0))("$what", async ({ right, wrong, under, line }) => {
  const sound = async (): Promise<boolean> => (await window.status()).includes("no findings") && (await window.squiggles()).length === 0;
  await until("nothing is wrong", sound);
  await window.goTo(1); // where a click finds the first line
  const text = await window.replace(LANGUAGE, right, wrong);
  await until(`${under} is underlined`, async () => (await window.squiggles()).some((seen) => seen.severity === "error" && seen.line === line && seen.text.endsWith(under)));
  const column = (text.split("\n")[line - 1] ?? "").indexOf(under) + 2;
  await window.fix(line, column, "(verified)");
  await until("the first fix mends it", sound);
  await window.run("File: Revert File");
});
