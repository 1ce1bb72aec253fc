/** What `npm test` does with tests that failed in their lane: which it runs again, with which arguments, and what it makes of that. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { EndToEndFailures, type Failures, passesAgain, PythonFailures } from "../../../.ci/again.mjs";

let root: string;
beforeAll(() => { root = mkdtempSync(join(tmpdir(), "inductor-debug-again-")); });
afterAll(() => { rmSync(root, { recursive: true }); });

function has(path: string, content: unknown): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), JSON.stringify(content));
}

function pytest(...names: string[]): Failures {
  has(".pytest_cache/v/cache/lastfailed", Object.fromEntries(names.map((name) => [name, true])));
  return new PythonFailures(root);
}

/** Runs it with a second run that ends so: its verdict, what it ran, what it said. */
async function again(failures: Failures, status: number): Promise<{ passes: boolean; ran: string[][]; said: string }> {
  const ran: string[][] = [];
  const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const passes = await passesAgain("tests", failures, (selection) => (ran.push(selection), Promise.resolve(status)));
  const said = told.mock.calls.map(([line]) => String(line)).join("\n");
  told.mockRestore();
  return { passes, ran, said };
}

test("a test that passes by itself is told and fails no run", async () => {
  const { passes, ran, said } = await again(pytest("tests/test_one.py::test_it[a b]"), 0);
  expect(passes).toBe(true);
  expect(ran).toEqual([["-m", "pytest", "-rx", "tests/test_one.py::test_it[a b]"]]);
  expect(said).toContain("unsteady, failed once and passed by itself: tests/test_one.py::test_it[a b]");
});

test("a failure that comes back counts", async () => {
  const { passes, said } = await again(pytest("tests/test_one.py::test_it"), 1);
  expect(passes).toBe(false);
  expect(said).toContain("failed: tests/test_one.py::test_it");
  expect(said).not.toContain("unsteady");
});

test("many failures are no chance, and a lane that broke without one is not run again", async () => {
  const many = await again(pytest(...Array.from({ length: 6 }, (_, at) => `tests/test_one.py::test_${String(at)}`)), 0);
  expect([many.passes, many.ran]).toEqual([false, []]);
  const failures = pytest("tests/test_one.py::test_it");
  failures.forget();
  const none = await again(failures, 0);
  expect([none.passes, none.ran]).toEqual([false, []]);
});

test("of end-to-end tests the whole files are run again", async () => {
  const file = (name: string, ...tests: [string, string][]): unknown => ({
    name: join(root, "vscode-extension", "test", "e2e", name),
    status: tests.every(([, status]) => status === "passed") ? "passed" : "failed",
    assertionResults: tests.map(([fullName, status]) => ({ fullName, status })),
  });
  has(".e2e/results.json", { testResults: [file("graph.e2e.ts", ["graph opens", "passed"]), file("charts.e2e.ts", ["charts open", "failed"], ["charts close", "passed"])] });
  const { passes, ran, said } = await again(new EndToEndFailures(root), 0);
  expect(passes).toBe(true);
  expect(ran).toEqual([[join("test", "e2e", "charts.e2e.ts")]]);
  expect(said).toContain(`failed: ${join("vscode-extension", "test", "e2e", "charts.e2e.ts")} > charts open`);
});
