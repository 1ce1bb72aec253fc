/** The findings on show, as the graph page joins them with nodes. */

import * as vscode from "vscode";

import type { NodeFinding, Severity } from "../../webview/graph/model/findings.js";
import { type Analyses, dataOf, ruleNameOf } from "../analyses.js";

const SEVERITIES: readonly Severity[] = ["error", "warning", "information", "hint"];

/** Those of one target, and those of none. */
export function findingsFor(analyses: Analyses, uri: vscode.Uri, target: string): NodeFinding[] {
  return analyses.findings(uri).flatMap((finding) => {
    const { target: of = "", op = null } = dataOf(finding);
    if (of !== "" && of !== target) return [];
    const { start, end } = finding.range;
    return [{
      rule: ruleNameOf(finding),
      severity: SEVERITIES[finding.severity] ?? "information",
      message: finding.message,
      op,
      place: { path: uri.fsPath, range: { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } } },
    }];
  });
}
