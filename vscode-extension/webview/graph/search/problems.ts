/** Words for searches that cannot be understood. */

import { t } from "../../shared/words.js";
import { FIELDS, type Problem } from "./query.js";

export function problemText(problem: Problem): string {
  switch (problem.what) {
    case "pattern":
      return t("/{0}/ is no regular expression: {1}", problem.text, problem.why);
    case "number":
      return problem.text === "" ? t("A number is missing, such as 1M.") : t("{0} is no number; write 1000, 1.5M or 4MiB.", problem.text);
    case "field":
      return t("There is no {0}: to search for; there are {1}.", problem.text, FIELDS.map((field) => `${field}:`).join(" "));
    case "nothing":
      return t("Something is missing after {0}:", problem.text);
  }
}
