/**
 * The language client around one process of the daemon. Each start gets a fresh client, because one that failed to start
 * cannot be used again; whether there is a next start is the session's business and never the client's. What the daemon says is passed on as it
 * comes: the session reads it (`reading.ts`).
 */

import * as vscode from "vscode";
import {
  type ClientCapabilities,
  CloseAction,
  DidChangeConfigurationNotification,
  ErrorAction,
  ExecuteCommandRequest,
  type FeatureState,
  LanguageClient,
  MessageType,
  ProgressType,
  RevealOutputChannelOn,
  ShowMessageNotification,
  type StaticFeature,
  WorkDoneProgress,
} from "vscode-languageclient/node";

import type { PartialResult } from "../../../shared_schema/generated/wire.js";
import type { InterpreterService } from "../interpreter/service.js";
import { type DiagnosticsListener, middlewareFor, settingsFor } from "./middleware.js";
import type { Exit, ServerProcess } from "./process.js";
import { ANALYSIS, CLIENT_COMMANDS, type CommandName, type Peer, peerOf, PROTOCOL_VERSION, type RequestOf } from "./protocol.js";

/** Milliseconds the daemon may take to answer `initialize`; it takes a fraction of a second unless the machine is busy. */
const START_PATIENCE = 30_000;
const STOP_PATIENCE = 2_000;
const NOT_ANSWERED = vscode.l10n.t("the daemon was stopped before it had answered");
const { t } = vscode.l10n;

export interface Listeners {
  analysed(said: unknown): void;
  readonly diagnosed: DiagnosticsListener;
  message(severe: boolean, text: string): void;
}

/** A connection, or why there is none: the process ended, or (`exit` is undefined) it did not answer. */
export type Outcome = { readonly connection: Connection } | { readonly exit: Exit | undefined };

/** How far a command is: what it does, and the part of it that is done in percent where that is known. */
export type Report = (message: string, percentage: number | undefined) => void;

export type PieceListener = (piece: PartialResult) => void;

export class Connection {
  private performed = 0;
  private leave: (reason: Error) => void = () => undefined;
  /** The language client never answers what it was asked before it was disposed of. */
  private readonly left = new Promise<never>((_, reject) => { this.leave = reject; });

  constructor(
    private readonly client: LanguageClient,
    readonly peer: Peer,
  ) {
    this.left.catch(() => undefined); // nobody may be waiting
  }

  async execute<C extends CommandName>(command: C, request: RequestOf<C>): Promise<unknown> {
    this.requireOffer(command);
    const answer = this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [request] });
    return Promise.race([answer, this.left]);
  }

  /**
   * As `execute`, for what takes its time: the daemon says how far it is, and may be told to stop. `piece` is told of partial results, of
   * commands that have some (`server/commands/partial_results.py`).
   */
  async perform<C extends CommandName>(
    command: C, request: RequestOf<C>, token: vscode.CancellationToken, report: Report, piece?: (said: unknown) => void,
  ): Promise<unknown> {
    this.requireOffer(command);
    const workDoneToken = `inductorDebug-${(this.performed += 1)}`;
    const partialResultToken = `${workDoneToken}-partial`;
    const listeners = [this.client.onProgress(WorkDoneProgress.type, workDoneToken, (progress) => {
      if (progress.kind === "report") report(progress.message ?? "", progress.percentage);
    })];
    if (piece) listeners.push(this.client.onProgress(new ProgressType<unknown>(), partialResultToken, piece));
    const asked = [piece ? { ...request, partialResultToken } : request];
    try {
      const answer = this.client.sendRequest(ExecuteCommandRequest.type, { command, arguments: asked, workDoneToken }, token);
      return await Promise.race([answer, this.left]);
    } finally {
      for (const listener of listeners) listener.dispose();
    }
  }

  /** @throws where the daemon is of a version that has no such command. */
  private requireOffer(command: CommandName): void {
    const { commands } = this.peer;
    if (!commands.includes(command)) throw new Error(t("the daemon {0} cannot do this yet: update it", this.peer.version));
  }

  /** Something that the daemon asks for has changed. */
  settingsChanged(): void {
    void this.client.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
  }

  /** Says goodbye and waits, briefly, for the process to end. Never rejects. */
  close(): Promise<void> {
    this.leave(new Error(NOT_ANSWERED));
    return this.client.dispose(STOP_PATIENCE).catch(() => undefined);
  }

  /** The process is gone already: only what VS Code holds is let go. */
  abandon(): void {
    this.leave(new Error(NOT_ANSWERED));
    void this.client.dispose(0).catch(() => undefined);
  }
}

/** Connects to a process that was just started. Never rejects. */
export async function connect(
  process: ServerProcess,
  interpreters: InterpreterService,
  listeners: Listeners,
  log: vscode.LogOutputChannel,
  version: string,
): Promise<Outcome> {
  const settings = await settingsFor(interpreters, undefined);
  const client = new QuietClient("inductorDebug", "Inductor Debug", () => Promise.resolve(process.child), {
    documentSelector: [
      { scheme: "file", language: "python" },
      { scheme: "untitled", language: "python" },
      { notebook: { notebookType: "jupyter-notebook", scheme: "file" }, language: "python" },
    ],
    diagnosticCollectionName: "inductor-debug",
    outputChannel: log,
    traceOutputChannel: log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    stdioOptions: { stdout: () => undefined, stderr: () => undefined },
    initializationOptions: { ...settings, protocolVersion: PROTOCOL_VERSION, version, clientCommands: CLIENT_COMMANDS },
    initializationFailedHandler: () => false,
    errorHandler: {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
    },
    markdown: { isTrusted: { enabledCommands: [...CLIENT_COMMANDS] } },
    middleware: middlewareFor(interpreters, listeners.diagnosed),
  });
  client.registerFeature(hiddenAbilities);
  client.onNotification(ANALYSIS, (said: unknown) => { listeners.analysed(said); });
  client.onNotification(ShowMessageNotification.type, ({ type, message }) => {
    listeners.message(type === MessageType.Error, message);
  });
  const started = client.start().then(
    () => true,
    () => false,
  );
  const patience = new Promise<false>((resolve) => { setTimeout(() => { resolve(false); }, START_PATIENCE).unref(); });
  const gone = process.exited.then(() => false as const);
  if (await Promise.race([started, gone, patience])) {
    return { connection: new Connection(client, peerOf(client.initializeResult)) };
  }
  void client.dispose(0).catch(() => undefined);
  const shortly = new Promise<undefined>((resolve) => { setTimeout(() => { resolve(undefined); }, 300).unref(); });
  return { exit: await Promise.race([process.exited, shortly]) };
}

/** The library shows some of its own errors whatever it is told; here they go to the output, and the session explains. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/**
 * Hides two abilities of VS Code. Pulling diagnostics: pushed ones arrive as soon as a stage is through, pulled ones only after VS
 * Code's own delay and after a refresh for each stage. Work-done progress: the language status shows more of the same.
 */
const hiddenAbilities: StaticFeature = {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    delete capabilities.textDocument?.diagnostic;
    delete capabilities.workspace?.diagnostics;
    delete capabilities.window?.workDoneProgress;
  },
  initialize: () => undefined,
  getState: (): FeatureState => ({ kind: "static" }),
  clear: () => undefined,
};
