/**
 * What every feature gets: the services of one window, and nothing of each other.
 *
 * A feature is a file that exports `activate(context)`; it registers what it offers and subscribes to the services' events.
 */

import type * as vscode from "vscode";

import type { Analyses } from "./analyses.js";
import type { Overlays } from "./heat/overlays.js";
import type { InterpreterService } from "./interpreter/service.js";
import type { Comparisons } from "./kernelDiff/comparisons.js";
import type { Notifications } from "./notifications.js";
import type { ActivePages } from "./pages/active.js";
import type { OrderPages } from "./pages/orderPages.js";
import type { Session } from "./server/session.js";

/** All but the pages, which stand on these. */
export interface Services {
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

export interface Context extends Services {
  readonly pages: OrderPages;
}
