import type * as vscode from "vscode";
import { beforeEach, expect, test, vi } from "vitest";

import { Notifications } from "../../src/common/notifications.js";
import { state } from "./vscode.js";

const log = { error: vi.fn(), warn: vi.fn(), info: vi.fn(), show: vi.fn() };
let notifications: Notifications;

beforeEach(() => {
  state.reset();
  vi.clearAllMocks();
  notifications = new Notifications(log as unknown as vscode.LogOutputChannel);
});

test("a problem is told once, until it is mended", () => {
  notifications.error("daemon", "it is gone");
  notifications.error("daemon", "it is gone");
  expect(state.shown.length).toBe(1);
  notifications.mended("daemon");
  notifications.error("daemon", "it is gone");
  expect(state.shown.length).toBe(2);
});

test("what the user has learned in another way is known", () => {
  notifications.told("torch");
  expect(notifications.isTold("torch")).toBe(true);
  notifications.mended("torch");
  expect(notifications.isTold("torch")).toBe(false);
});

test("every error leads to the output and says who speaks", () => {
  notifications.error("daemon", "it is gone", { title: "Restart", run: () => undefined });
  expect(state.shown).toEqual([{ level: "error", message: "Inductor Debug: it is gone", actions: ["Restart", "Show Output"] }]);
});

test("the button that is pressed does its work", async () => {
  state.choose = "Restart";
  const run = vi.fn();
  notifications.error("daemon", "it is gone", { title: "Restart", run });
  await vi.waitFor(() => { expect(run).toHaveBeenCalledOnce(); }, 60_000);
});

test.each([
  ["off", 0],
  ["onError", 1],
  ["always", 2],
])("with showNotifications %s, %i of an error and a warning are shown; both are in the output", (wanted, shown) => {
  state.settings.set("inductorDebug.showNotifications", wanted);
  notifications.error("a", "an error");
  notifications.warning("b", "a warning");
  expect(state.shown.length).toBe(shown);
  expect(log.error).toHaveBeenCalledOnce();
  expect(log.warn).toHaveBeenCalledOnce();
});
