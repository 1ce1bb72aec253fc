/** What the daemon has told of each file; whoever shows that is called back. */

import type { AnalysisNotification, Location } from "../../../shared_schema/generated/wire.js";
import type { NodeFinding, Severity } from "../graph/model/findings.js";
import { knownCells, showCells } from "../shared/places.js";
import type { Daemon, Diagnostic, FileEntry } from "./daemon.js";

export const SEVERITIES: readonly Severity[] = ["error", "warning", "information", "hint"];
const ENDED = new Set(["done", "failed", "cancelled", "stale", "gone"]);

export interface KnownFile extends FileEntry {
  readonly analysis: AnalysisNotification | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

export class Files {
  private readonly known = new Map<string, KnownFile>();
  private readonly listeners = new Set<(uri: string) => void>();

  constructor(daemon: Daemon) {
    daemon.on("files", ({ files }) => {
      this.known.clear();
      for (const file of files) this.known.set(file.uri, { ...file, analysis: undefined, diagnostics: [] });
      this.changed("");
    });
    daemon.on("analysis", (analysis) => {
      const path = this.known.get(analysis.uri)?.path;
      showCells([...knownCells().filter((cell) => cell.path !== path), ...analysis.cells]);
      this.update(analysis.uri, { analysis });
    });
    daemon.on("diagnostics", ({ uri, diagnostics }) => { this.update(uri, { diagnostics }); });
  }

  all(): readonly KnownFile[] {
    return [...this.known.values()];
  }

  get(uri: string): KnownFile | undefined {
    return this.known.get(uri);
  }

  /** Calls back with the URI of a file of which more is known, "" where all may be others; returns what ends that. */
  onChange(hear: (uri: string) => void): () => void {
    this.listeners.add(hear);
    return () => { this.listeners.delete(hear); };
  }

  /** The findings of a target, as the graph joins them with nodes. */
  findings(uri: string, target: string): NodeFinding[] {
    const file = this.known.get(uri);
    return (file?.diagnostics ?? []).filter(({ data }) => (data?.target ?? "") === "" || data?.target === target).map((one) => ({
      rule: one.code ?? "", severity: SEVERITIES[(one.severity ?? 1) - 1] ?? "information", message: one.message, op: one.data?.op ?? null,
      place: { path: file?.path ?? "", range: one.range },
      also: (one.relatedInformation ?? []).map(({ location }): Location => ({ path: pathOf(location.uri), range: location.range })),
    }));
  }

  private update(uri: string, more: Partial<KnownFile>): void {
    const file = this.known.get(uri);
    if (!file) return;
    this.known.set(uri, { ...file, ...more });
    this.changed(uri);
  }

  private changed(uri: string): void {
    for (const hear of this.listeners) hear(uri);
  }
}

/** Whether nothing runs for a file, and something is known of it. */
export function isSettled({ analysis }: KnownFile): boolean {
  return analysis !== undefined && ENDED.has(analysis.state);
}

export function pathOf(uri: string): string {
  return decodeURIComponent(uri.replace(/^file:\/\//u, ""));
}
