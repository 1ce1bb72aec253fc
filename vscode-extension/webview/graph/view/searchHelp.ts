/** What one can write into the search box, as a list of examples to choose from. */

import { button, element } from "../../shared/dom.js";
import { t } from "../../shared/words.js";

/** A list of examples; `choose` is told of one that somebody wants. */
export function searchHelp(choose: (example: string) => void): HTMLElement {
  const examples: readonly (readonly [string, string])[] = [
    ["softmax", t("in the name, operation, module, type or arguments")],
    ["op:mm", t("in the operation alone; so with name:, module:, rule:")],
    ["dtype:bf16", t("of a data type")],
    ["kind:elementwise", t("of a kind: product, reduction, elementwise, lookup, layout …")],
    ["shape:>1M", t("more than a million elements")],
    ["shape:64", t("a dimension of 64")],
    ["bytes:>=4MiB", t("at least that many bytes")],
    ["flops:>1G", t("more than that many floating-point operations")],
    ["/layer\\.[0-3]\\./", t("a regular expression; also op:/^add$/")],
    ['"two words"', t("with blanks")],
    ["-dropout", t("not")],
  ];
  const rows = examples.flatMap(([example, meaning]) => [
    element("dt", {}, button(example, t("Try {0}", example), () => { choose(example); }, { class: "link" })), element("dd", {}, meaning),
  ]);
  return element("div", { class: "help" }, element("dl", {}, ...rows), element("p", { class: "note" }, t("All conditions must hold.")));
}
