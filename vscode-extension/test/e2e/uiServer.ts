/** `inductor-debug ui` as a process, for tests that look at it and for its picture. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

import { PYTHON } from "./harness.js";

export interface UiServer {
  /** The page's, with the token. */
  readonly address: string;
  /** Ends it as Ctrl-C does; the exit code. */
  readonly stop: () => Promise<number | null>;
}

/** Starts it in a folder, on these paths. */
export async function startUi(folder: string, ...paths: readonly string[]): Promise<UiServer> {
  const server = spawn(PYTHON, ["-m", "inductor_debug", "ui", "--no-open", ...paths], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => { server.once("exit", resolve); });
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: server.stdout }).once("line", resolve);
    void ended.then((code) => { reject(new Error(`it ended with ${String(code)}`)); });
  });
  return {
    address,
    stop: () => {
      server.kill("SIGINT");
      return ended;
    },
  };
}
