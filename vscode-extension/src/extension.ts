/**
 * The entry point: makes the services, activates the features, and starts the daemon without waiting for it.
 *
 * VS Code loads this only in a trusted workspace (`untrustedWorkspaces` in package.json), so nothing here has to ask again.
 */

import * as vscode from "vscode";

import * as accelerator from "./accelerator/accelerator.js";
import { Analyses } from "./services/analyses.js";
import * as bisect from "./bisect/bisect.js";
import * as bugReport from "./repro/bugReport.js";
import * as charts from "./charts/charts.js";
import * as chooseInterpreter from "./setup/chooseInterpreter.js";
import * as commands from "./findings/commands.js";

import type { Context } from "./services/context.js";
import * as errorHeat from "./heat/errorHeat.js";
import * as debugging from "./debugging/debugging.js";
import * as demo from "./setup/demo.js";
import * as exampleInputs from "./inputs/exampleInputs.js";
import * as graphView from "./graph/graphView.js";
import { Overlays } from "./services/overlays.js";
import { InterpreterService } from "./interpreter/service.js";
import * as kernelDiff from "./kernelDiff/kernelDiff.js";
import { Comparisons } from "./services/comparisons.js";
import { Notifications } from "./common/notifications.js";
import * as notebooks from "./findings/notebooks.js";
import * as outdated from "./findings/outdated.js";
import { ActivePages } from "./services/activePages.js";
import { OrderPages, type PagesContext } from "./pages/orderPages.js";
import * as report from "./findings/report.js";
import * as repro from "./repro/repro.js";
import * as rules from "./findings/rules.js";
import { Session } from "./server/session.js";
import * as sizes from "./inputs/sizes.js";
import * as status from "./findings/status.js";
import * as tensorView from "./tensors/tensorView.js";
import * as testExplorer from "./kernelDiff/testExplorer.js";
import * as tree from "./findings/tree.js";
import * as troubleshooting from "./setup/troubleshooting.js";
import * as walkthrough from "./setup/walkthrough.js";
import * as suggest from "./accelerator/suggest.js";
import * as whatIfAccelerator from "./accelerator/whatIfAccelerator.js";
import * as workspaceCheck from "./findings/workspaceCheck.js";

/** When VS Code began to load the bundle; the build writes it into the first line. */
declare const inductorDebugLoading: number;

const FEATURES = [commands, workspaceCheck, notebooks, status, tree, outdated, rules, chooseInterpreter, accelerator, whatIfAccelerator, suggest, charts, sizes, exampleInputs, graphView, kernelDiff, errorHeat, tensorView, testExplorer, repro, bisect, debugging, bugReport, report, troubleshooting, walkthrough, demo];

/** What loading took; what VS Code does between loading and activating is not ours. */
const LOADING = performance.now() - inductorDebugLoading;

let session: Session | undefined;

export function activate(extension: vscode.ExtensionContext): void {
  const began = performance.now();
  const log = vscode.window.createOutputChannel("Inductor Debug", { log: true });
  const notifications = new Notifications(log);
  const interpreters = new InterpreterService(log);
  session = new Session(extension, log, notifications, interpreters, () => LOADING + performance.now() - began);
  const shared = { analyses: new Analyses(session), comparisons: new Comparisons(), overlays: new Overlays(), activePages: new ActivePages() };
  const services: Context = { extension, log, notifications, interpreters, session, ...shared };
  const context: PagesContext = { ...services, pages: new OrderPages(services) };
  extension.subscriptions.push(log, interpreters, session, context.analyses, context.comparisons, context.overlays, context.pages);
  for (const feature of FEATURES) feature.activate(context);
  interpreters.watch();
  log.info(`loaded in ${LOADING.toFixed(1)} ms, activated in ${(performance.now() - began).toFixed(1)} ms`);
  void session.start();
}

/** VS Code waits for this: the daemon has said goodbye when it returns. */
export function deactivate(): Promise<void> | undefined {
  return session?.stop();
}
