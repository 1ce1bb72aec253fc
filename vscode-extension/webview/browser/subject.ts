/** What pages are about, and what they need of the page around them. */

import type { Daemon } from "./daemon.js";
import type { Files } from "./files.js";
import type { Reveal } from "./tabs.js";

export interface Subject {
  readonly uri: string;
  readonly target: string;
}

export interface Around {
  readonly daemon: Daemon;
  readonly files: Files;
  readonly reveal: Reveal;
  /** Shows a text that is no file. */
  readonly showText: (title: string, text: string, language: string) => void;
  /** Takes the keyboard to the choice of the accelerator. */
  readonly chooseAccelerator: () => void;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
