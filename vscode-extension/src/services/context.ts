/**
 * What every feature gets: the services of one window, and nothing of each other.
 *
 * A feature is a file that exports `activate(context)`; it registers what it offers and subscribes to the services' events.
 */

import type * as vscode from "vscode";

import type { Analyses } from "./analyses.js";
import type { Overlays } from "./overlays.js";
import type { InterpreterService } from "../interpreter/service.js";
import type { Comparisons } from "./comparisons.js";
import type { Notifications } from "../common/notifications.js";
import type { ActivePages } from "./activePages.js";
import type { Session } from "../server/session.js";

export interface Context {
  readonly extension: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly notifications: Notifications;
  readonly interpreters: InterpreterService;
  readonly session: Session;
  readonly analyses: Analyses;
  readonly comparisons: Comparisons;
  readonly overlays: Overlays;
  readonly activePages: ActivePages;
}
