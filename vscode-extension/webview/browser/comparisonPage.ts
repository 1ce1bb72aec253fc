/** The comparison of a target with a backend, filled while rows come in. */

import type { DiffDocument, DiffPiece } from "../../../shared_schema/generated/wire.js";
import type { ToHost, ToPage } from "../kerneldiff/messages.js";
import { t } from "../shared/words.js";
import type { Readable } from "./daemon.js";
import { Order, reasonOf } from "./running.js";
import type { Around, Subject } from "./subject.js";
import { FramedPage } from "./tabs.js";

const DOCUMENT = "application/json";
const MAPS = "application/vnd.inductor-debug.diff-maps+msgpack";

export interface Compared {
  readonly backend: string;
  readonly gradients?: boolean;
}

export class ComparisonPage extends FramedPage<Exclude<ToHost, { type: "ready" | "reveal" }>, ToPage> {
  private shown: Extract<ToPage, { type: "comparison" }> | undefined;
  private readonly order = new Order((state) => { this.tell(state); });

  /** With a `kept` document that is shown, and nothing is compared until somebody asks. */
  constructor(private readonly around: Around, private readonly subject: Subject, private readonly compared: Compared, kept?: DiffDocument) {
    super("kerneldiff", t("KernelDiff of {0}", subject.target), around.reveal);
    if (kept) this.shown = { type: "comparison", document: kept, maps: undefined, subject: null };
  }

  override close(): void {
    this.order.cancel();
    super.close();
  }

  protected override filled(): void {
    if (this.shown) this.send(this.shown);
    else void this.compare();
  }

  protected override hear(message: Exclude<ToHost, { type: "ready" | "reveal" }>): void {
    if (message.type === "cancel") this.order.cancel();
    else void this.compare();
  }

  private async compare(): Promise<void> {
    const { daemon } = this.around;
    const what = t("Compare {0} With {1}", this.subject.target, this.compared.backend);
    let pieces = 0;
    const answer = await this.order.carryOut(what, (listening) => daemon.perform("diff", { ...this.subject, ...this.compared, maps: true }, listening), ({ document }) => {
      this.send({ type: "piece", piece: document as DiffPiece, first: (pieces += 1) === 1 });
    });
    if (pieces > 0 && !answer) this.send({ type: "stopped" });
    if (!answer) return;
    const of = (type: string): Readable | undefined => answer.artifacts.find(({ media_type: said }) => said === type) as Readable | undefined;
    const [document, maps] = [of(DOCUMENT), of(MAPS)];
    if (!document) {
      this.tell({ kind: "failed", what, why: reasonOf(answer) });
      return;
    }
    this.shown = { type: "comparison", document: JSON.parse(await daemon.text(document)) as DiffDocument, maps: maps && (await daemon.content(maps)), subject: null };
    this.send(this.shown);
    this.tell({ kind: "shown", note: "" });
  }
}
