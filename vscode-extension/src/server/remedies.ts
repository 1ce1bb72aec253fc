/** What the buttons below a failure do. */

import * as vscode from "vscode";

import { PYTHON_EXTENSION } from "../interpreter/rungs.js";
import type { Action } from "../notifications.js";
import { SECTION } from "../settings.js";
import type { Failure, Remedy } from "./failures.js";
import type { Session } from "./session.js";

export function remedyActions(failure: Failure, session: Session): Action[] {
  return failure.remedies.map((remedy) => actionOf(remedy, session));
}

function actionOf(remedy: Remedy, session: Session): Action {
  switch (remedy) {
    case "chooseInterpreter":
      return { title: vscode.l10n.t("Choose Interpreter"), run: chooseInterpreter };
    case "restart":
      return { title: vscode.l10n.t("Restart"), run: () => session.restartByUser() };
    case "useBundled":
      return {
        title: vscode.l10n.t("Use the Bundled Daemon"),
        run: () =>
          vscode.workspace
            .getConfiguration(SECTION)
            .update("importStrategy", "useBundled", vscode.ConfigurationTarget.Global),
      };
    case "copyInstallTorch":
      return {
        title: vscode.l10n.t("Copy Install Command"),
        run: () => vscode.env.clipboard.writeText(installTorch(session.interpreter?.path ?? "python")),
      };
  }
}

/** The setting wins over the Python extension, so an interpreter that was set is changed where it was set. */
function chooseInterpreter(): Thenable<unknown> {
  const set = vscode.workspace.getConfiguration(SECTION).get<string>("interpreter", "") !== "";
  if (!set && vscode.extensions.getExtension(PYTHON_EXTENSION)) {
    return vscode.commands.executeCommand("python.setInterpreter");
  }
  return vscode.commands.executeCommand("workbench.action.openSettings", `${SECTION}.interpreter`);
}

function installTorch(interpreter: string): string {
  const command = /\s/u.test(interpreter) ? `"${interpreter}"` : interpreter;
  return `${command} -m pip install "torch>=2.11,<2.14"`;
}
