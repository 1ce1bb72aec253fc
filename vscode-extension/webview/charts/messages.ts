/** What the extension and the page of charts say to each other. Types only. */

import type { CompileTimeDocument, Location, MemoryDocument, RooflineDocument, RunProfileDocument } from "../../../shared_schema/generated/wire.js";
import type { FromState, PageState } from "../shared/state.js";

/** What a page shows, one chart for each target. */
export type Charts =
  | { readonly kind: "memory"; readonly documents: readonly MemoryDocument[] }
  | { readonly kind: "roofline"; readonly documents: readonly RooflineDocument[] }
  | { readonly kind: "compile-time"; readonly documents: readonly CompileTimeDocument[] }
  /** `backend` is the one that was asked for, where another one can be. */
  | { readonly kind: "profile"; readonly documents: readonly RunProfileDocument[]; readonly backend?: string | undefined };

/** From the extension. It sends nothing before the page has said `ready`. */
export type ToPage =
  | { readonly type: "charts"; readonly charts: Charts }
  /** What goes on, or why there is nothing. `lacksAccelerator`: one has to be chosen first. */
  | { readonly type: "state"; readonly state: PageState; readonly lacksAccelerator?: boolean };

/** From the page. */
export type ToHost =
  | FromState
  | { readonly type: "ready" }
  /** Select an expression in the editor; `focus` takes the keyboard there. */
  | { readonly type: "reveal"; readonly place: Location; readonly focus: boolean }
  /** Run the target again, as it is now. */
  | { readonly type: "refresh" }
  /** Run it with another backend. */
  | { readonly type: "backend"; readonly backend: string }
  /** Compile it in other ways as well, from now on. */
  | { readonly type: "ways" }
  | { readonly type: "chooseAccelerator" };
