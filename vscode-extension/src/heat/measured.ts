/** What a comparison has measured, as the graph draws it. Pure. */

import type { DiffDocument } from "../../../shared_schema/generated/wire.js";
import type { Measured } from "../../webview/graph/looks/overlay.js";
import { multipleOf, placeOf } from "../../webview/kerneldiff/model.js";

export function measuredIn({ backend, verdict, nodes }: DiffDocument): Measured {
  const own = nodes.some(({ isolated }) => isolated !== null);
  const errors = nodes.flatMap((row) => {
    const place = placeOf(row);
    const multiple = multipleOf(own ? row.isolated : row.accumulated);
    return place && multiple !== undefined ? [{ place, module: row.module, multiple }] : [];
  });
  return { backend, passes: verdict === "pass", errors };
}
