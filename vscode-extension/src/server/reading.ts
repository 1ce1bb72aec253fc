/** What comes from the daemon as it is read: an answer that does not fit is a failure in words, a notification that does not is left out. */

import * as vscode from "vscode";

import type { Told } from "../../../shared_schema/generated/shapes.js";
import { readAnswer, readTold, WireError } from "../../webview/shared/wire.js";
import type { AnswerOf, CommandName } from "./protocol.js";

/** @throws where the answer lacks what cannot be done without. */
export function answerOf<C extends CommandName>(command: C, said: unknown): AnswerOf<C> {
  try {
    return readAnswer(command, said);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    throw new Error(vscode.l10n.t("the answer of the daemon is not understood: {0}", error.message), { cause: error });
  }
}

/** Whoever is told hears what fits; what does not is a matter for the output, and the next one may. */
export function hearing<N extends keyof Told>(name: N, hear: (told: Told[N]) => void, log: vscode.LogOutputChannel): (said: unknown) => void {
  return (said) => {
    let told: Told[N];
    try {
      told = readTold(name, said);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      log.warn(`ignored what the daemon has said: ${error.message}`);
      return;
    }
    hear(told);
  };
}
