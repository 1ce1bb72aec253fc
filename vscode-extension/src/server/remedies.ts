/** What the buttons below a failure do. */

import * as vscode from "vscode";

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
      return { title: vscode.l10n.t("Choose Interpreter"), run: command("inductorDebug.chooseInterpreter") };
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
    case "installTorch":
      return { title: vscode.l10n.t("Install torch"), run: command("inductorDebug.installTorch") };
  }
}

function command(name: string): () => Thenable<unknown> {
  return () => vscode.commands.executeCommand(name);
}
