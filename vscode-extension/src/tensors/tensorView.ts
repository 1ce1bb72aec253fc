/** The view "Tensors", and the commands that show it and let it stay with a line. */

import * as vscode from "vscode";

import type { Context } from "../services/context.js";
import { TensorsView } from "./cursorView.js";

const VIEW = "inductorDebug.tensors";

export function activate(context: Context): void {
  const view = new TensorsView(context);
  context.extension.subscriptions.push(
    view,
    vscode.window.registerWebviewViewProvider(VIEW, view),
    vscode.commands.registerCommand("inductorDebug.showTensors", () => vscode.commands.executeCommand(`${VIEW}.focus`)),
    vscode.commands.registerCommand("inductorDebug.pinTensors", () => { view.pin(true); }),
    vscode.commands.registerCommand("inductorDebug.unpinTensors", () => { view.pin(false); }),
  );
}
