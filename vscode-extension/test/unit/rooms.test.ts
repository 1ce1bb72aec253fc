/**
 * The map of the extension and its pages holds: no circles among modules or rooms (folders), whatever an import is for, and no room too large
 * to look through. What is above what follows from the imports; ARCHITECTURE.md says what each room is for.
 */

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, test } from "vitest";

const EXTENSION = fileURLToPath(new URL("../..", import.meta.url));
const ARCHITECTURE = readFileSync(join(EXTENSION, "..", "ARCHITECTURE.md"), "utf8");
const MOST_FILES = 20;

type Arrows = ReadonlyMap<string, ReadonlySet<string>>;

/** Every module of `src/` and `webview/` with those that it imports, also for types alone. */
function modules(): Arrows {
  const found = ["src", "webview"].flatMap((folder) =>
    readdirSync(join(EXTENSION, folder), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts")).map((path) => join(folder, path)));
  return new Map(found.map((path) => [path, importsOf(path)]));
}

function importsOf(path: string): Set<string> {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(EXTENSION, path), "utf8"), true, true);
  const own = importedFiles.map(({ fileName }) => fileName).filter((name) => name.startsWith("."));
  const paths = own.map((name) => relative(EXTENSION, join(EXTENSION, dirname(path), name)).replace(/\.js$/u, ".ts"));
  return new Set(paths.filter((target) => !target.startsWith("..")));
}

/** The same for rooms: an arrow for each import of a module in another room. */
function rooms(arrows: Arrows): Arrows {
  const found = new Map<string, Set<string>>();
  for (const [path, targets] of arrows) {
    const room = dirname(path);
    const others = found.get(room) ?? new Set();
    for (const target of targets) if (dirname(target) !== room) others.add(dirname(target));
    found.set(room, others);
  }
  return found;
}

/** Those that are left when whoever imports none of the others is taken away again and again: every circle is among them. */
function circles(arrows: Arrows): string[] {
  const left = new Map([...arrows].map(([name, targets]) => [name, new Set([...targets].filter((target) => arrows.has(target)))]));
  for (let lowest = ["…"]; lowest.length > 0; ) {
    lowest = [...left].filter(([, targets]) => targets.size === 0).map(([name]) => name);
    for (const name of lowest) left.delete(name);
    for (const targets of left.values()) for (const name of lowest) targets.delete(name);
  }
  return [...left].map(([name, targets]) => `${name} → ${[...targets].join(", ")}`);
}

const all = modules();

test("modules import each other in no circle", () => {
  expect(circles(all)).toEqual([]);
});

test("rooms import each other in no circle", () => {
  expect(circles(rooms(all))).toEqual([]);
});

test("a circle would be found", () => {
  expect(circles(new Map([["a", new Set(["b"])], ["b", new Set(["c", "a"])], ["c", new Set()]]))).toEqual(["a → b", "b → a"]);
});

test("no two files of the extension have one name", () => {
  const names = [...all.keys()].filter((path) => path.startsWith("src")).map((path) => basename(path));
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

test("pages know nothing of the extension", () => {
  const reaching = [...all].filter(([path, targets]) => path.startsWith("webview") && [...targets].some((target) => target.startsWith("src")));
  expect(reaching.map(([path]) => path)).toEqual([]);
});

describe.each([...rooms(all).keys()])("%s", (room) => {
  test("can be looked through, and ARCHITECTURE.md says what it is for", () => {
    expect([...all.keys()].filter((path) => dirname(path) === room).length).toBeLessThanOrEqual(MOST_FILES);
    expect(ARCHITECTURE).toContain(`\`${room.replaceAll(sep, "/")}/\``);
  });
});
