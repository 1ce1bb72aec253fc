/** What the extension and the view "Sizes" say to each other. Types only. */

import type { Location, TargetSizes } from "../../../shared_schema/generated/wire.js";
import type { FromState, PageState } from "../shared/state.js";

/** From the extension, once the page is `ready`. `selected` is the target that a lens has led to. */
export type ToPage =
  | { readonly type: "state"; readonly state: PageState }
  | { readonly type: "sizes"; readonly file: string; readonly targets: readonly TargetSizes[]; readonly selected: string | undefined };

export type ToHost =
  | FromState
  | { readonly type: "ready" }
  | { readonly type: "reveal"; readonly place: Location; readonly focus: boolean }
  /** All sizes of a target that are set; those that are not named are as usual again. */
  | { readonly type: "set"; readonly target: string; readonly sizes: Readonly<Record<string, number>> }
  /** The inputs of these sizes are to stand in the file. */
  | { readonly type: "write"; readonly target: string; readonly inputs: string };
