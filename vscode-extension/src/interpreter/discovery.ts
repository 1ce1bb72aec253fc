/**
 * Which Pythons there are on this machine, for somebody who is about to choose one: those the Python extensions know, the
 * environments in a workspace folder and those of conda and pyenv, and what is on the PATH.
 *
 * Places are looked at, nothing is run: what an interpreter is, `probe.ts` says. Each bin folder counts once for each name.
 */

import { access, constants, readdir, readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";

const WINDOWS = process.platform === "win32";
const NAMED = WINDOWS ? /^python\.exe$/u : /^python(?:3(?:\.\d+)?)?$/u;

/** Where Pythons are looked for; the tests give folders of their own. */
export interface Places {
  /** Workspace folders, the first before the others. */
  readonly folders: readonly string[];
  readonly home: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Executables that somebody else knows. */
  readonly known: readonly string[];
}

export function placesHere(folders: readonly string[], known: readonly string[]): Places {
  return { folders, known, home: homedir(), environment: process.env };
}

/** The executables, the likeliest first, without the same one twice. */
export async function discover(places: Places): Promise<string[]> {
  const found = await Promise.all([
    Promise.resolve([...places.known]),
    inEach(await foldersIn(places.folders), pythonsOf),
    activated(places.environment),
    ofConda(places.home),
    inEach(await foldersIn([join(places.environment["PYENV_ROOT"] ?? join(places.home, ".pyenv"), "versions")]), pythonsOf),
    inEach((places.environment["PATH"] ?? "").split(delimiter).filter(Boolean), pythonsIn),
  ]);
  return distinct(found.flat());
}

/** The executable of an environment: a folder with `bin/python` (`Scripts`, or the folder itself, on Windows). */
async function pythonsOf(environment: string): Promise<string[]> {
  const inside = WINDOWS ? [join("Scripts", "python.exe"), "python.exe"] : [join("bin", "python")];
  for (const name of inside) {
    const path = join(environment, name);
    if (await isExecutable(path)) return [path];
  }
  return [];
}

async function activated(environment: NodeJS.ProcessEnv): Promise<string[]> {
  return inEach([environment["VIRTUAL_ENV"], environment["CONDA_PREFIX"]].filter((path) => path !== undefined), pythonsOf);
}

/** Conda writes each environment that it makes into a file. */
async function ofConda(home: string): Promise<string[]> {
  const text = await readFile(join(home, ".conda", "environments.txt"), "utf8").catch(() => "");
  return inEach(text.split(/\r?\n/u).filter(Boolean), pythonsOf);
}

/** The executables in a folder of the PATH: `python3.12` before `python3` would be the same twice, so the plain names go first. */
async function pythonsIn(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => NAMED.test(name));
  const paths = names.sort((left, right) => left.length - right.length || left.localeCompare(right)).map((name) => join(folder, name));
  const usable = await Promise.all(paths.map(isExecutable));
  return paths.filter((_path, index) => usable[index]);
}

async function foldersIn(parents: readonly string[]): Promise<string[]> {
  return inEach(parents, async (parent) => {
    const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map((entry) => join(parent, entry.name)).sort();
  });
}

async function inEach(places: readonly string[], look: (place: string) => Promise<string[]>): Promise<string[]> {
  return (await Promise.all(places.map(look))).flat();
}

/**
 * Links in one folder to the same file are one Python. Links in different folders are not: that is how the Python of a virtual
 * environment is told from the one it was made with.
 */
async function distinct(paths: readonly string[]): Promise<string[]> {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const [folder, file] = await Promise.all([realpath(dirname(path)), realpath(path)].map((real) => real.catch(() => undefined)));
    const key = `${folder ?? dirname(path)}\n${file ?? basename(path)}`;
    if (!seen.has(key)) seen.set(key, path);
  }
  return [...seen.values()];
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(() => true, () => false);
}
