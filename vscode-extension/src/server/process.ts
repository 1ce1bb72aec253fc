/**
 * The daemon's process: started here, watched here, and the last it said on stderr kept for the explanation of its end.
 *
 * Its stdout belongs to the protocol. Only the first bytes are looked at, to recognise something that is no daemon at all.
 */

import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface } from "node:readline";

import type { Launch } from "./launch.js";

const KEPT_LINES = 60;
const KEPT_BYTES = 400;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why the process could not even be started. */
  readonly error?: NodeJS.ErrnoException;
}

export class ServerProcess {
  readonly child: ChildProcessWithoutNullStreams;
  /** Settles when the process has ended or could not be started; never rejects. */
  readonly exited: Promise<Exit>;
  private readonly lines: string[] = [];
  private head = "";
  private over = false;

  constructor(launch: Launch, onLine: (line: string) => void) {
    this.child = spawn(launch.command, [...launch.args], { cwd: launch.cwd, stdio: "pipe", windowsHide: true });
    this.exited = new Promise((resolve) => {
      this.child.once("error", (error) => { this.end(resolve, { code: null, signal: null, error }); });
      this.child.once("close", (code, signal) => { this.end(resolve, { code, signal }); });
    });
    this.child.stdin.on("error", () => undefined); // a broken pipe: the end of the process tells
    this.child.stdout.on("data", (data: Buffer) => {
      if (this.head.length < KEPT_BYTES) this.head += data.toString("utf8", 0, KEPT_BYTES);
    });
    createInterface({ input: this.child.stderr, crlfDelay: Infinity }).on("line", (line) => {
      this.lines.push(line);
      if (this.lines.length > KEPT_LINES) this.lines.shift();
      onLine(line);
    });
  }

  /** The last lines of stderr. */
  get tail(): readonly string[] {
    return this.lines;
  }

  /** What came first on stdout, if it is nothing that a language server sends. */
  get garbage(): string | undefined {
    const text = this.head.trimStart();
    return text === "" || /^Content-(Length|Type):/iu.test(text) ? undefined : text.slice(0, 120);
  }

  get running(): boolean {
    return !this.over;
  }

  /** Ends the process if it has not ended by itself. */
  kill(): void {
    if (!this.over) this.child.kill("SIGKILL");
  }

  private end(resolve: (exit: Exit) => void, exit: Exit): void {
    this.over = true;
    resolve(exit);
  }
}
