/** The tensor view's groups, order, words and pictures, the line that it follows, and what it asks the daemon. */

import type * as vscode from "vscode";
import { describe, expect, test } from "vitest";

import type { LineTensors, TensorRow } from "../../../shared_schema/generated/wire.js";
import { Asking } from "../../src/tensors/asking.js";
import { movedBy } from "../../src/tensors/line.js";
import { bytesText, curvePoints, dimensionsOf, groupsOf, sticksOf } from "../../webview/tensors/model.js";
import { summary } from "../../webview/tensors/texts.js";
import { Uri } from "./vscode.js";

let count = 0;
const row = (label: string, more: Partial<TensorRow> = {}): TensorRow => ({
  id: (count += 1), kind: "activation", label, named: true, scope: "", roles: [], shape: [2, 8], sizes: [2, 8], dims: ["", ""], stride: [8, 1],
  order: "contiguous", dtype: "float32", device: "cpu", requires_grad: false, bytes: 64, storage_bytes: 64, counted: true, ...more,
});

describe("groups", () => {
  const rows = [
    row("y", { roles: ["made"] }), row("w", { kind: "parameter", roles: ["read"], storage_bytes: 4096 }), row("h"), row("exp(x)", { roles: ["saved"] }),
    row("x", { kind: "input" }), row("bias", { kind: "parameter", dtype: "bfloat16", bytes: 8 }), row("weight", { kind: "parameter", bytes: 512 }),
    row("view", { counted: false, view_of: "h" }),
  ];

  test("what the line touches comes first, then what is alive for other reasons", () => {
    expect(groupsOf(rows, "line").map(({ name, rows: inside }) => [name, ...inside.map(({ label }) => label)])).toEqual([
      ["line", "y", "w"], ["held", "h", "view"], ["saved", "exp(x)"], ["input", "x"], ["parameter", "bias", "weight"],
    ]);
  });

  test("their bytes count each memory once", () => {
    expect(groupsOf(rows, "line").map(({ bytes }) => bytes)).toEqual([4160, 64, 64, 64, 128]);
  });

  test("rows are sorted inside their group", () => {
    const parameters = (order: "bytes" | "name" | "dtype"): string[] => groupsOf(rows, order).at(-1)!.rows.map(({ label }) => label);
    expect([parameters("bytes"), parameters("name"), parameters("dtype")]).toEqual([["weight", "bias"], ["bias", "weight"], ["bias", "weight"]]);
    const layers = [row("layers.10.w", { kind: "parameter" }), row("layers.9.w", { kind: "parameter" })];
    expect(groupsOf(layers, "name")[0]!.rows.map(({ label }) => label)).toEqual(["layers.9.w", "layers.10.w"]);
  });
});

describe("words", () => {
  test("dimensions have the name that the code gives them, else their symbol, and the number of the call", () => {
    expect(dimensionsOf(row("x", { shape: ["t", 768, "2*t", "u0"], sizes: [20, 768, 40], dims: ["T", "", "", ""] }))).toEqual([
      { name: "T", size: "20" }, { name: "", size: "768" }, { name: "2*t", size: "40" }, { name: "u0", size: "u0" },
    ]);
  });

  test("bytes are short", () => {
    expect([0, 512, 4096, 1_572_864, 5 * 1024 ** 4].map(bytesText)).toEqual(["0 B", "512 B", "4 KiB", "1.5 MiB", "5 TiB"]);
  });

  test("who rests on a row, or listens to it, learns all of it", () => {
    const place = { path: "/work/model.py", range: { start: { line: 11, character: 4 }, end: { line: 11, character: 9 } }, text: "f(x)" };
    expect(summary(row("y", { roles: ["made"], scope: "Net.forward", dims: ["B", ""], requires_grad: true, made: place, reads: [place] }))).toBe([
      "y (of Net.forward): This line makes it", "float32 [B = 2, 8], contiguous, strides 8, 1, cpu, requires gradients", "64 B of memory",
      "made by f(x) (model.py:12)", "read by f(x) (model.py:12)",
    ].join("\n"));
    expect(summary(row("k", { counted: false, view_of: "qkv" }))).toContain("a view of qkv");
  });
});

describe("pictures", () => {
  test("the last stick of a row is as full as the sizes leave it", () => {
    // [2, 4, 70] of float16 in sticks of 64: two sticks for 70 elements.
    const layout = { size: [4, 2, 2, 64], stride_map: [70, 64, 280, 1], bytes: 2048, padding_bytes: 928, stick_dimension: 2, sparse: false };
    expect(sticksOf(layout, [2, 4, 70])).toEqual({ elements: 64, length: 70, dimension: 2, perRow: 2, rows: 8, last: 6 / 64 });
    expect(sticksOf({ size: [1, 3, 64], stride_map: [64, 64, 1], bytes: 384, padding_bytes: 0, stick_dimension: 1, sparse: false }, [3, 64])?.last).toBe(1);
    expect(sticksOf({ size: [1, 64], stride_map: [-1, -1], bytes: 128, padding_bytes: 126, sparse: false }, [])).toBeUndefined();
  });

  test("a curve fills its box, and knows its peak", () => {
    const { points, top } = curvePoints([5, 10, 0], 30, 20);
    expect([points[0], points[2], points.at(-1), top]).toEqual([[0, 10], [10, 0], [30, 20], 1]);
  });
});

describe("the line that is followed", () => {
  const change = (line: number, endLine: number, text: string, endCharacter = 0): Parameters<typeof movedBy>[1][number] =>
    ({ range: { start: { line, character: 0 }, end: { line: endLine, character: endCharacter } } as unknown as vscode.Range, text });

  test.each([
    ["a line above is added", change(3, 3, "# note\n"), 11],
    ["lines above are taken away", change(2, 5, ""), 7],
    ["a line below changes", change(12, 13, ""), 10],
    ["the line itself is typed into", change(10, 10, "x\n", 4), 10],
    ["a line is added right before it", change(10, 10, "\n"), 11],
  ])("%s", (_name, edit, line) => {
    expect(movedBy(10, [edit])).toBe(line);
  });
});

describe("asking", () => {
  const question = (line: number): Parameters<Asking["ask"]>[0] => ({ uri: Uri.parse("file:///work/model.py") as unknown as vscode.Uri, line, target: "", call: 0, module: "" });
  const page = (first: number, rows: number, all: number): LineTensors => ({ path: "", line: 0, first, row_count: all, rows: Array.from({ length: rows }, () => row("x")) });

  test("all rows come, page by page", async () => {
    const asked: number[] = [];
    const session = { perform: (_command: string, { first }: { first: number }) => { asked.push(first); return Promise.resolve(page(first, Math.min(40, 100 - first), 100)); } };
    const told: number[] = [];
    await new Asking({ session } as never).ask(question(3), (found) => { told.push(found?.rows?.length ?? 0); });
    expect([asked, told]).toEqual([[0, 40, 80], [40, 40, 20]]);
  });

  test("a newer question cancels the one before, whose answer is not told", async () => {
    const waiting: { line: number; token: vscode.CancellationToken; answer: (found: LineTensors) => void }[] = [];
    const session = {
      perform: (_command: string, { line }: { line: number }, token: vscode.CancellationToken) =>
        new Promise<LineTensors>((resolve) => { waiting.push({ line, token, answer: resolve }); }),
    };
    const asking = new Asking({ session } as never);
    const told: string[] = [];
    const first = asking.ask(question(3), () => { told.push("first"); });
    const second = asking.ask(question(4), () => { told.push("second"); });
    expect(waiting.map(({ token }) => token.isCancellationRequested)).toEqual([true, false]);
    for (const { answer } of waiting) answer(page(0, 1, 1));
    await Promise.all([first, second]);
    expect(told).toEqual(["second"]);
  });

  test("an answer without rows ends it", async () => {
    let asked = 0;
    const session = { perform: () => { asked += 1; return Promise.resolve({ ...page(0, 0, 9), why: "not run" }); } };
    await new Asking({ session } as never).ask(question(3), () => undefined);
    expect(asked).toBe(1);
  });
});
