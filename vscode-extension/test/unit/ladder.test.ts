import { describe, expect, test } from "vitest";

import { climb, type Rung, type RungName } from "../../src/interpreter/ladder.js";

/** The answer of a rung that never comes. */
const NEVER = Symbol("never");

function rung(name: RungName, answer: string | undefined | Error | typeof NEVER): Rung {
  return {
    name,
    find: () => {
      if (answer instanceof Error) return Promise.reject(answer);
      return answer === NEVER ? new Promise(() => undefined) : Promise.resolve(answer);
    },
  };
}

describe("the interpreter is found by the first rung that has an answer", () => {
  test.each([
    ["the setting wins", [rung("setting", "/set"), rung("path", "/usr/bin/python3")], "/set", "setting"],
    ["a silent rung is passed", [rung("setting", undefined), rung("venv", "/w/.venv/bin/python")], "/w/.venv/bin/python", "venv"],
    ["a rung that fails is passed", [rung("python-envs", new Error("boom")), rung("path", "/p")], "/p", "path"],
    ["a rung that never answers is passed", [rung("python", NEVER), rung("path", "/p")], "/p", "path"],
  ] as const)("%s", async (_name, rungs, path, from) => {
    expect((await climb(rungs, 20)).interpreter).toEqual({ path, from });
  });

  test("nothing anywhere is no interpreter, with every rung's answer", async () => {
    const { interpreter, answers } = await climb([rung("setting", undefined), rung("python", new Error("no API"))], 20);
    expect(interpreter).toBeUndefined();
    expect(answers).toEqual([
      { rung: "setting", path: undefined },
      { rung: "python", path: undefined, problem: "Error: no API" },
    ]);
  });
});
