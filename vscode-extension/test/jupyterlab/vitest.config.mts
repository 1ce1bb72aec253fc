/** The test in JupyterLab, which `npm run jupyterlab` installs for it: not among the end-to-end tests, for its 200 MB. */

import { defineConfig } from "vitest/config";

import endToEnd from "../e2e/vitest.config.mjs";

export default defineConfig({ ...endToEnd, test: { ...endToEnd.test, include: ["test/jupyterlab/**/*.e2e.ts"] } });
