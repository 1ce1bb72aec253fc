/** What a whole run of tests has: one folder for all that they write. At the end nothing is left of it, nor of the servers that were started in it. */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of this run. Its folder `servers` has a file for each server that runs, named as its process, which leads a group of its own. */
    readonly home: string;
  }
}

export default function begin(project: TestProject): () => void {
  const home = mkdtempSync(join(tmpdir(), "inductor-debug-e2e-"));
  project.provide("home", home);
  return () => {
    for (const group of started(home)) {
      try {
        process.kill(-group, "SIGKILL");
      } catch {
        // it has ended already
      }
    }
    if (process.env["INDUCTOR_DEBUG_E2E_KEEP"] === undefined) rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  };
}

function started(home: string): number[] {
  try {
    return readdirSync(join(home, "servers")).map(Number);
  } catch {
    return []; // no test needed one
  }
}
