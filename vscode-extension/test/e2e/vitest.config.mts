import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/e2e/**/*.e2e.ts"],
    fileParallelism: false, // one VS Code, one browser and one daemon keep two cores busy
    testTimeout: 180_000,
    hookTimeout: 180_000,
    retry: 0,
    reporters: ["default"],
  },
});
