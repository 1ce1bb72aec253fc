/** What the kernels of a selected node ask of the accelerator: loops, arguments as they lie there, what is inserted. */

import type { KernelArgument, KernelSpec } from "../../../../shared_schema/generated/wire.js";
import { button, element } from "../../shared/dom.js";
import { t } from "../../shared/words.js";
import { insertionText, layoutTexts, loopText } from "../looks/specTexts.js";
import type { NodeSpecs, Whole } from "../model/specs.js";
import { shortOp } from "../model/table.js";

const MOST_SPECS = 24;

/** Rows of the side panel; `show` opens the text of a kernel. */
export function specRows({ from, specs }: NodeSpecs, show: (kernel: string) => void): Node[] {
  const derived = from.origin === "derived";
  const more = specs.length - MOST_SPECS;
  return [
    element("h3", {}, derived ? t("On {0}, derived from the IR", from.accelerator) : t("On {0}, as its compiler wrote", from.accelerator)),
    ...specs.slice(0, MOST_SPECS).map((spec) => specRow(spec, show)),
    ...(more > 0 ? [element("p", { class: "note" }, t("and {0} more", more))] : []),
    ...(from.left_out.length > 0 ? [element("details", { class: "left-out" }, element("summary", {}, derived ? t("Not known without its compiler") : t("Not in its files")), element("ul", {}, ...from.left_out.map((words) => element("li", {}, words))))] : []),
  ];
}

function specRow(spec: Whole<KernelSpec>, show: (kernel: string) => void): HTMLElement {
  return element("div", { class: "spec" },
    element("p", { class: "spec-op" }, element("strong", {}, shortOp(spec.op)), " ", spec.kernel !== "" && button(spec.kernel, t("Show the kernel {0}", spec.kernel), () => { show(spec.kernel); }, { class: "link" }), spec.file !== "" && element("span", { class: "type" }, ` ${spec.file}`)),
    spec.loops.length > 0 && element("p", { class: "loops" }, spec.loops.map(loopText).join(", ")),
    element("ul", {}, ...spec.arguments.map(argumentRow)),
    spec.inserted.length > 0 && element("ul", { class: "inserted" }, ...spec.inserted.map((insertion) => element("li", {}, insertionText(insertion, spec)))),
    ...spec.remarks.map((remark) => element("p", { class: "note" }, remark)));
}

function argumentRow(argument: Whole<KernelArgument>): HTMLElement {
  const { name, output, layout, device_dtype: format } = argument;
  const lies = layout ? layoutTexts(layout, argument) : [];
  return element("li", {},
    element("span", { class: "sign", title: output ? t("written") : t("read") }, output ? "←" : "→"),
    element("span", {}, name || t("a constant")),
    element("span", { class: "type" }, `${format}${layout ? `[${layout.size.join(", ")}]` : ""}`),
    lies.length > 0 && element("span", { class: "lies type" }, lies.join(" · ")));
}
