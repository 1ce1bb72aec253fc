/** What was kept so far of the files that are shown, newest first; each opens in the page that shows such a thing. */

import { amount } from "../shared/amounts.js";
import { element } from "../shared/dom.js";
import { t } from "../shared/words.js";
import type { KeptArtifact } from "./daemon.js";
import { type Around, messageOf } from "./subject.js";

export class KeptPage {
  readonly element = element("section", { class: "kept" });

  constructor(private readonly around: Around, private readonly open: (artifact: KeptArtifact) => void) {
    void this.refresh();
  }

  close(): void {
    this.element.remove();
  }

  async refresh(): Promise<void> {
    this.element.replaceChildren(element("p", { class: "pale", role: "status" }, t("Looking for what was kept…")));
    try {
      const kept = (await this.around.daemon.kept()).filter(({ media_type: type }) => !type.includes("diff-maps")); // opened with their comparison
      const again = element("button", { type: "button", onclick: () => void this.refresh() }, t("Look again"));
      const heading = element("header", {}, element("h1", {}, t("Kept so far")), again);
      const rows = kept.map((one) => this.row(one));
      this.element.replaceChildren(heading, kept.length === 0 ? element("p", { class: "pale" }, t("Nothing yet: graphs, comparisons and charts are kept as they are made.")) : element("div", { class: "scroll" }, element("table", {}, ...rows)));
    } catch (error) {
      this.element.replaceChildren(element("p", { role: "alert" }, messageOf(error)));
    }
  }

  private row(one: KeptArtifact): HTMLElement {
    const name = this.around.files.get(one.uri)?.name ?? "";
    const title = [one.target, one.stage ?? "", one.title].filter((part) => part !== "").join(", ");
    const open = element("button", { type: "button", class: "link", onclick: () => { this.open(one); } }, title);
    const when = new Date(one.created).toLocaleString();
    return element("tr", {}, element("td", {}, open), element("td", {}, one.kind.replaceAll("_", " ")), element("td", {}, name), element("td", { class: "number" }, amount(one.bytes)), element("td", { class: "pale" }, when));
  }
}
