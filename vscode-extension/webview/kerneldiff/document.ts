/** The `diff` document of the daemon (`kerneldiff/judging/diff_report.py: DiffReport.to_dict`), as far as it is shown. Types only. */

import type { Range } from "../../../shared_schema/generated/wire.js";

export type Verdict = "pass" | "suspicious" | "wrong" | "failed";
/** What JSON has no number for is a string (`inf`, `nan`). */
export type Value = number | string | boolean | null;

/** Where something stands; both are null where nobody knows. */
export interface Placed {
  readonly path: string | null;
  readonly range: Range | null;
}

export interface Metrics {
  readonly elements: number | null;
  readonly max_abs: number | null;
  readonly mean_abs: number | null;
  readonly max_rel: number | null;
  readonly rmse: number | null;
  readonly mismatch_percent: number | null;
  readonly cosine: number | null;
  readonly snr_db: number | null;
  readonly max_ulp: number | null;
  readonly nonfinite_mismatches: number | null;
  readonly anchored_ratio: Value;
}

export interface WorstElement {
  readonly index: readonly number[];
  readonly reference: unknown;
  readonly actual: unknown;
}

export interface OutputResult {
  readonly name: string;
  readonly verdict: Verdict;
  readonly why: string;
  readonly shape: readonly number[] | null;
  readonly dtype: string;
  readonly metrics: Metrics;
  readonly worst: readonly WorstElement[];
  readonly passes_with: { readonly atol: number | null; readonly rtol: number | null };
}

export interface NodeError {
  readonly max_abs: number | null;
  readonly rmse: number | null;
  /** Null where it is infinite. */
  readonly relative: number | null;
  readonly anchored_ratio: Value;
  readonly invalid: boolean;
}

export interface NodeRow extends Placed {
  readonly node: string;
  readonly graph: string;
  readonly op: string;
  readonly module: string;
  readonly isolated: NodeError | null;
  readonly accumulated: NodeError | null;
  readonly growth: Value;
  readonly replaced: Value;
}

export interface BlameRow extends Placed {
  readonly op: string;
  readonly node: string;
  readonly graph: string;
  readonly module: string;
  readonly nodes: readonly string[];
  readonly why: string;
}

/** A piece of a graph that an opaque backend was given by itself: the operations from `start` to `end`, exclusive. */
export interface SegmentRow extends Placed {
  readonly graph: string;
  readonly start: number;
  readonly end: number;
  readonly ops: readonly string[];
  /** Null where it could not be compiled or run by itself; `why` says what was raised. */
  readonly isolated: NodeError | null;
  readonly wrong: boolean;
  readonly why: string;
}

export interface DiffDocument {
  readonly schema: number;
  readonly target: string;
  readonly reference: string;
  readonly backend: string;
  readonly verdict: Verdict;
  readonly why: string;
  readonly outputs: readonly OutputResult[];
  readonly gradients: readonly OutputResult[];
  readonly nodes: readonly NodeRow[];
  /** Missing in documents of older daemons, as is `partial`. */
  readonly segments?: readonly SegmentRow[];
  readonly blame: readonly BlameRow[];
  readonly first_divergent: string | null;
  readonly largest_growth: string | null;
  readonly deterministic: boolean | null;
  readonly seed: number;
  readonly runs: number;
  readonly weights: string;
  readonly notes: readonly string[];
  readonly seconds: Readonly<Record<string, number>>;
  /** The comparison was cancelled or died, and this is what had come. */
  readonly partial?: boolean;
}

/** A comparison that goes on: the verdict comes late. */
export type GrowingDocument = Omit<DiffDocument, "verdict"> & { readonly verdict: Verdict | null };

/** What is added to it: rows of its tables, other values as they are by now. */
export type Piece = Partial<GrowingDocument>;
