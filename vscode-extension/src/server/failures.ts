/**
 * Why the daemon does not run, in words: what is wrong, and what to do about it. Pure, so that every case has a test.
 */

import * as vscode from "vscode";

import type { Interpreter } from "../interpreter/ladder.js";
import { isSupported, type Probe } from "../interpreter/probe.js";
import type { ImportStrategy } from "./launch.js";
import type { Exit } from "./process.js";

/** What the user can be offered; the session knows how to do each. */
export type Remedy = "chooseInterpreter" | "restart" | "useBundled" | "installTorch";

export interface Failure {
  readonly message: string;
  readonly remedies: readonly Remedy[];
}

export interface Start {
  readonly interpreter: Interpreter;
  readonly strategy: ImportStrategy;
  readonly probe: Probe;
  readonly exit?: Exit | undefined;
  readonly garbage?: string | undefined;
  readonly tail: readonly string[];
}

const { t } = vscode.l10n;

export function noInterpreter(): Failure {
  return {
    message: t(
      "No Python was found. Install Python 3.10 or newer with torch, or name one in the setting inductorDebug.interpreter.",
    ),
    remedies: ["chooseInterpreter"],
  };
}

/** The daemon ended, or said nothing sensible, before it was ready. */
export function startFailed(start: Start): Failure {
  const path = start.interpreter.path;
  const { python, problem } = start.probe;
  if (start.exit?.error !== undefined || problem !== "") {
    const reason = start.exit?.error ? spawnProblem(start.exit.error) : problem;
    return {
      message: t("The interpreter {0} (from {1}) cannot be run: {2}. Choose another one.", path, rung(start), reason),
      remedies: ["chooseInterpreter"],
    };
  }
  if (!isSupported(python)) {
    return {
      message: t("{0} (from {1}) is Python {2}; 3.10 or newer is needed. Choose another one.", path, rung(start), python),
      remedies: ["chooseInterpreter"],
    };
  }
  if (start.strategy === "fromEnvironment" && start.tail.some((line) => line.includes("No module named inductor_debug"))) {
    return {
      message: t(
        "inductor-debug is not installed in {0}. Install it there (pip install inductor-debug), or use the daemon that comes with the extension.",
        path,
      ),
      remedies: ["useBundled", "chooseInterpreter"],
    };
  }
  if (start.garbage !== undefined) {
    return {
      message: t("What {0} started is not the daemon; it printed: {1}", path, start.garbage),
      remedies: start.strategy === "fromEnvironment" ? ["useBundled"] : ["restart"],
    };
  }
  return {
    message: start.exit
      ? t("The daemon ended while it was starting ({0}): {1}", ending(start.exit), lastWords(start.tail))
      : t("The daemon did not answer while it was starting. {0}", lastWords(start.tail)),
    remedies: start.strategy === "fromEnvironment" ? ["restart", "useBundled"] : ["restart"],
  };
}

/** The daemon ended again and again while in use. */
export function keepsEnding(times: number, exit: Exit, tail: readonly string[]): Failure {
  return {
    message: t("The daemon ended {0} times within three minutes ({1}): {2}", times, ending(exit), lastWords(tail)),
    remedies: ["restart"],
  };
}

/** The daemon speaks another version of the protocol. */
export function otherVersion(
  start: Pick<Start, "interpreter" | "strategy">,
  version: string,
  theirs: number,
  ours: number,
): Failure {
  if (theirs > ours) {
    return {
      message: t("The daemon {0} is newer than this extension understands. Update the extension.", version),
      remedies: start.strategy === "fromEnvironment" ? ["useBundled"] : [],
    };
  }
  return {
    message: t(
      "The daemon {0} in {1} is too old for this extension. Update it there (pip install --upgrade inductor-debug), or use the one that comes with the extension.",
      version,
      start.interpreter.path,
    ),
    remedies: start.strategy === "fromEnvironment" ? ["useBundled"] : ["restart"],
  };
}

/** The daemon is more than one minor version away: it is used, though nobody has tried the two together. */
export function farApart(start: Pick<Start, "interpreter" | "strategy">, theirs: string, ours: string): Failure {
  return {
    message: t(
      "The daemon {0} in {1} and this extension, {2}, are more than one version apart: what only one of them knows is left out. Bring the older one up to date.",
      theirs,
      start.interpreter.path,
      ours,
    ),
    remedies: start.strategy === "fromEnvironment" ? ["useBundled"] : [],
  };
}

/** The models of a folder have no torch to run with; the daemon itself is fine. */
export function noTorch(interpreter: Interpreter): string {
  return t(
    "There is no torch in {0} (from {1}), so models cannot be checked. Install torch there, or choose another interpreter.",
    interpreter.path,
    rung({ interpreter }),
  );
}

function rung(start: Pick<Start, "interpreter">): string {
  switch (start.interpreter.from) {
    case "setting":
      return t("the setting inductorDebug.interpreter");
    case "python-envs":
      return t("the Python Environments extension");
    case "python":
      return t("the Python extension");
    case "venv":
      return t("the workspace's .venv");
    case "path":
      return t("the PATH");
  }
}

function spawnProblem(error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return t("there is no such file");
  if (error.code === "EACCES") return t("it may not be executed");
  return error.message;
}

function ending(exit: Exit): string {
  if (exit.signal) return t("killed by {0}", exit.signal);
  return t("exit code {0}", exit.code ?? "?");
}

function lastWords(tail: readonly string[]): string {
  const line = tail.findLast((candidate) => candidate.trim() !== "")?.trim() ?? "";
  return line === "" ? t("it said nothing.") : line.slice(0, 300);
}
