/** What the extension and the graph page say to each other. Types only: both sides import this and nothing else of each other. */

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { NodeFinding } from "../graph/model/findings.js";
import type { FromState, PageState } from "./state.js";

/** A text to open beside the graph, with the lines that come from the user's source. */
export interface TextToOpen {
  readonly title: string;
  readonly language: string;
  readonly text: string;
  readonly links: readonly { readonly line: number; readonly place: Location }[];
}

/** From the extension. It sends nothing before the page has said `ready`. */
export type ToPage =
  | {
      readonly type: "documents";
      readonly now: readonly ArrayBuffer[];
      readonly before: readonly ArrayBuffer[];
      /** Whether the kernels are among them, or can be asked for. */
      readonly complete: boolean;
    }
  | { readonly type: "findings"; readonly findings: readonly NodeFinding[] }
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
  /** Capture again; `complete` asks for the kernels, too. */
  | { readonly type: "capture"; readonly complete: boolean }
  | FromState;
