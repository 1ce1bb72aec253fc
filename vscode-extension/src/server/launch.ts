/**
 * How the daemon is started: which command, with which arguments and environment. Nothing is started here.
 *
 * The bundled daemon runs isolated (`-I`) with its own libraries, so nothing in the user's environment can break it and nothing of
 * ours can shadow a module of theirs; the workers it starts get neither the flag nor the path.
 */

import { homedir } from "node:os";
import { join } from "node:path";

export type ImportStrategy = "useBundled" | "fromEnvironment";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly strategy: ImportStrategy;
}

/** The command line of a subcommand of the daemon (`serve`, `explain dtype`). */
export function launchOf(
  interpreter: string,
  strategy: ImportStrategy,
  extensionPath: string,
  words: readonly string[],
  folder?: string,
): Launch {
  const start =
    strategy === "useBundled" ? ["-I", join(extensionPath, "bundled", "run.py")] : ["-m", "inductor_debug"];
  return { command: interpreter, args: [...start, ...words], cwd: folder ?? homedir(), strategy };
}
