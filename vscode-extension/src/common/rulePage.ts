/** The address of a rule's page. The scheme is ours, and `rules.ts` provides its documents. */

import * as vscode from "vscode";

export const RULE_SCHEME = "inductor-debug-rule";

export function rulePage(rule: string): vscode.Uri {
  return vscode.Uri.from({ scheme: RULE_SCHEME, path: `/${rule}.md` });
}

/** The rule whose page has this address. */
export function ruleOf(page: vscode.Uri): string {
  return page.path.replace(/^\//u, "").replace(/\.md$/u, "");
}
