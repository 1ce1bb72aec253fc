/**
 * The interpreter of every workspace folder, kept up to date while settings and the Python extensions change.
 *
 * Multi-root workspaces may have as many interpreters as folders: the daemon runs under the first folder's, the models of each
 * folder under their own.
 */

import * as vscode from "vscode";

import { SECTION } from "../common/settings.js";
import { climb, type Answer, type Interpreter } from "./ladder.js";
import { probe, type Probe } from "./probe.js";
import { ENVIRONMENTS_EXTENSION, onOtherExtensions, PYTHON_EXTENSION, rungsFor } from "./rungs.js";

/** Events come in bursts while an environment is switched. */
const SETTLE_MILLISECONDS = 150;
/**
 * A window that brings a page of ours back activates us before it has loaded the user's settings, and tells of no change
 * once it has (VS Code 1.100 in a browser): settings are looked at again after these times.
 */
const EARLY_MILLISECONDS = [1_000, 4_000];

export class InterpreterService implements vscode.Disposable {
  private readonly known = new Map<string, Interpreter | undefined>();
  private readonly lastAnswers = new Map<string, readonly Answer[]>();
  private readonly probes = new Map<string, Promise<Probe>>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly disposables: vscode.Disposable[] = [this.changed];
  private timer: NodeJS.Timeout | undefined;

  private settle: () => void = () => undefined;

  /** Settles once the user's settings are loaded for sure: what is found before may not be what they chose. */
  readonly settled = new Promise<void>((resolve) => { this.settle = resolve; });

  /** The interpreter of some folder is another one than before. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** Listens from now on. Never waits for another extension. */
  watch(): void {
    const later = (): void => { this.lookAgainSoon(); };
    this.disposables.push(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`${SECTION}.interpreter`)) later();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(later),
      vscode.extensions.onDidChange(later),
    );
    for (const delay of EARLY_MILLISECONDS) {
      const last = delay === EARLY_MILLISECONDS.at(-1);
      const timer = setTimeout(() => { void this.lookAgain().then(last ? this.settle : undefined); }, delay);
      this.disposables.push({ dispose: () => { clearTimeout(timer); } });
    }
    const present = [ENVIRONMENTS_EXTENSION, PYTHON_EXTENSION].some((id) => vscode.extensions.getExtension(id));
    if (present) {
      onOtherExtensions(later).then(
        (listening) => {
          this.disposables.push(...listening);
          later();
        },
        (error: unknown) => { this.log.warn(`a Python extension could not be listened to: ${String(error)}`); },
      );
    }
  }

  /** The interpreter of a folder (or of files in none), found anew if it is not known yet. */
  async find(folder?: vscode.Uri): Promise<Interpreter | undefined> {
    const key = folder?.toString() ?? "";
    if (!this.known.has(key)) await this.look(folder);
    return this.known.get(key);
  }

  /** The interpreter that runs the daemon: the first folder's. */
  findForServer(): Promise<Interpreter | undefined> {
    return this.find(vscode.workspace.workspaceFolders?.[0]?.uri);
  }

  /** What the interpreter at a path is; asked once, until `forgetProbes`. */
  probe(path: string): Promise<Probe> {
    const known = this.probes.get(path) ?? probe(path);
    this.probes.set(path, known);
    return known;
  }

  /** Torch may have been installed meanwhile. */
  forgetProbes(): void {
    this.probes.clear();
  }

  /** What each rung said for a folder, for the troubleshooting information. */
  answers(folder?: vscode.Uri): readonly Answer[] {
    return this.lastAnswers.get(folder?.toString() ?? "") ?? [];
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const disposable of this.disposables.splice(0)) disposable.dispose();
  }

  private async look(folder: vscode.Uri | undefined): Promise<boolean> {
    const key = folder?.toString() ?? "";
    const { interpreter, answers } = await climb(rungsFor(folder));
    this.lastAnswers.set(key, answers);
    for (const answer of answers) {
      if (answer.problem) this.log.warn(`interpreter: rung ${answer.rung} has no answer: ${answer.problem}`);
    }
    const before = this.known.get(key);
    const same = this.known.has(key) && before?.path === interpreter?.path;
    this.known.set(key, interpreter);
    if (!same) {
      const where = folder ? vscode.workspace.asRelativePath(folder, true) : "files outside of folders";
      const found = interpreter ? `${interpreter.path} (${interpreter.from})` : "none";
      this.log.info(`interpreter for ${where}: ${found}`);
    }
    return !same;
  }

  private lookAgainSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { void this.lookAgain(); }, SETTLE_MILLISECONDS);
  }

  private async lookAgain(): Promise<void> {
    let changed = false;
    for (const key of [...this.known.keys()]) {
      const folder = key === "" ? undefined : vscode.Uri.parse(key);
      changed = (await this.look(folder)) || changed;
    }
    if (changed) {
      this.forgetProbes();
      this.changed.fire();
    }
  }
}
