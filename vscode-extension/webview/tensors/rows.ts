/** One tensor as a row: what it is called, its dimensions and bytes; opened, everything else that is known of it. */

import type { Location, TensorPlace, TensorRow } from "../../../shared_schema/generated/wire.js";
import { button, type Child, element } from "../shared/dom.js";
import { lineText, placeText } from "../shared/places.js";
import { numberText, t } from "../shared/words.js";
import { bytesText, dimensionsOf, wasteOf } from "./model.js";
import { sticksPicture } from "./pictures.js";
import { roleHint, roleText, summary } from "./texts.js";

export interface Actions {
  readonly reveal: (place: Location, focus: boolean) => void;
  readonly toggle: (row: TensorRow) => void;
}

export function rowElement(row: TensorRow, open: boolean, actions: Actions): HTMLElement {
  const maker = row.made ?? row.declared ?? undefined;
  const go = (): void => { if (maker) actions.reveal(maker, true); };
  const head = element(
    "div", { class: "row-head", onclick: go },
    button(open ? "▾" : "▸", open ? t("Fewer details") : t("More details"), () => { actions.toggle(row); }, { class: "expander", tabindex: -1, "aria-expanded": String(open), onclick: (event: MouseEvent) => { event.stopPropagation(); actions.toggle(row); } }),
    element("span", { class: "label" }, row.named ? row.label : element("code", {}, row.label), row.scope ? element("span", { class: "faint" }, ` ${t("of {0}", row.scope)}`) : undefined),
    ...row.roles.map((role) => element("span", { class: `role ${role}`, title: roleHint(role) }, roleText(role))),
    element("span", { class: `bytes${row.counted ? "" : " faint"}` }, row.counted ? bytesText(row.storage_bytes) : row.view_of ? t("view") : "–"),
  );
  const line = element("div", { class: "row-type", onclick: go }, shapeElement(row), element("span", { class: "dtype" }, row.dtype), row.order !== "contiguous" && element("span", { class: "order" }, row.order), padding(row));
  return element("li", {
    class: "row", role: "option", tabindex: -1, "data-id": row.id, title: summary(row), "aria-label": summary(row).replaceAll("\n", ", "), "aria-selected": "false",
  }, head, line, open && details(row, actions));
}

/** `[B 8, T 64, 768]`, with the names of dimensions set apart. */
function shapeElement(row: TensorRow): HTMLElement {
  const parts: Child[] = ["["];
  dimensionsOf(row).forEach(({ name, size }, index) => {
    if (index > 0) parts.push(", ");
    if (name !== "") parts.push(element("span", { class: "dim" }, name), "\u2009");
    parts.push(size);
  });
  return element("span", { class: "shape" }, ...parts, "]");
}

function padding({ layout }: TensorRow): HTMLElement | undefined {
  if (!layout || wasteOf(layout) < 0.005) return undefined;
  return element("span", { class: "padded", title: t("{0} on the device", bytesText(layout.bytes)) }, t("{0} % padding", Math.round(wasteOf(layout) * 100)));
}

function details(row: TensorRow, { reveal }: Actions): HTMLElement {
  const link = (place: TensorPlace): HTMLElement => element("div", {}, button(place.text || lineText(place), place.path, () => { reveal(place, true); }, { class: "link" }), element("span", { class: "faint" }, ` ${placeText(place)}${place.module ? ` · ${place.module}` : ""}`));
  const reads = row.reads ?? [];
  const more = (row.read_count ?? 0) - reads.length;
  const fact = (name: string, ...value: Child[]): HTMLElement[] => [element("dt", {}, name), element("dd", {}, ...value)];
  return element(
    "dl", { class: "details" },
    ...fact(t("Strides"), `[${row.stride.join(", ")}] · ${row.order}`),
    ...fact(t("Device"), `${row.device}${row.requires_grad ? ` · ${t("requires gradients")}` : ""}`),
    ...fact(t("Bytes"), row.bytes === row.storage_bytes ? numberText(row.bytes) : t("{0} of its elements, {1} of its memory", numberText(row.bytes), numberText(row.storage_bytes))),
    ...(row.view_of ? fact(t("View of"), element("code", {}, row.view_of)) : []),
    ...(row.made ? fact(t("Made by"), link(row.made)) : []),
    ...(row.declared ? fact(t("Declared at"), link(row.declared)) : []),
    ...(reads.length > 0 ? fact(t("Read by"), ...reads.map(link), more > 0 && element("span", { class: "faint" }, t("and {0} more places", more))) : []),
    ...(row.layout ? fact(t("On the device"), sticksPicture(row)) : []),
  );
}
