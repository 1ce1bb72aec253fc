/** What the extension and the KernelDiff page say to each other. Types only. */

import type { DiffDocument, DiffPiece, Location } from "../../../shared_schema/generated/wire.js";
import type { FromState, PageState } from "../shared/state.js";

/** From the extension. It sends nothing before the page has said `ready`. */
export type ToPage =
  /** `maps` is the content of a `.maps` file, where there is one; `subject` is what VS Code shall keep over a restart. */
  | { readonly type: "comparison"; readonly document: DiffDocument; readonly maps: ArrayBuffer | undefined; readonly subject: unknown }
  /** A comparison goes on: a piece that is `first` begins a new one, in place of what is shown, others add to it. */
  | { readonly type: "piece"; readonly piece: DiffPiece; readonly first: boolean }
  /** The comparison that went on did not come to an end; what had come stays. */
  | { readonly type: "stopped" }
  /** What goes on, or why there is nothing. */
  | { readonly type: "state"; readonly state: PageState };

/** From the page. */
export type ToHost =
  | { readonly type: "ready" }
  /** Select an expression in the editor; `focus` takes the keyboard there. */
  | { readonly type: "reveal"; readonly place: Location; readonly focus: boolean }
  /** Compare again, as before. */
  | { readonly type: "compare" }
  | FromState;
