/**
 * What a daemon says, whole, torn, or of another minor version: whatever is read has the shape that its type says, and nothing but a
 * `WireError` is ever thrown.
 */

import { decode } from "@msgpack/msgpack";
import fc from "fast-check";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { ANSWERS, ENUMS, RECORDS, type Shape, type Told } from "../../../shared_schema/generated/shapes.js";
import type { AnalysisNotification, Commands } from "../../../shared_schema/generated/wire.js";
import { minorsBetween, readAnswer, readPartOf, readTold, readWritten, WireError } from "../../webview/shared/wire.js";
import { anything, fitting, torn } from "./hostile.js";

const GOLDEN = join(import.meta.dirname, "..", "..", "..", "shared_schema", "golden");
const TOLD = ["AnalysisNotification", "CompileTimeDocument", "DiffDocument", "FindingData", "MemoryDocument", "PartialResult", "RooflineDocument", "RunProfileDocument"] as const satisfies (keyof Told)[];
const vectors = readdirSync(GOLDEN).filter((file) => file.endsWith(".msgpack") && file.replace(".msgpack", "") in RECORDS);

/** Golden vectors are of any record: those that are not told as a whole are read as one. */
const readAs = (name: string, said: unknown): unknown => readTold(name as keyof Told, said);

function vectorsOf(file: string): Record<string, unknown>[] {
  return decode(readFileSync(join(GOLDEN, file))) as Record<string, unknown>[];
}

/** Whether a value has a shape, told without the reader. */
function fits(shape: Shape, value: unknown): boolean {
  if (typeof shape !== "string") {
    const [kind, ...inner] = shape;
    if (kind === "or") return inner.some((one) => fits(one, value));
    if (kind === "tuple") return Array.isArray(value) && value.length === inner.length && inner.every((one, at) => fits(one, value[at]));
    if (kind === "list") return Array.isArray(value) && value.every((item) => fits(inner[0] ?? "any", item));
    return isObject(value) && Object.values(value).every((item) => fits(inner[0] ?? "any", item));
  }
  const fields = RECORDS[shape];
  if (fields) {
    return isObject(value) && Object.entries(fields).every(([field, one]) => {
      const name = field.replace(/\?$/u, "");
      return Object.hasOwn(value, name) ? fits(one, value[name]) : field.endsWith("?");
    });
  }
  if (shape in ENUMS) return ENUMS[shape]?.includes(value as string) ?? false;
  if (shape === "any") return true;
  if (shape === "null") return value === null;
  if (shape === "bytes") return value instanceof Uint8Array;
  return shape === "integer" ? Number.isInteger(value) : typeof value === shape;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What `read` gives; undefined where it refuses, as it may. */
function unlessRefused(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

describe("frames of the daemon", () => {
  test.each(vectors)("%s arrives as it was sent", (file) => {
    for (const said of vectorsOf(file)) expect(readAs(file.replace(".msgpack", ""), said)).toEqual(said);
  });

  test.each(vectors)("%s of a newer daemon, which says more, arrives", (file) => {
    const name = file.replace(".msgpack", "");
    for (const said of vectorsOf(file)) expect(readAs(name, { ...said, added_later: { deep: [1] } })).toEqual({ ...said, added_later: { deep: [1] } });
  });

  test.each(vectors)("%s of an older daemon, which says less, arrives", (file) => {
    const name = file.replace(".msgpack", "");
    const needed = Object.keys(RECORDS[name] ?? {}).filter((field) => !field.endsWith("?"));
    for (const said of vectorsOf(file)) {
      const less = Object.fromEntries(needed.map((field) => [field, said[field]]));
      expect(readAs(name, less)).toEqual(less);
    }
  });
});

describe("what is not known here is as if it had not been said", () => {
  const whole = (): AnalysisNotification => structuredClone((vectorsOf("AnalysisNotification.msgpack") as unknown as AnalysisNotification[])[0]!);

  test("stages, states and statuses of a newer daemon", () => {
    const said = whole();
    const [target] = said.targets!;
    const [stage] = target!.stages!;
    const read = readTold("AnalysisNotification", {
      ...said, stage: "holographic", status: "psychic", targets: [{ ...target, checked: "twice", stages: [stage, { ...stage, stage: "holographic" }] }, "a target"],
    });
    expect(read).toMatchObject({ uri: said.uri, generation: said.generation, stage: null, status: null });
    expect(read.targets).toHaveLength(1);
    expect(read.targets?.[0]).not.toHaveProperty("checked");
    expect(read.targets?.[0]?.stages).toEqual([stage]);
  });

  test("what cannot be done without is named", () => {
    const { generation, ...rest } = whole();
    expect(generation).toBeTypeOf("number");
    expect(() => readTold("AnalysisNotification", rest)).toThrow("AnalysisNotification.generation is missing");
    expect(() => readTold("AnalysisNotification", { ...rest, generation: "x" })).toThrow('generation is "x"');
  });

  test("what a finding carries is read as far as it can be", () => {
    expect(readPartOf("FindingData", { fingerprint: "f", stage: "holographic", count: "many", target: "Model" })).toEqual({ fingerprint: "f", target: "Model" });
    for (const said of [null, undefined, 3, "x", []]) expect(readPartOf("FindingData", said)).toEqual({});
  });

  test.each([["0.1.0", "0.2.3", 1], ["0.3.0", "0.1.0", 2], ["1.0.0", "1.0.9", 0], ["0.9.0", "1.0.0", undefined], ["?", "0.1.0", undefined]])("from %s to %s", (one, other, distance) => {
    expect(minorsBetween(one, other)).toBe(distance);
  });
});

describe("hostile and torn messages", () => {
  test.each(TOLD)("%s: what fits arrives unchanged", (name) => {
    fc.assert(fc.property(fitting(name), (said) => { expect(readTold(name, said)).toEqual(said); }));
  });

  test.each(TOLD)("%s: what is torn is read to what fits, or refused", (name) => {
    fc.assert(fc.property(fc.oneof(torn(name), anything), (said) => {
      const read = unlessRefused(() => readTold(name, said));
      if (read !== undefined) expect(fits(name, read)).toBe(true);
      readPartOf(name, said);
    }));
  });

  test.each(Object.entries(ANSWERS))("the answer of %s, torn", (command, shape) => {
    fc.assert(fc.property(fc.oneof(torn(shape), anything), (said) => {
      const read = unlessRefused(() => readAnswer(command as keyof Commands, said));
      if (read !== undefined) expect(fits(shape, read)).toBe(true);
    }), { numRuns: 40 });
  });

  test("a file that was cut, or is no JSON", () => {
    const text = JSON.stringify(vectorsOf("DiffDocument.msgpack")[0]);
    fc.assert(fc.property(fc.nat({ max: text.length - 1 }), fc.string(), (end, more) => {
      unlessRefused(() => readWritten("DiffDocument", text.slice(0, end) + more));
    }));
    expect(() => readWritten("DiffDocument", text.slice(0, -1))).toThrow(WireError);
  });

  test("no record is in itself: however deep what is said, it is read to the depth of its type", () => {
    const inside = (name: string, seen: readonly string[]): boolean =>
      seen.includes(name) || Object.values(RECORDS[name] ?? {}).flat(9).some((one) => typeof one === "string" && one in RECORDS && inside(one, [...seen, name]));
    expect(Object.keys(RECORDS).filter((name) => inside(name, []))).toEqual([]);
  });
});
