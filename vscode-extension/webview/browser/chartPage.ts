/** The memory over a run of a target, or its roofline. It says when the file has been saved since; running again is the user's choice. */

import type { ChartAnswer, MemoryDocument, RooflineDocument } from "../../../shared_schema/generated/wire.js";
import type { Charts, ToHost, ToPage } from "../charts/messages.js";
import type { PageState } from "../shared/state.js";
import { t } from "../shared/words.js";
import type { Readable } from "./daemon.js";
import { Order, reasonOf } from "./running.js";
import type { Around, Subject } from "./subject.js";
import { FramedPage } from "./tabs.js";

export class ChartPage extends FramedPage<Exclude<ToHost, { type: "ready" | "reveal" }>, ToPage> {
  private readonly order = new Order((state) => { this.say(state); });

  /** With `kept` charts these are shown, and nothing is run until somebody asks. */
  constructor(private readonly around: Around, private readonly subject: Subject, private readonly kind: Charts["kind"], private charts?: Charts) {
    super("charts", kind === "memory" ? t("Memory: {0}", subject.target) : t("Roofline: {0}", subject.target), around.reveal);
    around.daemon.on("saved", ({ uri }) => {
      if (this.charts && this.settled && uri === subject.uri) this.say({ kind: "shown", note: t("The file has been saved since; run again to see what it takes now.") });
    });
  }

  override close(): void {
    this.order.cancel();
    super.close();
  }

  protected override filled(): void {
    if (this.charts) this.send({ type: "charts", charts: this.charts });
    else void this.run();
  }

  protected override hear(message: Exclude<ToHost, { type: "ready" | "reveal" }>): void {
    if (message.type === "cancel") this.order.cancel();
    else if (message.type === "chooseAccelerator") this.around.chooseAccelerator();
    else void this.run();
  }

  private async run(): Promise<void> {
    const { daemon } = this.around;
    const what = this.kind === "memory" ? t("Running {0} for its memory", this.subject.target) : t("Counting what {0} costs", this.subject.target);
    const answer = await this.order.carryOut<ChartAnswer>(what, (listening) =>
      this.kind === "memory" ? daemon.perform("memory", this.subject, listening) : daemon.perform("roofline", this.subject, listening));
    if (!answer) return;
    const texts = await Promise.all(answer.artifacts.map((one) => daemon.text(one as Readable)));
    if (texts.length > 0) {
      this.charts = chartsOf(this.kind, texts);
      this.send({ type: "charts", charts: this.charts });
      this.say({ kind: "shown", note: answer.reason == null ? answer.notes.join(" ") : t("As far as it came: {0}", answer.reason) });
    } else if (answer.lacks_accelerator === true) this.say({ kind: "empty", why: reasonOf(answer) }, true);
    else this.say({ kind: "failed", what, why: reasonOf(answer), place: answer.place ?? undefined });
  }

  private say(state: PageState, lacksAccelerator = false): void {
    this.tell(state);
    this.send({ type: "state", state, lacksAccelerator });
  }
}

export function chartsOf(kind: Charts["kind"], texts: readonly string[]): Charts {
  return kind === "memory"
    ? { kind, documents: texts.map((text) => JSON.parse(text) as MemoryDocument) }
    : { kind, documents: texts.map((text) => JSON.parse(text) as RooflineDocument) };
}
