/** The `diff` document of the daemon (`kerneldiff/report.py: DiffReport.to_dict`), as far as it is shown. Types only. */

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
  readonly blame: readonly BlameRow[];
  readonly first_divergent: string | null;
  readonly largest_growth: string | null;
  readonly deterministic: boolean | null;
  readonly seed: number;
  readonly runs: number;
  readonly weights: string;
  readonly notes: readonly string[];
  readonly seconds: Readonly<Record<string, number>>;
}
