/**
 * The life of the daemon in one window: started, watched, restarted, explained when it cannot run.
 *
 * There is one daemon for all folders. Starts and stops are a queue of one running plus one waiting, so that commands, settings
 * and crashes that come together lead to one restart. A daemon that ends while it was starting is not started again by
 * itself; one that ends in use is, four times in three minutes.
 */

import * as vscode from "vscode";

import type { AnalysisNotification } from "../../../shared_schema/generated/wire.js";
import { minorsBetween } from "../../webview/shared/wire.js";
import type { Interpreter } from "../interpreter/ladder.js";
import type { InterpreterService } from "../interpreter/service.js";
import type { Notifications } from "../common/notifications.js";
import { SECTION } from "../common/settings.js";
import type { Connection, PieceListener, Report } from "./connection.js";
import { farApart, keepsEnding, noInterpreter, noTorch, otherVersion, startFailed, type Failure, type Start } from "./failures.js";
import { type ImportStrategy, launchOf, type Launch } from "./launch.js";
import { type Exit, ServerProcess } from "./process.js";
import { type AnswerOf, type CommandName, PROTOCOL_VERSION, type RequestOf } from "./protocol.js";
import { answerOf, hearing } from "./reading.js";
import { remedyActions } from "./remedies.js";
import { SessionState } from "./state.js";

const RESTARTS = 4;
const RESTART_WINDOW = 180_000;
const SUBJECT = "daemon";
const BY_USER = "command";
const DISTANCE = "version of the daemon";

export class Session implements vscode.Disposable {
  private current: SessionState = SessionState.Off;
  private connection: Connection | undefined;
  private process: ServerProcess | undefined;
  private ends: number[] = [];
  private running: Promise<void> = Promise.resolve();
  private waiting: Promise<void> | undefined;
  private disposed = false;
  /** Connections in whose place another is put: what they were asked is asked again there. */
  private readonly handedOver = new WeakSet<Connection>();
  private readonly stateChanged = new vscode.EventEmitter<SessionState>();
  private readonly analysed = new vscode.EventEmitter<AnalysisNotification>();
  private readonly diagnosed = new vscode.EventEmitter<[vscode.Uri, readonly vscode.Diagnostic[]]>();

  readonly onDidChangeState = this.stateChanged.event;
  readonly onAnalysis = this.analysed.event;
  readonly onDiagnostics = this.diagnosed.event;
  /** Why the daemon does not run. */
  failure: Failure | undefined;
  /** The interpreter that runs the daemon, and what it is. */
  interpreter: Interpreter | undefined;
  versions = { daemon: "", python: "", torch: "" };

  constructor(
    private readonly extension: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly notifications: Notifications,
    private readonly interpreters: InterpreterService,
    private readonly timeSpent: () => number,
  ) {
    interpreters.onDidChange(() => { void this.interpreterChanged(); }, undefined, extension.subscriptions);
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SECTION}.importStrategy`)) void this.restart("another import strategy");
    }, undefined, extension.subscriptions);
  }

  /** Of the extension. */
  private get version(): string {
    return String((this.extension.extension.packageJSON as { readonly version?: unknown }).version);
  }

  get state(): SessionState {
    return this.current;
  }

  /** The last lines the daemon wrote to stderr. */
  get tail(): readonly string[] {
    return this.process?.tail ?? [];
  }

  get processId(): number | undefined {
    return this.process?.running ? this.process.child.pid : undefined;
  }

  /** Starts the daemon if it is not running. */
  start(): Promise<void> {
    return this.current === SessionState.Off ? this.restart("start") : this.running;
  }

  /** Stops what runs and starts anew. Calls that come together are one restart. */
  restart(cause: string): Promise<void> {
    this.waiting ??= this.running.then(() => {
      this.waiting = undefined;
      this.running = this.cycle(cause).catch((error: unknown) => {
        this.log.error(`the daemon could not be started: ${String(error)}`);
        this.fail({ message: String(error), remedies: ["restart"] });
      });
      return this.running;
    });
    return this.waiting;
  }

  /** As `restart`, on behalf of the user: old crashes and old answers about interpreters are forgotten. */
  restartByUser(): Promise<void> {
    this.ends = [];
    this.interpreters.forgetProbes();
    this.notifications.mended(SUBJECT);
    this.notifications.mended(torchIn(this.interpreter?.path));
    return this.restart(BY_USER);
  }

  /** The user is being asked about a Python without torch: no message tells them as well. */
  knowsOfNoTorch(path: string): void {
    this.notifications.told(torchIn(path));
  }

  /** No model can be run in its interpreter. That torch is missing may have been told before, in other words. */
  cannotRunModels(message: string): void {
    const subject = torchIn(this.interpreter?.path);
    if (!this.disposed && !this.notifications.isTold(subject)) this.tell(subject, { message, remedies: ["chooseInterpreter", "installTorch"] });
  }

  /** Asks the daemon to run one of its commands. */
  async execute<C extends CommandName>(command: C, request: RequestOf<C>): Promise<AnswerOf<C> | undefined> {
    return this.carriedOut(async (connection) => answerOf(command, await connection.execute(command, request)));
  }

  /**
   * As `execute`, for commands that take their time. Undefined where the daemon does not run; rejects where it cannot do it, and
   * with a `CancellationError` where the user has cancelled.
   */
  async perform<C extends CommandName>(
    command: C, request: RequestOf<C>, token: vscode.CancellationToken, report: Report, piece?: PieceListener,
  ): Promise<AnswerOf<C> | undefined> {
    try {
      const hear = piece && hearing("PartialResult", piece, this.log);
      return await this.carriedOut(async (connection) => answerOf(command, await connection.perform(command, request, token, report, hear)));
    } catch (error) {
      throw token.isCancellationRequested ? new vscode.CancellationError() : error;
    }
  }

  /** The command line that runs a subcommand of the same daemon, for what needs no server. */
  async launch(words: readonly string[]): Promise<Launch | undefined> {
    const interpreter = this.interpreter ?? (await this.interpreters.findForServer());
    return interpreter && launchOf(interpreter.path, strategy(), this.extension.extensionPath, words, firstFolder());
  }

  async stop(): Promise<void> {
    this.disposed = true;
    await this.disconnect(false);
    this.set(SessionState.Off);
  }

  dispose(): void {
    this.disposed = true;
    this.process?.kill();
    for (const emitter of [this.stateChanged, this.analysed, this.diagnosed]) emitter.dispose();
  }

  /**
   * Has the daemon do something: the one that is starting, and where another is put in its place meanwhile, that one. What the user
   * stopped by a restart, and what a daemon died of, is not begun anew.
   */
  private async carriedOut<T>(act: (connection: Connection) => Promise<T>): Promise<T | undefined> {
    if (this.current === SessionState.Starting) await (this.waiting ?? this.running);
    const { connection } = this;
    if (!connection || this.current !== SessionState.Running) return undefined;
    try {
      return await act(connection);
    } catch (error) {
      if (this.disposed || !this.handedOver.has(connection)) throw error;
      await (this.waiting ?? this.running);
      return this.carriedOut(act);
    }
  }

  private async cycle(cause: string): Promise<void> {
    if (this.disposed) return;
    await this.disconnect(cause !== BY_USER);
    this.failure = undefined;
    this.set(SessionState.Starting);
    const interpreter = await this.interpreters.findForServer();
    this.interpreter = interpreter;
    if (!interpreter) {
      this.fail(noInterpreter());
      return;
    }
    const launch = launchOf(interpreter.path, strategy(), this.extension.extensionPath, ["serve", ...this.verbosity()], firstFolder());
    this.log.info(`starting the daemon (${cause}): ${[launch.command, ...launch.args].join(" ")}`);
    const spent = this.timeSpent();
    const process = new ServerProcess(launch, (line) => { this.log.info(`daemon: ${line}`); });
    this.process = process;
    this.log.debug(`spawned after ${spent.toFixed(1)} ms of loading and activating`);
    const probed = this.interpreters.probe(interpreter.path);
    // The language client is large: it is loaded while the daemon starts, and not before.
    const { connect } = await import("./connection.js");
    const outcome = await connect(process, this.interpreters, {
      analysed: hearing("AnalysisNotification", (notification) => {
        this.log.debug(analysisLine(notification));
        this.analysed.fire(notification);
      }, this.log),
      diagnosed: (uri, diagnostics) => { this.diagnosed.fire([uri, diagnostics]); },
      message: (severe, text) => {
        if (severe) this.notifications.error(text, text);
        else this.notifications.warning(text, text);
      },
    }, this.log, this.version);
    if (!("connection" in outcome)) {
      process.kill();
      const exit = outcome.exit ?? undefined;
      const { garbage, tail } = process;
      const start = { interpreter, strategy: launch.strategy, probe: await probed, exit, garbage, tail };
      this.fail(startFailed(start));
      return;
    }
    await this.accept(outcome.connection, process, interpreter, launch);
    void probed.then((probe) => this.tellTorch(interpreter, probe.python, probe.torch));
  }

  /** Who wants to see everything in the output sees what the daemon asks its workers, too. */
  private verbosity(): string[] {
    return this.log.logLevel === vscode.LogLevel.Trace ? ["--log-level", "debug"] : [];
  }

  private async accept(connection: Connection, process: ServerProcess, interpreter: Interpreter, launch: Launch): Promise<void> {
    const { peer } = connection;
    this.connection = connection;
    if (peer.name !== "inductor-debug" || peer.protocol !== PROTOCOL_VERSION) {
      await this.disconnect(false);
      this.fail(otherVersion({ interpreter, strategy: launch.strategy }, peer.version, peer.protocol, PROTOCOL_VERSION));
      return;
    }
    this.versions = { daemon: peer.version, python: "", torch: "" };
    this.log.info(`the daemon ${peer.version} answers (process ${process.child.pid ?? "?"})`);
    this.notifications.mended(SUBJECT);
    this.set(SessionState.Running);
    this.tellDistance({ interpreter, strategy: launch.strategy }, peer.version);
    void process.exited.then((exit) => { this.ended(process, exit); });
  }

  /** Of daemons one minor version apart all works that both know; those further apart were never tried together. */
  private tellDistance(start: Pick<Start, "interpreter" | "strategy">, version: string): void {
    if ((minorsBetween(version, this.version) ?? 2) <= 1) this.notifications.mended(DISTANCE);
    else {
      const far = farApart(start, version, this.version);
      this.notifications.warning(DISTANCE, far.message, ...remedyActions(far, () => this.restartByUser()));
    }
  }

  /** The daemon's process is gone, and nobody here asked for it. */
  private ended(process: ServerProcess, exit: Exit): void {
    if (this.process !== process || this.disposed || this.current !== SessionState.Running) return;
    const now = performance.now(); // steady: nobody sets it
    this.ends = [...this.ends.filter((time) => now - time < RESTART_WINDOW), now];
    this.log.error(`the daemon ended (${exit.signal ?? `exit code ${exit.code ?? "?"}`})`);
    this.connection?.abandon();
    this.connection = undefined;
    if (this.ends.length <= RESTARTS) {
      void this.restart("it had ended");
      return;
    }
    this.fail(keepsEnding(this.ends.length, exit, process.tail));
    this.ends = [];
  }

  private async tellTorch(interpreter: Interpreter, python: string, torch: string): Promise<void> {
    if (this.interpreter !== interpreter) return;
    this.versions = { ...this.versions, python, torch };
    this.stateChanged.fire(this.current);
    if (torch !== "" || python === "") {
      this.notifications.mended(torchIn(this.interpreter.path));
      return;
    }
    await this.interpreters.settled; // nobody is told of an interpreter that they have not chosen
    const now = await this.interpreters.findForServer();
    if (this.interpreter === interpreter && now?.path === interpreter.path) this.cannotRunModels(noTorch(interpreter));
  }

  /** The bundled daemon can stay where it is: only the workers move to another interpreter. */
  private async interpreterChanged(): Promise<void> {
    const now = await this.interpreters.findForServer();
    if (now?.path !== this.interpreter?.path) await this.restart("another interpreter");
    else this.connection?.settingsChanged();
  }

  private async disconnect(handsOver: boolean): Promise<void> {
    const { connection, process } = this;
    this.connection = undefined;
    this.process = undefined;
    if (connection && handsOver) this.handedOver.add(connection);
    await connection?.close();
    process?.kill();
  }

  private fail(failure: Failure): void {
    this.failure = failure;
    this.set(SessionState.Failed);
    if (!this.disposed) this.tell(SUBJECT, failure);
  }

  private tell(subject: string, failure: Failure): void {
    this.notifications.error(subject, failure.message, ...remedyActions(failure, () => this.restartByUser()));
  }

  private set(state: SessionState): void {
    this.current = state;
    void vscode.commands.executeCommand("setContext", "inductorDebug.session", state);
    if (!this.disposed) this.stateChanged.fire(state);
  }
}

function analysisLine(analysis: AnalysisNotification): string {
  const { uri, version, generation, state, stage, findings, seconds, cause = "" } = analysis;
  const name = decodeURIComponent(uri.split("/").at(-1) ?? uri);
  const text = `version ${version ?? "?"}, generation ${generation}, stage ${stage ?? "none"}, findings ${findings}`;
  return `analysis of ${name}: ${state}, ${text}, ${seconds} s, ${cause}`;
}

/** What is told once of an interpreter in which no model can run. */
function torchIn(path = ""): string {
  return `torch in ${path}`;
}

function strategy(): ImportStrategy {
  return vscode.workspace.getConfiguration(SECTION).get<ImportStrategy>("importStrategy", "useBundled");
}

function firstFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file")?.uri.fsPath;
}
