/**
 * Comparisons of targets: asked of the daemon (`inductorDebug.diff`), read from the files that it names. The newest of each target is
 * kept for whoever shows it: the page, the colours on the lines, the tests.
 */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import type { DiffAnswer, DiffDocument, DiffOptions, DiffPiece, DiffRequest } from "../../../shared_schema/generated/wire.js";
import { readWritten } from "../../webview/shared/wire.js";
import type { Subject } from "../server/protocol.js";
import type { PieceListener } from "../server/connection.js";

const { t } = vscode.l10n;
const REPORT = "application/json";
/** What documents of older daemons do not have; a tab may have kept one. */
const ADDED_LATER = { segments: [], faults: [], partial: false } as const;
const MAPS = "application/vnd.inductor-debug.diff-maps+msgpack";

/** What is said about a comparison: always what is compared. */
export type CompareOptions = Omit<DiffOptions, "backend"> & { readonly backend: string };

export interface Comparison {
  readonly subject: Subject;
  readonly options: CompareOptions;
  readonly document: DiffDocument;
  /** Paths of the files that it is in. */
  readonly report: string;
  readonly maps: string | undefined;
}

/** What a tab keeps of it over a restart. */
export type Kept = Pick<Comparison, "subject" | "options"> & Partial<Pick<Comparison, "report" | "maps">>;

/** Nothing came of it; the message says why. */
export class CompareError extends Error {}

/** Something has come of a comparison that goes on. `first` begins it. */
export interface Growth extends Pick<Comparison, "subject" | "options"> {
  readonly piece: DiffPiece;
  readonly first: boolean;
}

/** Asks the daemon; undefined where there is no answer, and the user knows. `piece` is told of what comes until then. */
export type Ask = (request: DiffRequest, piece: PieceListener) => Promise<DiffAnswer | undefined>;

export class Comparisons implements vscode.Disposable {
  private readonly known = new Map<string, Comparison>();
  /** How often each target was compared: of two comparisons that go on, the later one counts. */
  private readonly turns = new Map<string, number>();
  private readonly changed = new vscode.EventEmitter<Comparison>();

  private readonly grew = new vscode.EventEmitter<Growth>();
  private readonly stopped = new vscode.EventEmitter<Subject>();

  /** A comparison has ended. */
  readonly onDidChange = this.changed.event;
  /** A comparison goes on. */
  readonly onDidGrow = this.grew.event;
  /** A comparison went on and came to nothing: the daemon has no answer. */
  readonly onDidStop = this.stopped.event;

  /** The newest first. */
  all(): readonly Comparison[] {
    return [...this.known.values()].reverse();
  }

  /** @throws CompareError, and what `ask` throws. */
  async compare(subject: Subject, options: CompareOptions, ask: Ask): Promise<Comparison | undefined> {
    const key = keyOf(subject);
    const turn = (this.turns.get(key) ?? 0) + 1;
    this.turns.set(key, turn);
    const isNewest = (): boolean => this.turns.get(key) === turn;
    let pieces = 0;
    const piece: PieceListener = ({ document }) => {
      if (isNewest()) this.grew.fire({ subject, options, piece: document as DiffPiece, first: (pieces += 1) === 1 });
    };
    let comparison: Comparison | undefined;
    try {
      const answer = await ask({ ...subject, ...options, maps: true }, piece);
      if (!answer) return undefined;
      const pathOf = (type: string): string | undefined => answer.artifacts.find((artifact) => artifact.media_type === type)?.path;
      const report = pathOf(REPORT);
      comparison = report === undefined ? undefined : await load({ subject, options, report, maps: pathOf(MAPS) });
      if (comparison && isNewest()) this.keep(comparison);
      if (!comparison) throw new CompareError(answer.reason ?? answer.notes[0] ?? t("Nothing was compared."));
      return comparison;
    } finally {
      if (!comparison && pieces > 0 && isNewest()) this.stopped.fire(subject);
    }
  }

  /** The comparison that a tab has kept; undefined where its files are gone. */
  async read({ subject, options, report, maps }: Kept): Promise<Comparison | undefined> {
    const comparison = report === undefined ? undefined : await load({ subject, options, report, maps });
    if (comparison) this.keep(comparison);
    return comparison;
  }

  private keep(comparison: Comparison): void {
    const key = keyOf(comparison.subject);
    this.known.delete(key); // so that it becomes the newest
    this.known.set(key, comparison);
    this.changed.fire(comparison);
  }

  dispose(): void {
    for (const emitter of [this.changed, this.grew, this.stopped]) emitter.dispose();
  }
}

async function load(kept: Omit<Comparison, "document">): Promise<Comparison | undefined> {
  try {
    return { ...kept, document: readWritten("DiffDocument", await readFile(kept.report, "utf8"), ADDED_LATER) };
  } catch {
    return undefined;
  }
}

export function keyOf({ uri, target }: Subject): string {
  return `${uri}\n${target}`;
}
