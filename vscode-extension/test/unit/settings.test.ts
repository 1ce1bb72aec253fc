import { homedir } from "node:os";
import type * as vscode from "vscode";
import { beforeEach, expect, test } from "vitest";

import { daemonSettings, substitute } from "../../src/common/settings.js";
import { state, Uri } from "./vscode.js";

beforeEach(() => { state.reset(); });

test("settings that nobody has set are not sent, so that pyproject.toml decides", () => {
  expect(daemonSettings()).toEqual({});
  state.settings.set("inductorDebug.trigger", "onSave");
  state.settings.set("inductorDebug.strict", false);
  state.settings.set("inductorDebug.accelerator", "");
  state.settings.set("inductorDebug.timeout", null);
  expect(daemonSettings()).toEqual({ trigger: "onSave", strict: false });
});

test("the daemon learns what to hide in the text, and nothing that is the extension's own business", () => {
  state.settings.set("inductorDebug.codeLens.enabled", false);
  state.settings.set("inductorDebug.hover.enabled", true);
  state.settings.set("inductorDebug.infer", false);
  state.settings.set("inductorDebug.artifacts", "project");
  state.settings.set("inductorDebug.showNotifications", "off");
  expect(daemonSettings()).toEqual({ infer: false, artifacts: "project", codeLens: false, hover: true });
});

test("variables in paths are replaced; unknown ones stay to be seen", () => {
  state.folders = [
    { uri: Uri.file("/work/größe"), name: "größe" },
    { uri: Uri.file("/other"), name: "other" },
  ];
  process.env["INDUCTOR_DEBUG_TEST"] = "value";
  const scope = Uri.file("/other/model.py") as unknown as vscode.Uri;
  expect(substitute("${workspaceFolder}/.venv", scope)).toBe("/other/.venv");
  expect(substitute("${workspaceFolder}/.venv")).toBe("/work/größe/.venv");
  expect(substitute("${workspaceFolder:other}/x")).toBe("/other/x");
  expect(substitute("~/x/${env:INDUCTOR_DEBUG_TEST}")).toBe(`${homedir()}/x/value`);
  expect(substitute("${unknown}")).toBe("${unknown}");
});
