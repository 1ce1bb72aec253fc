/** Reproducers: what is said of them, what goes with them, and where they are saved. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";

import type { ReproAnswer } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../../src/services/context.js";
import { Notifications } from "../../src/common/notifications.js";
import { carryOut } from "../../src/orders/orders.js";
import { besideIn, nameOf, statusOf, summaryOf } from "../../src/repro/repro.js";
import { saveNew } from "../../src/repro/reproFiles.js";
import { CancellationError, state } from "./vscode.js";

beforeEach(() => { state.reset(); });

const ANSWER: ReproAnswer = {
  uri: "file:///work/model.py", status: "clean", reason: null, notes: [], artifacts: [],
  schema: 1, fingerprint: "", neighbour: "", script: "/cache/repro.py", verified: true, why: "", nodes_before: 46, nodes_after: 1, attempts: 3, seconds: 2.44,
};

describe("what is said of a reproducer", () => {
  test.each([
    [{}, "Verified: it fails by itself in a clean process. 46 ops became 1 (3 attempts, 2.4 s)."],
    [{ attempts: 1 }, "Verified: it fails by itself in a clean process. 46 ops became 1 (1 attempt, 2.4 s)."],
    [{ verified: false, why: "the failure does not reproduce in a clean process", nodes_before: 0 }, "Not verified: the failure does not reproduce in a clean process."],
    [{ verified: false, why: "", nodes_before: 0 }, "Not verified: it was not run."],
    [{ verified: false, status: "cancelled", why: "the search was cancelled", nodes_before: 0 }, "Not verified: you cancelled; this is the smallest until then."],
  ])("%o", (change, text) => {
    expect(summaryOf({ ...ANSWER, ...change })).toBe(text);
    expect(statusOf({ ...ANSWER, ...change }).verified).toBe((change as { verified?: boolean }).verified ?? true);
  });

  test.each([
    ["file:///work/model.py", "graph-break", "repro_model_graph_break.py"],
    ["file:///work/my model (2).py", "dtype", "repro_my_model_2_dtype.py"],
    ["file:///work/model.py", "", "repro_model.py"],
  ])("the script of %s, %s", (uri, rule, name) => {
    expect(nameOf({ uri, rule })).toBe(name);
  });

  test("only the values that the script reads go with it", () => {
    const artifacts = ["/cache/model-12ab34.safetensors", "/cache/model-99.safetensors", "/cache/model-graph_5.pt2", "/cache/repro.py"].map((path) => ({
      kind: "repros" as const, path, bytes: 1, media_type: "",
    }));
    expect(besideIn({ artifacts }, 'saved = load(next(pathlib.Path(__file__).parent.glob("*12ab34*.safetensors")))')).toEqual([artifacts[0]?.path]);
    expect(besideIn({ artifacts }, 'return torch.export.load(next(pathlib.Path(__file__).parent.glob("*graph_5*.pt2")))')).toEqual([artifacts[2]?.path]);
    expect(besideIn({ artifacts }, "nothing is read")).toEqual([]);
  });
});

describe("saving a reproducer", () => {
  const folder = (): string => {
    const made = mkdtempSync(join(tmpdir(), "inductor-debug-"));
    onTestFinished(() => { rmSync(made, { recursive: true }); });
    return join(made, "repros");
  };

  test("makes the folder, and another name where one is taken", async () => {
    const place = folder();
    expect(await saveNew(place, "repro.py", "one", [])).toBe(join(place, "repro.py"));
    expect(await saveNew(place, "repro.py", "two", [])).toBe(join(place, "repro_2.py"));
    expect(await saveNew(place, "repro.py", "three", [])).toBe(join(place, "repro_3.py"));
    expect(readFileSync(join(place, "repro.py"), "utf8")).toBe("one");
  });

  test("takes the values along, and leaves those that are there alone", async () => {
    const place = folder();
    const values = join(place, "..", "model-12ab34.safetensors");
    mkdirSync(place);
    writeFileSync(values, "values");
    await saveNew(place, "repro.py", "one", [values]);
    writeFileSync(join(place, "model-12ab34.safetensors"), "mine");
    await saveNew(place, "repro.py", "two", [values]);
    expect(readdirSync(place).sort()).toEqual(["model-12ab34.safetensors", "repro.py", "repro_2.py"]);
    expect(readFileSync(join(place, "model-12ab34.safetensors"), "utf8")).toBe("mine");
  });

  test("fails where there can be no folder", async () => {
    const place = folder();
    writeFileSync(place, "a file");
    await expect(saveNew(place, "repro.py", "one", [])).rejects.toThrow("EEXIST");
  });
});

describe("carrying out an order", () => {
  type Perform = (report: (message: string, percentage?: number) => void) => Promise<unknown>;
  const ORDER = { title: "Bisecting Net", command: "inductorDebug.restart", request: {} } as const;

  function contextWith(perform: Perform, states: string[] = ["running"]): Context {
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined, show: () => undefined };
    const session = {
      start: () => Promise.resolve(),
      get state() { return states.length > 1 ? states.shift() : states[0]; },
      perform: (_command: string, _values: unknown[], _token: unknown, report: Parameters<Perform>[0]) => perform(report),
      restartByUser: () => undefined,
    };
    return { session, log, notifications: new Notifications(log as never) } as unknown as Context;
  }

  test("shows how far it is, and never goes back", async () => {
    const context = contextWith((report) => {
      report("12 nodes left", 30);
      report("trying again", 20);
      report("nobody knows");
      report("3 nodes left", 90);
      return Promise.resolve("done");
    });
    expect(await carryOut(context, ORDER)).toBe("done");
    expect(state.progress).toEqual([
      { message: "12 nodes left", increment: 30 },
      { message: "trying again", increment: 0 },
      { message: "nobody knows", increment: 0 },
      { message: "3 nodes left", increment: 60 },
    ]);
    expect(state.shown).toEqual([]);
  });

  test("says nothing of what the user has cancelled", async () => {
    expect(await carryOut(contextWith(() => Promise.reject(new CancellationError())), ORDER)).toBeUndefined();
    expect(state.shown).toEqual([]);
  });

  test.each([
    [["running"], "the command 'inductorDebug.bisect' is not available", "Bisecting Net: the command 'inductorDebug.bisect' is not available", ["Show Output"]],
    [["running", "starting"], "connection is disposed", "Bisecting Net: the daemon ended.", ["Show Output"]],
    [["failed"], "", "Bisecting Net: the daemon is not running.", ["Restart"]],
  ])("says why nothing came of it: %j %s", async (states, why, message, actions) => {
    expect(await carryOut(contextWith(() => Promise.reject(new Error(why)), [...states]), ORDER)).toBeUndefined();
    expect(state.shown).toEqual([{ level: "information", message: `Inductor Debug: ${message}`, actions }]);
  });
});
