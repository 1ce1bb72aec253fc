/**
 * The commands "Show Memory Over the Run", "Show Roofline", "Profile This Target" and "Show Compile Time", and those that open what another run
 * has recorded: what running or compiling takes, drawn, beside the editor. A click leads to the expression.
 */

import * as vscode from "vscode";

import { targetOf } from "../orders/subjects.js";
import type { Subject } from "../server/protocol.js";
import type { Context } from "../services/context.js";
import { type Chart, ChartPanel } from "./chartPanel.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.charts";
const SNAPSHOTS = ["pickle", "pkl"];
const TRACES = ["json", "gz"];

export function activate(context: Context): void {
  const open = new Map<string, ChartPanel>();
  const show = async (key: string, chart: Chart): Promise<void> => {
    let tab = open.get(key);
    if (!tab) {
      const panel = vscode.window.createWebviewPanel(VIEW, chart.title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableFindWidget: true });
      tab = new ChartPanel(context, panel, chart, () => open.delete(key));
      open.set(key, tab);
    }
    tab.reveal();
    await tab.run();
  };
  const ofTarget = (name: string, title: string, chart: (subject: Subject) => Chart) => async (given?: unknown, target?: unknown): Promise<void> => {
    const subject = await targetOf(context, title, given, target);
    if (subject) await show(`${name}\n${subject.uri}\n${subject.target}`, chart(subject));
  };
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.showMemory", ofTarget("memory", t("Show Memory Over the Run"), memoryOf)),
    vscode.commands.registerCommand("inductorDebug.showRoofline", ofTarget("roofline", t("Show Roofline"), rooflineOf)),
    vscode.commands.registerCommand("inductorDebug.profileTarget", ofTarget("profile", t("Profile This Target"), profileOf)),
    vscode.commands.registerCommand("inductorDebug.showCompileTime", ofTarget("compile-time", t("Show Compile Time"), compileTimeOf)),
    vscode.commands.registerCommand("inductorDebug.openTraceOfTarget", async (given?: unknown, target?: unknown) => {
      const title = t("Open a Recorded Profile of This Target");
      const subject = await targetOf(context, title, given, target);
      const trace = subject && (await picked(title, { [t("Traces of torch.profiler")]: TRACES }));
      if (subject && trace) await show(`trace\n${subject.uri}\n${subject.target}\n${trace.toString()}`, traceOf(subject, trace));
    }),
    vscode.commands.registerCommand("inductorDebug.openRecording", async (given?: unknown) => {
      const kinds = { [t("Memory snapshots and traces")]: [...SNAPSHOTS, ...TRACES], [t("All files")]: ["*"] };
      const uri = given instanceof vscode.Uri ? given : await picked(t("Open a Memory Snapshot or a Profile"), kinds);
      if (uri) await show(`recording\n${uri.toString()}`, recordingOf(uri));
    }),
    { dispose: () => { for (const tab of [...open.values()]) tab.dispose(); } },
  );
}

function memoryOf(subject: Subject): Chart {
  const title = t("Running {0} for its memory", subject.target);
  return { title: t("Memory: {0}", subject.target), order: () => ({ title, command: "inductorDebug.memory", request: { ...subject } }), about: subject, runsBackends: false };
}

function rooflineOf(subject: Subject): Chart {
  const title = t("Counting what {0} costs", subject.target);
  return { title: t("Roofline: {0}", subject.target), order: () => ({ title, command: "inductorDebug.roofline", request: { ...subject } }), about: subject, runsBackends: false };
}

function profileOf(subject: Subject): Chart {
  const title = t("Profiling {0}", subject.target);
  return { title: t("Profile: {0}", subject.target), order: (backend) => ({ title, command: "inductorDebug.profile", request: { ...subject, backend } }), about: subject, runsBackends: true };
}

function compileTimeOf(subject: Subject): Chart {
  const title = t("Compiling {0} under a clock", subject.target);
  return { title: t("Compile Time: {0}", subject.target), order: (_backend, ways) => ({ title, command: "inductorDebug.compileTime", request: { ...subject, ways } }), about: subject, runsBackends: false };
}

function traceOf(subject: Subject, trace: vscode.Uri): Chart {
  const title = t("Reading {0}", nameOf(trace));
  const request = { ...subject, trace: trace.toString() };
  return { title: t("Profile: {0}", subject.target), order: () => ({ title, command: "inductorDebug.profile", request }), about: subject, runsBackends: false };
}

function recordingOf(uri: vscode.Uri): Chart {
  const title = t("Reading {0}", nameOf(uri));
  return { title: nameOf(uri), order: () => ({ title, command: "inductorDebug.recording", request: { uri: uri.toString() } }), about: undefined, runsBackends: false };
}

function nameOf({ path }: vscode.Uri): string {
  return path.split("/").at(-1) ?? path;
}

async function picked(title: string, filters: Record<string, string[]>): Promise<vscode.Uri | undefined> {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  const found = await vscode.window.showOpenDialog({ title, filters, ...(folder ? { defaultUri: folder.uri } : {}) });
  return found?.[0];
}
