/** What the extension and the graph page say to each other. Both sides import this and little else of each other. */

import type { KernelBuild, Location } from "../../../../shared_schema/generated/wire.js";
import type { Metric } from "../looks/colours.js";
import type { NodeFinding } from "../model/findings.js";
import type { Whole } from "../model/specs.js";
import type { HotLine, Measured } from "../looks/overlay.js";
import type { FromState, PageState } from "../../shared/state.js";

/** A text to open beside the graph, with the lines that come from the user's source. */
export interface TextToOpen {
  readonly title: string;
  readonly language: string;
  readonly text: string;
  readonly links: readonly { readonly line: number; readonly place: Location }[];
}

/** How far down the compiler a capture goes: what the check has captured, forward and backward graphs as well, kernels as well, and these compiled for a GPU. */
export const DEPTHS = ["check", "lowered", "kernels", "compiled"] as const;
export type Depth = (typeof DEPTHS)[number];

/** From the extension. It sends nothing before the page has said `ready`. */
export type ToPage =
  | {
      readonly type: "documents";
      readonly now: readonly ArrayBuffer[];
      readonly before: readonly ArrayBuffer[];
      /** What is deeper can be asked for. */
      readonly depth: Depth;
    }
  /** What some kernels were compiled to, without texts; all of it comes with the documents. */
  | { readonly type: "builds"; readonly builds: readonly Whole<KernelBuild>[] }
  | { readonly type: "findings"; readonly findings: readonly NodeFinding[] }
  /** What the last comparison of the target has measured; undefined where there is none. */
  | { readonly type: "measured"; readonly measured: Measured | undefined }
  /** Show a node, as soon as its graph is there. */
  | { readonly type: "goTo"; readonly graph: string; readonly node: string }
  | { readonly type: "cursor"; readonly path: string; readonly line: number; readonly character: number }
  /** What goes on, or why there is nothing. */
  | { readonly type: "state"; readonly state: PageState };

/** From the page. */
export type ToHost =
  | { readonly type: "ready" }
  /** Select an expression in the editor; `focus` takes the keyboard there. */
  | { readonly type: "reveal"; readonly place: Location; readonly focus: boolean }
  | { readonly type: "openText"; readonly text: TextToOpen }
  | { readonly type: "save"; readonly name: string; readonly content: string | Uint8Array }
  /** Capture; what the check has captured of the file as it is now will do, unless it is to be `fresh`. */
  | { readonly type: "capture"; readonly depth: Depth; readonly fresh: boolean }
  /** What the graph on show has of a metric, by line; nothing where colours say something else. */
  | { readonly type: "heat"; readonly metric: Metric | undefined; readonly lines: readonly HotLine[] }
  | { readonly type: "copyLink"; readonly graph: string; readonly node: string }
  | FromState;
