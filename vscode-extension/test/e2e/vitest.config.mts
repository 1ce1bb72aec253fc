import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    fileParallelism: false, // one VS Code, one browser and one daemon keep two cores busy
    testTimeout: 600_000,
    hookTimeout: 600_000,
    retry: 0,
    reporters: ["default"],
  },
});
