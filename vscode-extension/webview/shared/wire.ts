/**
 * Reads what a daemon has said, which may be of another minor version than this code, or damaged: the twin of `inductor_debug_schema/codec.py`.
 *
 * What is not known here (a member of an enum, a kind of fact) is as if it had not been said: an optional value is absent, an item of a list is
 * left out, and fields of no name here stay where nobody looks. Only what cannot be done without is an error. So whatever comes out of here has
 * the shape that its type says. Pure.
 */

import { ANSWERS, ENUMS, RECORDS, type Shape, type Told } from "../../../shared_schema/generated/shapes.js";
import type { Commands } from "../../../shared_schema/generated/wire.js";

type Said = Readonly<Record<string, unknown>>;

/** It lacks what cannot be done without; the message says what. */
export class WireError extends Error {}

/** @throws WireError */
export function readTold<N extends keyof Told>(name: N, said: unknown): Told[N] {
  return read(name, said, name) as Told[N];
}

/** As much of a record as can be read: nothing is thrown. */
export function readPartOf<N extends keyof Told>(name: N, said: unknown): Partial<Told[N]> {
  const fields = Object.entries(RECORDS[name] ?? {}).map(([field, shape]) => [field.replace(/\??$/u, "?"), shape] as const);
  return isMap(said) ? (readRecord(Object.fromEntries(fields), said, name) as Partial<Told[N]>) : {};
}

/** A document that the daemon has written, as JSON. @throws WireError */
export function readWritten<N extends keyof Told>(name: N, text: string, addedLater: object = {}): Told[N] {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch (error) {
    throw new WireError(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return readTold(name, isMap(said) ? { ...addedLater, ...said } : said);
}

/** @throws WireError */
export function readAnswer<C extends keyof Commands>(command: C, said: unknown): Commands[C]["answer"] {
  return read(ANSWERS[command], said, command) as Commands[C]["answer"];
}

/** How many minor versions lie between two; undefined where the versions are of different majors, or none. */
export function minorsBetween(one: string, other: string): number | undefined {
  const [first, second] = [one, other].map((version) => /^(\d+)\.(\d+)/u.exec(version)?.slice(1).map(Number));
  return first && second && first[0] === second[0] ? Math.abs((first[1] ?? 0) - (second[1] ?? 0)) : undefined;
}

function read(shape: Shape, said: unknown, where: string): unknown {
  if (typeof shape === "string") return readNamed(shape, said, where);
  const [kind, ...shapes] = shape;
  const [inner = "any"] = shapes;
  switch (kind) {
    case "list":
      if (!Array.isArray(said)) throw misfit(where, said);
      return said.flatMap((item, at) => attempt(() => [read(inner, item, `${where}[${at}]`)], []));
    case "map":
      if (!isMap(said)) throw misfit(where, said);
      return Object.fromEntries(Object.entries(said).flatMap(([key, item]) => attempt(() => [[key, read(inner, item, `${where}.${key}`)] as const], [])));
    case "tuple":
      if (!Array.isArray(said) || said.length !== shapes.length) throw misfit(where, said);
      return shapes.map((part, at) => read(part, said[at], `${where}[${at}]`));
    case "or":
      return readChoice(shapes, said, where);
  }
}

/** The first that fits; nothing where none does, and it may be nothing. */
function readChoice(shapes: readonly Shape[], said: unknown, where: string): unknown {
  for (const shape of shapes) {
    const found = attempt(() => ({ value: read(shape, said, where) }), undefined);
    if (found) return found.value;
  }
  if (shapes.includes("null")) return null;
  throw misfit(where, said);
}

function readNamed(name: string, said: unknown, where: string): unknown {
  const fields = RECORDS[name];
  if (fields) {
    if (!isMap(said)) throw misfit(where, said);
    return readRecord(fields, said, where);
  }
  if (!(ENUMS[name]?.includes(said as string) ?? isPlain(name, said))) throw misfit(where, said);
  return said ?? null;
}

function readRecord(fields: Readonly<Record<string, Shape>>, said: Said, where: string): Said {
  const values: Record<string, unknown> = { ...said };
  for (const [field, shape] of Object.entries(fields)) {
    const optional = field.endsWith("?");
    const name = optional ? field.slice(0, -1) : field;
    if (Object.hasOwn(said, name)) {
      const readField = (): unknown => read(shape, said[name], `${where}.${name}`);
      const found = optional ? attempt(() => ({ value: readField() }), undefined) : { value: readField() };
      if (found) values[name] = found.value;
      else Reflect.deleteProperty(values, name);
    } else if (!optional) throw new WireError(`${where}.${name} is missing`);
  }
  return values;
}

function attempt<T, O>(act: () => T, otherwise: O): T | O {
  try {
    return act();
  } catch (error) {
    if (error instanceof WireError) return otherwise;
    throw error;
  }
}

function isPlain(name: string, said: unknown): boolean {
  switch (name) {
    case "any":
      return true;
    case "null":
      return said === null || said === undefined;
    case "integer":
      return Number.isInteger(said);
    case "bytes":
      return said instanceof Uint8Array;
    default:
      return typeof said === name;
  }
}

function isMap(said: unknown): said is Said {
  return typeof said === "object" && said !== null && !Array.isArray(said);
}

function misfit(where: string, said: unknown): WireError {
  const shown = JSON.stringify(said) as string | undefined;
  return new WireError(`${where} is ${shown?.slice(0, 80) ?? "nothing"}`);
}
