/** Which Pythons are offered, on a machine made of folders. */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { choiceOf } from "../../src/setup/chooseInterpreter.js";
import { discover } from "../../src/interpreter/discovery.js";

let machine: string;
beforeEach(() => { machine = mkdtempSync(join(tmpdir(), "pythons-")); });
afterEach(() => { rmSync(machine, { recursive: true }); });

function python(...parts: string[]): string {
  const path = join(machine, ...parts);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
  chmodSync(path, 0o755);
  return path;
}

function link(path: string, ...parts: string[]): void {
  const made = join(machine, ...parts);
  mkdirSync(dirname(made), { recursive: true });
  symlinkSync(path, made);
}

async function found(environment: NodeJS.ProcessEnv = {}, known: string[] = []): Promise<string[]> {
  const paths = await discover({ folders: [join(machine, "work")], home: join(machine, "home"), environment, known });
  return paths.map((path) => relative(machine, path));
}

test("environments of the workspace, of conda and of pyenv are found, and the PATH last", async () => {
  python("work", "venv", "bin", "python");
  python("work", ".venv", "bin", "python");
  python("home", ".pyenv", "versions", "3.12.1", "bin", "python");
  python("envs", "torch", "bin", "python");
  mkdirSync(join(machine, "home", ".conda"));
  writeFileSync(join(machine, "home", ".conda", "environments.txt"), `${join(machine, "envs", "torch")}\n/nowhere\n`);
  python("usr", "bin", "python3");
  python("usr", "bin", "python3-config");
  expect(await found({ PATH: [join(machine, "usr", "bin"), "/nowhere/at/all"].join(delimiter) })).toEqual([
    "work/.venv/bin/python", "work/venv/bin/python", "envs/torch/bin/python", "home/.pyenv/versions/3.12.1/bin/python", "usr/bin/python3",
  ]);
});

test("names of one file are one Python, but a virtual environment is not what it was made with", async () => {
  const base = python("usr", "bin", "python3.11");
  link(base, "usr", "bin", "python3");
  python("usr", "bin", "python3.12");
  link(base, "work", ".venv", "bin", "python");
  const environment = { PATH: join(machine, "usr", "bin"), VIRTUAL_ENV: join(machine, "work", ".venv") };
  expect(await found(environment, [join(machine, "usr", "bin", "python3.12")])).toEqual([
    "usr/bin/python3.12", "work/.venv/bin/python", "usr/bin/python3",
  ]);
});

test("nothing anywhere is no Python", async () => {
  writeFileSync(join(machine, "work"), "not a folder");
  expect(await found()).toEqual([]);
});

test.each([
  [{ python: "3.12.1", torch: "2.13.0+cpu", problem: "" }, "torch 2.13.0+cpu"],
  [{ python: "3.12.1", torch: "", problem: "" }, "no torch"],
  [{ python: "3.8.2", torch: "2.1.0", problem: "" }, "it is Python 3.8.2, and 3.10 or newer is needed"],
])("each is offered with what it is worth: %o", (probe, use) => {
  expect(choiceOf("/p", probe, false)).toMatchObject({ label: expect.stringContaining(`Python ${probe.python}`) as string, description: use, detail: "/p" });
});
