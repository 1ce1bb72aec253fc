import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

import { Quarantine } from "./test/quarantine.mjs";

export default defineConfig({
  resolve: { alias: { vscode: fileURLToPath(new URL("test/unit/vscode.ts", import.meta.url)) } },
  test: { include: ["test/unit/**/*.test.ts"], reporters: ["default", new Quarantine()], testTimeout: 120_000, hookTimeout: 120_000 }, // for busy machines
});
