import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("../unit/vscode.ts", import.meta.url)) } }, // for tests of pages alone
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    fileParallelism: false, // one VS Code, one browser and one daemon keep two cores busy
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: 0,
    reporters: ["default"],
  },
});
