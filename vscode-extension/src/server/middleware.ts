/**
 * What the extension changes on the way between VS Code and the daemon: settings get the interpreter that was found, and
 * a finding's rule links to its page.
 */

import * as vscode from "vscode";
import type { ConfigurationParams, Middleware } from "vscode-languageclient/node";

import type { InterpreterService } from "../interpreter/service.js";
import { isNotebook } from "../common/places.js";
import { rulePage } from "../common/rulePage.js";
import { daemonSettings, SECTION } from "../common/settings.js";

export type DiagnosticsListener = (uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]) => void;

/** The settings of a scope with the interpreter that the ladder found for its folder. */
export async function settingsFor(
  interpreters: InterpreterService,
  scope: vscode.Uri | undefined,
): Promise<Record<string, unknown>> {
  const folder = scope ? vscode.workspace.getWorkspaceFolder(scope)?.uri : undefined;
  const interpreter = await interpreters.find(folder ?? (scope ? undefined : vscode.workspace.workspaceFolders?.[0]?.uri));
  return { ...daemonSettings(scope), ...(interpreter ? { interpreter: interpreter.path } : {}) };
}

export function middlewareFor(interpreters: InterpreterService, found: DiagnosticsListener): Middleware {
  return {
    handleDiagnostics(uri, diagnostics, next) {
      for (const diagnostic of diagnostics) linkRule(diagnostic);
      if (!isNotebook(uri)) next(uri, diagnostics); // of a notebook that the daemon has read from its file: shown in its cells
      found(uri, diagnostics);
    },
    workspace: {
      configuration: (params: ConfigurationParams) =>
        Promise.all(
          params.items.map(async ({ section, scopeUri }) => {
            if (section !== SECTION) return null;
            return settingsFor(interpreters, scopeUri === undefined ? undefined : vscode.Uri.parse(scopeUri));
          }),
        ),
      // Without values: the library would send every default, too. The daemon asks for what it needs.
      didChangeConfiguration: (_sections, next) => next(undefined),
    },
  };
}

/** A rule that has a page elsewhere (torch's own) keeps it; the others lead to ours. */
function linkRule(diagnostic: vscode.Diagnostic): void {
  if (typeof diagnostic.code === "string" && diagnostic.code !== "") {
    diagnostic.code = { value: diagnostic.code, target: rulePage(diagnostic.code) };
  }
}
