/** What is said of a tensor in words. Pure. */

import type { TensorRow } from "../../../shared_schema/generated/wire.js";
import { placeText } from "../shared/places.js";
import { t } from "../shared/words.js";
import { bytesText, dimensionsOf } from "./model.js";

type Words = ReadonlyMap<string, () => string>;
const ROLES: Words = new Map([
  ["made", () => t("made")], ["read", () => t("read")], ["freed", () => t("freed")], ["gone", () => t("gone")], ["saved", () => t("saved")],
]);
const HINTS: Words = new Map([
  ["made", () => t("This line makes it")], ["read", () => t("This line reads it")], ["freed", () => t("Gone once this line has run")],
  ["gone", () => t("Made or read by this line, and gone before its last operation")], ["saved", () => t("Kept by autograd for the backward pass")],
]);

/** What a row's mark says, and what it means. */
export const roleText = (role: string): string => ROLES.get(role)?.() ?? role;
export const roleHint = (role: string): string => HINTS.get(role)?.() ?? role;

/** All of it as text: for the pointer that rests on it, and for who listens. */
export function summary(row: TensorRow): string {
  const shape = dimensionsOf(row).map(({ name, size }) => (name === "" ? size : `${name} = ${size}`)).join(", ");
  return [
    `${row.label}${row.scope ? ` (${t("of {0}", row.scope)})` : ""}: ${row.roles.map((role) => roleHint(role)).join(", ") || row.kind}`,
    `${row.dtype} [${shape}], ${row.order}, ${t("strides")} ${row.stride.join(", ")}, ${row.device}${row.requires_grad ? `, ${t("requires gradients")}` : ""}`,
    row.counted ? t("{0} of memory", bytesText(row.storage_bytes)) : row.view_of ? t("a view of {0}", row.view_of) : t("takes no memory now"),
    ...(row.made ? [`${t("made by")} ${row.made.text} (${placeText(row.made)})`] : []),
    ...(row.reads ?? []).slice(0, 2).map((place) => `${t("read by")} ${place.text} (${placeText(place)})`),
  ].join("\n");
}

