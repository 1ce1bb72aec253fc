/** The page of several accelerators: numbers lead to findings, heads choose, names stay text. */

import { expect, test } from "vitest";

import type { AcceleratorColumn, AcceleratorComparison, Finding } from "../../../shared_schema/generated/wire.js";
import { acceleratorTable } from "../../src/accelerator/acceleratorTable.js";
import { duration } from "../../src/common/words.js";

const RANGE = { start: { line: 11, character: 4 }, end: { line: 11, character: 20 } };
const finding = (message: string): Finding => ({ rule: "dtype", severity: "warning", message, path: "/work/model.py", range: RANGE, stage: "mock" });
const COST = { target: "Net", stage: "mock", ops: 200, unsupported_ops: 5, operations: 1.234e9, moved_bytes: 2048, peak_bytes: 1 << 20, exact: true } as const;
const column = (name: string, more: Partial<AcceleratorColumn> = {}): AcceleratorColumn => ({ accelerator: name, name, title: "", chosen: false, status: "clean", ...more });
const COMPARISON: AcceleratorComparison = {
  path: "/work/model.py",
  target: "Net",
  columns: [
    column("spyre", {
      title: "IBM Spyre", status: "findings", device_bytes: 128e9, costs: [COST], findings: [finding("a <b> is float64"), finding("another")], left_out: 3,
      counts: [{ rule: "dtype", severity: "warning", findings: 5 }],
    }),
    column("<board>", { accelerator: "/work/boards/board.toml", chosen: true, costs: [{ ...COST, unsupported_ops: 0, seconds_at_least: 0.0032, limited_by: "memory" }] }),
  ],
};

test("each accelerator has a column, and what its profile does not say stays empty", () => {
  const page = acceleratorTable(COMPARISON);
  expect(page).toContain("<h1>Accelerators for Net</h1>");
  expect(page).toContain('<th scope="row">ops without a kernel</th><td>5 of 200 (2.5 %)</td><td>0 of 200</td>');
  expect(page).toContain('<th scope="row">peak memory</th><td>1 MiB of 119 GiB</td><td>1 MiB</td>');
  expect(page).toContain('<th scope="row">time</th><td></td><td>at least 3.2 ms (memory)</td>');
});

test("a head chooses its accelerator, but for the one that is chosen", () => {
  const page = acceleratorTable(COMPARISON);
  const links = [...page.matchAll(/href="command:inductorDebug\.useAccelerator\?([^"]*)"/gu)].map((match) => JSON.parse(decodeURIComponent(match[1] ?? "")) as unknown);
  expect(links).toEqual([["spyre"]]);
  expect(page).toContain("&lt;board&gt; <small>(chosen)</small>");
  expect(page).not.toContain("<board>");
});

test("a number leads to its findings, each of which leads to its expression", () => {
  const page = acceleratorTable(COMPARISON);
  expect(page).toContain('<td><a href="#all-0">5</a></td><td></td>');
  for (const [, id] of page.matchAll(/href="#([^"]+)"/gu)) expect(page).toContain(`id="${id ?? ""}"`);
  expect(page).toContain(">model.py, line 12</a>: a &lt;b&gt; is float64");
  expect(page).toContain("3 more are not listed here; a check for spyre lists them all.");
});

test("what was not checked is said above the table", () => {
  const page = acceleratorTable({ ...COMPARISON, targets: [{ name: "Net", line: 0, checked: "partly", why: "it ends with the error in line 3" }] });
  expect(page).toContain("<li>Net: it ends with the error in line 3</li>");
});

test.each([[2, "2 s"], [0.0032, "3.2 ms"], [4.15e-8, "41.5 ns"], [9.99e-6, "9.99 µs"], [0, "0 ns"]])("%f is a time of %s", (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});
