/** What a page shows beside, or in place of, its content: the same states on every page. Types only. */

import type { Location } from "../../../shared_schema/generated/wire.js";

export type PageState =
  /** `what` is being done, `step` of it now, since `since` (milliseconds of the epoch). */
  | { readonly kind: "loading"; readonly what: string; readonly step?: string; readonly percentage?: number | undefined; readonly since: number }
  /** `place` is where it failed, if that is known. */
  | { readonly kind: "failed"; readonly what: string; readonly why: string; readonly place?: Location | undefined }
  | { readonly kind: "cancelled"; readonly what: string }
  | { readonly kind: "empty"; readonly why: string }
  /** There is content, and perhaps a word about it. */
  | { readonly kind: "shown"; readonly note: string };

/** What its buttons say to the extension. */
export type FromState = { readonly type: "cancel" } | { readonly type: "retry" };
