import { describe, expect, test } from "vitest";

import { farApart, keepsEnding, noInterpreter, noTorch, otherVersion, startFailed, type Start } from "../../src/server/failures.js";

const INTERPRETER = { path: "/opt/python", from: "setting" } as const;
const START: Start = {
  interpreter: INTERPRETER,
  strategy: "useBundled",
  probe: { python: "3.11.2", torch: "2.13.0", problem: "" },
  tail: [],
};
const enoent = Object.assign(new Error("spawn ENOENT"), { code: "ENOENT" });

describe("whatever keeps the daemon from running is said with what to do", () => {
  test.each([
    ["not there", { exit: { code: null, signal: null, error: enoent } }, /cannot be run: there is no such file\. Choose/u],
    ["no Python", { probe: { python: "", torch: "", problem: "it is not a Python" } }, /cannot be run: it is not a Python/u],
    ["too old", { probe: { python: "3.8.1", torch: "", problem: "" } }, /is Python 3\.8\.1; 3\.10 or newer is needed/u],
    ["garbage", { garbage: "Hello" }, /is not the daemon; it printed: Hello/u],
    ["silent", {}, /did not answer while it was starting/u],
    ["crashed", { exit: { code: 1, signal: null }, tail: ["Traceback", "MemoryError", ""] }, /\(exit code 1\): MemoryError/u],
    ["killed", { exit: { code: null, signal: "SIGKILL" } }, /\(killed by SIGKILL\): it said nothing/u],
    [
      "not installed",
      { strategy: "fromEnvironment", exit: { code: 1, signal: null }, tail: ["/opt/python: No module named inductor_debug"] },
      /not installed in \/opt\/python\. Install it there/u,
    ],
  ] as const)("%s", (_name, changes, expected) => {
    const failure = startFailed({ ...START, ...changes });
    expect(failure.message).toMatch(expected);
    expect(failure.remedies.length).toBeGreaterThan(0);
  });

  test("no interpreter, no torch, another version, again and again", () => {
    expect(noInterpreter().message).toMatch(/No Python was found\. Install/u);
    expect(noTorch(INTERPRETER)).toContain("Install torch there, or choose another interpreter");
    const environment = { interpreter: INTERPRETER, strategy: "fromEnvironment" } as const;
    expect(otherVersion(environment, "0.0.1", 0, 1).message).toMatch(/too old .*pip install --upgrade/u);
    expect(otherVersion(environment, "9.0", 2, 1).message).toMatch(/Update the extension/u);
    expect(farApart(environment, "0.1.0", "0.4.0")).toMatchObject({ message: expect.stringMatching(/0\.1\.0 in \/opt\/python .* 0\.4\.0, .* Bring the older/u) as string, remedies: ["useBundled"] });
    expect(keepsEnding(5, { code: 1, signal: null }, ["boom"]).message).toMatch(/ended 5 times .* boom/u);
  });
});
