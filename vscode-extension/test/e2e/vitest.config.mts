import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

import { Quarantine } from "../quarantine.mjs";

/** The same order on every machine: by name. */
class ByName extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve([...files].sort((left, right) => left.moduleId.localeCompare(right.moduleId)));
  }
}

export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("../unit/vscode.ts", import.meta.url)) } }, // for tests of pages alone
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    globalSetup: ["test/e2e/wholeRun.ts"],
    fileParallelism: false, // one VS Code, one browser and one daemon keep two cores busy
    isolate: false, // files share a browser, and many of them a window
    sequence: { sequencer: ByName },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: 0,
    reporters: ["default", new Quarantine(), ["json", { outputFile: fileURLToPath(new URL("../../../.e2e/results.json", import.meta.url)) }]],
  },
});
