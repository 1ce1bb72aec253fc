/** The golden vectors, read here with a msgpack library that is not Python's, fit the generated types. */

import { decode } from "@msgpack/msgpack";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import type { AnalysisNotification, Finding } from "../../../shared_schema/generated/wire.js";

const SCHEMA = join(import.meta.dirname, "..", "..", "..", "shared_schema");

interface Definition {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

const { $defs } = JSON.parse(readFileSync(join(SCHEMA, "generated", "wire.schema.json"), "utf8")) as {
  $defs: Readonly<Record<string, Definition>>;
};
const files = readdirSync(join(SCHEMA, "golden")).filter((name) => name.endsWith(".msgpack")); // graphColumns.test.ts has the rest

function vectors(name: string): unknown[] {
  return decode(readFileSync(join(SCHEMA, "golden", name))) as unknown[];
}

describe("what Python writes is read in TypeScript", () => {
  test.each(files)("%s", (file) => {
    const definition = $defs[file.replace(".msgpack", "")];
    const [full, short] = vectors(file) as [Record<string, unknown>, Record<string, unknown>];
    expect(Object.keys(full).sort()).toEqual(Object.keys(definition?.properties ?? {}).sort());
    for (const name of definition?.required ?? []) expect(short).toHaveProperty(name);
  });

  test("numbers, letters and optional parts arrive as they were sent", () => {
    const [finding, bare] = vectors("Finding.msgpack") as [Finding, Finding];
    expect(finding.message).toBe("größer 模型 🙂");
    expect(finding.related?.[0]?.range.end.line).toBe(2 ** 40);
    expect(bare.op).toBeNull();
    const [notification] = vectors("AnalysisNotification.msgpack") as [AnalysisNotification];
    expect(notification.seconds).toBe(0.125);
    expect(notification.targets?.[0]?.stages?.[0]?.stage).toBe("comparison");
  });
});
