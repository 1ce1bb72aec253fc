/** The states of the daemon's life; apart from `session.ts`, so that views need nothing but them. */

/** What the daemon is doing, as far as the window knows. */
export enum SessionState {
  /** Not started yet, or stopped with the window. */
  Off = "off",
  /** The process is being started; nothing can be asked yet. */
  Starting = "starting",
  /** It answers. */
  Running = "running",
  /** It does not run, and will not by itself; `failure` says why. */
  Failed = "failed",
}
