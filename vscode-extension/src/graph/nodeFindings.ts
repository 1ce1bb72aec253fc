/** The findings on show, as the graph page joins them with nodes. */

import * as vscode from "vscode";

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { NodeFinding, Severity } from "../../webview/graph/model/findings.js";
import { type Analyses, dataOf, ruleNameOf } from "../services/analyses.js";

const SEVERITIES: readonly Severity[] = ["error", "warning", "information", "hint"];

/** Those of one target, and those of none. */
export function findingsFor(analyses: Analyses, uri: vscode.Uri, target: string): NodeFinding[] {
  return analyses.findings(uri).flatMap((finding) => {
    const { target: of = "", op = null } = dataOf(finding);
    if (of !== "" && of !== target) return [];
    return [{
      rule: ruleNameOf(finding),
      severity: SEVERITIES[finding.severity] ?? "information",
      message: finding.message,
      op,
      place: placeOf(uri, finding.range),
      also: (finding.relatedInformation ?? []).map(({ location }) => placeOf(location.uri, location.range)),
    }];
  });
}

function placeOf(uri: vscode.Uri, { start, end }: vscode.Range): Location {
  return { path: uri.fsPath, range: { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } } };
}
