/** Where rows of documents stand, without a page to link from. Pure. */

import type { Location, Range } from "../../../shared_schema/generated/wire.js";

export function placeOf({ path, range }: { readonly path: string | null; readonly range: Range | null }): Location | undefined {
  return path !== null && range !== null ? { path, range } : undefined;
}
