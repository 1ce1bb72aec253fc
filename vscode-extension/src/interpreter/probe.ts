/**
 * What an interpreter is: its version and its torch's, found without importing torch.
 *
 * A probe never throws; what went wrong is part of its answer. It is asked beside the daemon's start, never before it.
 */

import { execFile } from "node:child_process";

export interface Probe {
  /** Dotted, such as 3.11.2; empty where the interpreter could not be run. */
  readonly python: string;
  /** The installed torch, such as 2.13.0+cpu; empty where there is none. */
  readonly torch: string;
  /** Why the interpreter could not be run; empty where it could. */
  readonly problem: string;
}

const SCRIPT = [
  "import sys",
  "print('.'.join(map(str, sys.version_info[:3])))",
  "try:",
  "    from importlib import metadata",
  "    print(metadata.version('torch'))",
  "except Exception:",
  "    print('')",
].join("\n");

/** Runs the interpreter once; takes some ten milliseconds. */
export function probe(path: string, patience = 15_000): Promise<Probe> {
  return new Promise((resolve) => {
    execFile(path, ["-I", "-c", SCRIPT], { timeout: patience, windowsHide: true }, (error, output, complaints) => {
      if (error) {
        const reason = complaints.trim().split("\n").at(-1) ?? "";
        resolve({ python: "", torch: "", problem: error.killed ? "it did not answer" : reason || error.message });
        return;
      }
      const [python = "", torch = ""] = output.split(/\r?\n/u);
      const sound = /^\d+\.\d+/u.test(python);
      resolve(sound ? { python, torch, problem: "" } : { python: "", torch: "", problem: "it is not a Python" });
    });
  });
}

/** Whether the version (`3.11.2`) can run the daemon and its workers. */
export function isSupported(python: string): boolean {
  const [major = 0, minor = 0] = python.split(".").map(Number);
  return major === 3 && minor >= 10;
}
