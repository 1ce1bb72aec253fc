/** What the extension and the tensor view say to each other. Types only. */

import type { LineTensors, Location } from "../../../shared_schema/generated/wire.js";
import type { FromState, PageState } from "../shared/state.js";

/** From the extension, once the page is `ready`. */
export type ToPage =
  /** `text` is what stands on the line. Rows beyond the document's come as `rows`, for the same `asked`. */
  | { readonly type: "tensors"; readonly asked: number; readonly document: LineTensors; readonly text: string }
  | { readonly type: "rows"; readonly asked: number; readonly document: LineTensors }
  /** Whether what is shown is of an earlier text, and whether it stays with its line. */
  | { readonly type: "marks"; readonly outdated: boolean; readonly pinned: boolean }
  | { readonly type: "state"; readonly state: PageState };

export type ToHost =
  | FromState
  | { readonly type: "ready" }
  | { readonly type: "reveal"; readonly place: Location; readonly focus: boolean }
  /** Another run of the line, by its number; or another target that runs it. */
  | { readonly type: "call"; readonly call: number }
  | { readonly type: "target"; readonly target: string }
  | { readonly type: "unpin" };
