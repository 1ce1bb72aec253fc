/** The graphs of a target: captured when the page opens, and again once the check after a save is through. */

import type { Location } from "../../../shared_schema/generated/wire.js";
import { readBuild } from "../graph/model/builds.js";
import { type Depth, DEPTHS, type ToHost, type ToPage } from "../graph/wire/messages.js";
import { download } from "../shared/download.js";
import { t } from "../shared/words.js";
import type { Readable } from "./daemon.js";
import { isSettled } from "./files.js";
import { Order, reasonOf } from "./running.js";
import type { Around, Subject } from "./subject.js";
import { FramedPage } from "./tabs.js";

export const GRAPH_TYPE = "application/vnd.inductor-debug.graph+msgpack";
const STAGES = ["mock", "aot", "inductor"] as const;

export class GraphPage extends FramedPage<Exclude<ToHost, { type: "ready" | "reveal" }>, ToPage> {
  private now: readonly ArrayBuffer[] = [];
  private before: readonly ArrayBuffer[] = [];
  private depth: Depth = "check";
  private outdated = false;
  private readonly order = new Order((state) => { this.tell(state); });
  private readonly endings: (() => void)[];

  /** With `kept` graphs these are shown, and nothing is captured. */
  constructor(private readonly around: Around, private readonly subject: Subject, private readonly kept: readonly ArrayBuffer[] = []) {
    super("graph", t("Graphs of {0}", subject.target), around.reveal);
    this.now = kept;
    this.endings = kept.length > 0 ? [] : [around.files.onChange((uri) => { if (uri === subject.uri) this.analysed(); })];
    around.daemon.on("saved", ({ uri }) => { this.outdated ||= uri === subject.uri && kept.length === 0; });
  }

  override close(): void {
    this.order.cancel();
    for (const end of this.endings) end();
    super.close();
  }

  protected override filled(): void {
    this.sendAll();
    if (this.now.length === 0) void this.capture(false);
  }

  protected override hear(message: Exclude<ToHost, { type: "ready" | "reveal" }>): void {
    switch (message.type) {
      case "openText":
        this.around.showText(message.text.title, message.text.text, message.text.language);
        return;
      case "save":
        download(message.name, message.content);
        return;
      case "capture":
        this.depth = message.depth;
        void this.capture(message.fresh);
        return;
      case "retry":
        void this.capture(false);
        return;
      case "copyLink":
        void navigator.clipboard.writeText(`${message.graph}: ${message.node}`);
        this.tell({ kind: "shown", note: t("Copied the name of {0}", message.node) });
        return;
      case "cancel":
        this.order.cancel();
        return;
      case "heat": // there are no lines to colour
    }
  }

  private async capture(fresh: boolean): Promise<void> {
    if (this.kept.length > 0) return;
    this.outdated = false;
    const stages = STAGES.slice(0, DEPTHS.indexOf(this.depth) + 1);
    const what = t("Capturing the graphs of {0}", this.subject.target);
    const answer = await this.order.carryOut(
      what, (listening) => this.around.daemon.perform("graph", { ...this.subject, stages, fresh, compile: this.depth === "compiled" }, listening),
      ({ document }) => { if ("architecture" in document) this.send({ type: "builds", builds: [readBuild(document)] }); },
    );
    if (!answer) return;
    const graphs = answer.artifacts.filter(({ media_type: type }) => type === GRAPH_TYPE) as Readable[];
    if (graphs.length === 0) {
      this.tell({ kind: "failed", what, why: reasonOf(answer), place: this.culprit() });
      return;
    }
    this.before = this.now;
    this.now = await Promise.all(graphs.map((one) => this.around.daemon.content(one)));
    this.sendAll();
    this.tell({ kind: "shown", note: [...answer.notes, ...answer.targets.flatMap(({ stages: all }) => all.flatMap(({ notes }) => notes))].join("  ") });
  }

  private sendAll(): void {
    if (this.now.length > 0) this.send({ type: "documents", now: this.now, before: this.before, depth: this.depth });
    this.send({ type: "findings", findings: this.around.files.findings(this.subject.uri, this.subject.target) });
  }

  private analysed(): void {
    this.send({ type: "findings", findings: this.around.files.findings(this.subject.uri, this.subject.target) });
    const file = this.around.files.get(this.subject.uri);
    if (this.outdated && file && isSettled(file)) void this.capture(false);
  }

  /** Where the first error of the target is: what keeps its graphs from being captured. */
  private culprit(): Location | undefined {
    return this.around.files.findings(this.subject.uri, this.subject.target).find(({ severity }) => severity === "error")?.place;
  }
}
