/** What the extension and the pages of orders (bisections, transfers, reports) say to each other. Types only. */

import type { Location } from "../../../shared_schema/generated/wire.js";
import type { FromState, PageState } from "../shared/state.js";

/** From the extension, once the page is `ready`. `html` has been made by the daemon and runs nothing. */
export type ToPage = { readonly type: "state"; readonly state: PageState } | { readonly type: "content"; readonly html: string };

export type ToHost = FromState | { readonly type: "ready" } | { readonly type: "copy"; readonly text: string } | { readonly type: "values"; readonly count: number } | { readonly type: "reveal"; readonly place: Location; readonly focus: boolean };
