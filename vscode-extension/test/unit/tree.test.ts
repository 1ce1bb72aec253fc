import type * as vscode from "vscode";
import { describe, expect, test } from "vitest";

import type { AnalysisNotification, StageReport, TargetReport } from "../../../shared_schema/generated/wire.js";
import { Analyses, readyTargets, ruleNameOf } from "../../src/services/analyses.js";
import type { Session } from "../../src/server/session.js";
import { type Node, stageWords, TargetsProvider } from "../../src/findings/tree.js";
import { Diagnostic, EventEmitter, Range, Uri } from "./vscode.js";

const FILE = "file:///work/model.py";

class FakeSession {
  private readonly analysed = new EventEmitter<AnalysisNotification>();
  private readonly diagnosed = new EventEmitter<[Uri, Diagnostic[]]>();
  private readonly states = new EventEmitter<string>();
  readonly onAnalysis = this.analysed.event;
  readonly onDiagnostics = this.diagnosed.event;
  readonly onDidChangeState = this.states.event;
  readonly analyses = new Analyses(this as unknown as Session);
  readonly tree = new TargetsProvider(this.analyses);

  tell(state: string, targets: TargetReport[] = [], generation = 1): void {
    // The daemon counts findings alone; hints about what was not checked are none.
    const shown = this.analyses.findings(Uri.parse(FILE) as unknown as vscode.Uri);
    const findings = shown.filter((finding) => ruleNameOf(finding) !== "not-checked").length;
    this.analysed.fire({ uri: FILE, version: 1, generation, state, stage: null, findings, seconds: 0.1, targets });
  }

  find(...findings: [target: string, stage: string, message: string, rule?: string][]): void {
    const diagnostics = findings.map(([target, stage, message, rule = "dtype"]) => {
      const diagnostic = new Diagnostic(new Range(11, 8, 11, 20), message);
      diagnostic.code = { value: rule };
      diagnostic.data = { target, stage };
      return diagnostic;
    });
    this.diagnosed.fire([Uri.parse(FILE), diagnostics]);
  }

  stop(): void {
    this.states.fire("failed");
  }

  /** The view as indented text. */
  rows(node?: Node, depth = 0): string[] {
    return this.tree.getChildren(node).flatMap((child) => {
      const item = this.tree.getTreeItem(child);
      const label = typeof item.label === "string" ? item.label : "model.py";
      return [`${"  ".repeat(depth)}${label}: ${String(item.description)}`, ...this.rows(child, depth + 1)];
    });
  }
}

const PREVIEW: StageReport = { stage: "preview", state: "done", seconds: 0.04, ops: 48 };
const MOCK: StageReport = { stage: "mock", state: "done", seconds: 1.25, ops: 40, graphs: 1, graph_breaks: 2 };
const TARGET: TargetReport = { name: "Model", line: 5, stages: [PREVIEW, MOCK], checked: "yes" };

describe("the view shows targets, stages and findings", () => {
  test("each finding below its stage, the others below the file", () => {
    const session = new FakeSession();
    session.find(["Model", "preview", "float64 is not there\nmore"], ["", "load", "no module named x"]);
    session.tell("done", [TARGET]);
    expect(session.rows()).toEqual([
      "model.py: 2 findings",
      "  dtype: line 12: no module named x",
      "  Model: 1 finding",
      "    run: 48 ops, 0.04 s",
      "      dtype: line 12: float64 is not there",
      "    capture: 40 ops, 1 graph, 2 graph breaks, 1.3 s",
    ]);
  });

  test("what a comparison found of a target is below the target, beside its stages", () => {
    const session = new FakeSession();
    session.find(["Model", "comparison", "inductor computes this wrongly", "numerics"]);
    session.tell("done", [TARGET]);
    expect(session.rows()).toEqual([
      "model.py: 1 finding",
      "  Model: 1 finding",
      "    run: 48 ops, 0.04 s",
      "    capture: 40 ops, 1 graph, 2 graph breaks, 1.3 s",
      "    numerics: line 12: inductor computes this wrongly",
    ]);
  });

  test("what was known stays while a newer run has nothing yet, and is marked", () => {
    const session = new FakeSession();
    session.find(["Model", "preview", "float64 is not there"]);
    session.tell("done", [TARGET]);
    session.tell("running", [], 2);
    expect(session.rows().slice(0, 2)).toEqual(["model.py: checking…", "  Model: 1 finding"]);
    session.tell("stale", [TARGET], 3);
    expect(session.rows()[0]).toBe("model.py: 1 finding, from an earlier text");
  });

  test("nothing is shown of a daemon that is gone", () => {
    const session = new FakeSession();
    session.tell("done", [TARGET]);
    session.stop();
    expect(session.rows()).toEqual([]);
  });

  test("inputs that were inferred have a row, and so has the reason where there are none", () => {
    const session = new FakeSession();
    const inferred = { signature: "x f32[s0, 64]", inputs: "torch.randn(8, 64)", invented: ["width"] };
    session.tell("done", [
      { ...TARGET, inferred },
      { name: "Other", line: 20, inferred: { reason: "forward wants a tokenizer" }, checked: "no", why: "forward wants a tokenizer" },
    ]);
    expect(session.rows()).toEqual([
      "model.py: no findings, 1 of 2 not checked",
      "  Model: no findings",
      "    inputs: inferred: x f32[s0, 64]",
      "    run: 48 ops, 0.04 s",
      "    capture: 40 ops, 1 graph, 2 graph breaks, 1.3 s",
      "  Other: not checked: forward wants a tokenizer",
      "    inputs: none known: forward wants a tokenizer",
    ]);
    expect(session.analyses.all().flatMap(readyTargets).map(({ name }) => name)).toEqual(["Model"]);
  });

  test("what was not checked is never \"no findings\", and its hint is no row of its own", () => {
    const session = new FakeSession();
    const why = "its constructor needs `config`";
    session.find(["Model", "load", `Model: not checked: ${why}`, "not-checked"]);
    session.tell("done", [{ name: "Model", line: 5, checked: "no", why }]);
    expect(session.rows()).toEqual(["model.py: nothing was checked", `  Model: not checked: ${why}`]);
    session.find();
    session.tell("done", [{ ...TARGET, checked: "partly", why: "its capture ended early" }], 2);
    expect(session.rows().slice(0, 2)).toEqual(["model.py: no findings", "  Model: no findings; partly checked: its capture ended early"]);
  });

  test("a stage that failed or was left out says so", () => {
    expect(stageWords({ ...PREVIEW, state: "failed", ops: 3 })).toBe("failed, 3 ops, 0.04 s");
    expect(stageWords({ ...PREVIEW, state: "skipped" })).toBe("skipped");
  });
});
