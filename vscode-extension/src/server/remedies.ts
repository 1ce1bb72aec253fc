/** What the buttons below a failure do. */

import * as vscode from "vscode";

import type { Action } from "../common/notifications.js";
import { SECTION } from "../common/settings.js";
import type { Failure, Remedy } from "./failures.js";

export function remedyActions(failure: Failure, restart: () => unknown): Action[] {
  return failure.remedies.map((remedy) => actionOf(remedy, restart));
}

function actionOf(remedy: Remedy, restart: () => unknown): Action {
  switch (remedy) {
    case "chooseInterpreter":
      return { title: vscode.l10n.t("Choose Interpreter"), run: command("inductorDebug.chooseInterpreter") };
    case "restart":
      return { title: vscode.l10n.t("Restart"), run: restart };
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
