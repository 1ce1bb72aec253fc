/** Words for what a kernel asks of an accelerator: loops, layouts, copies that are inserted. */

import type { DeviceLayout, KernelArgument, KernelInsertion, KernelLoop, KernelSpec } from "../../../../shared_schema/generated/wire.js";
import { t } from "../../shared/words.js";
import type { Whole } from "../model/specs.js";
import { bytesText } from "../model/table.js";

/** `d1 = 65 → 128 reduced`: the size on the device is behind the arrow. */
export function loopText({ name, extent, padded, reduced, cores }: Whole<KernelLoop>): string {
  const size = padded === null || padded === extent ? String(extent) : `${extent} → ${padded}`;
  return [`${name} = ${size}`, ...(reduced ? [t("reduced")] : []), ...(cores === null ? [] : [t("over {0} cores", cores)])].join(" ");
}

/** How a tensor lies: its strides, its sticks, its padding, and where, as far as that is known. */
export function layoutTexts(layout: Whole<DeviceLayout>, { stick_loop: loop, coordinates, allocation }: Whole<KernelArgument>): string[] {
  const along = layout.stick_dimension === null ? "" : t("sticks along dimension {0}", layout.stick_dimension) + (loop === "" ? "" : ` (${loop})`);
  return [
    t("stride map [{0}]", layout.stride_map.join(", ")),
    ...(layout.sparse ? [t("one element a stick")] : along === "" ? [] : [along]),
    ...(layout.padding_bytes > 0 ? [t("{0} of {1} padding", bytesText(layout.padding_bytes), bytesText(layout.bytes))] : [bytesText(layout.bytes)]),
    ...(coordinates.length > 0 ? [`[${coordinates.join(", ")}]`] : []),
    ...(allocation === "" ? [] : [allocation]),
  ];
}

/** What is copied before the operation, and how the copy lies. */
export function insertionText({ kind, argument, dimension, layout }: Whole<KernelInsertion>, spec: Whole<KernelSpec>): string {
  const name = spec.arguments[argument]?.name ?? String(argument);
  const words = kind === "restickify" ? t("Restickify of {0}, sticks along dimension {1}", name, dimension ?? "?") : t("Padding of {0} with zeros behind dimension {1}", name, dimension ?? "?");
  return layout ? `${words}: [${layout.size.join(", ")}], ${bytesText(layout.bytes)}` : words;
}
