import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("test/unit/vscode.ts", import.meta.url)) } },
  test: { include: ["test/unit/**/*.test.ts"], reporters: ["default"], testTimeout: 120_000, hookTimeout: 120_000 }, // for busy machines
});
