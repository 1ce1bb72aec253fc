/** Pages that the daemon writes: what was found in a file, and what came of bisections, transfers and the like. */

import type { PagedOutcome } from "../../../shared_schema/generated/wire.js";
import type { ToHost, ToPage } from "../order/messages.js";
import { t } from "../shared/words.js";
import type { Listening, Readable, Running } from "./daemon.js";
import { isSettled } from "./files.js";
import { Order, reasonOf } from "./running.js";
import { type Around, messageOf, type Subject } from "./subject.js";
import { FramedPage } from "./tabs.js";

type Heard = Exclude<ToHost, { type: "ready" | "reveal" }>;

abstract class WrittenPage extends FramedPage<Heard, ToPage> {
  protected html = "";

  /** A report has a style for where it stands alone. */
  protected fill(html: string): void {
    this.html = html.replace(/<style>[^<]*<\/style>/u, "");
    this.send({ type: "content", html: this.html });
  }

  protected override hear(message: Heard): void {
    if (message.type === "copy") void navigator.clipboard.writeText(message.text);
  }
}

/** What is known of a file, as it changes. */
export class FindingsPage extends WrittenPage {
  private readonly end: () => void;
  private turn = 0;

  constructor(private readonly around: Around, private readonly uri: string, name: string) {
    super("order", t("Findings in {0}", name), around.reveal);
    this.end = around.files.onChange((changed) => { if (changed === uri || changed === "") void this.refresh(); });
  }

  override close(): void {
    this.end();
    super.close();
  }

  protected override filled(): void {
    void this.refresh();
  }

  protected override hear(message: Heard): void {
    if (message.type === "cancel") void this.around.daemon.perform("cancel", { uri: this.uri }).answer;
    else if (message.type === "retry") this.around.daemon.perform("check", { uri: this.uri }).answer.catch((error: unknown) => { this.tell({ kind: "failed", what: t("Check"), why: messageOf(error) }); });
    else super.hear(message);
  }

  private async refresh(): Promise<void> {
    const file = this.around.files.get(this.uri);
    const turn = (this.turn += 1);
    const analysis = file?.analysis;
    try {
      const html = await this.around.daemon.findings(this.uri);
      if (turn !== this.turn) return;
      if (html !== "") this.fill(html);
      if (!file || !analysis || !isSettled(file)) {
        const what = t("Checking {0}", file?.name ?? "");
        this.tell({ kind: "loading", what, step: analysis?.stage ?? analysis?.cause ?? "", since: Date.now() - 1000 * (analysis?.seconds ?? 0) });
      } else if (analysis.state === "stale") this.tell({ kind: "shown", note: t("The file has changed since it was checked.") });
      else if (analysis.state === "cancelled") this.tell({ kind: "cancelled", what: t("Checking {0}", file.name) });
      else this.tell({ kind: "shown", note: "" });
    } catch (error) {
      if (turn === this.turn) this.tell({ kind: "failed", what: t("Check"), why: messageOf(error) });
    }
  }
}

/** What an order brings; carried out when the page is shown first, and again when somebody asks. */
abstract class OrderedPage extends WrittenPage {
  protected readonly order = new Order((state) => { this.tell(state); });

  override close(): void {
    this.order.cancel();
    super.close();
  }

  protected abstract carryOut(): Promise<void>;

  protected override filled(): void {
    if (this.html !== "") this.fill(this.html);
    else void this.carryOut();
  }

  protected override hear(message: Heard): void {
    if (message.type === "cancel") this.order.cancel();
    else if (message.type === "retry") void this.carryOut();
    else super.hear(message);
  }
}

/** An order with a page. `grows` says that pieces of it come on the way. */
export interface Written {
  readonly title: string;
  readonly what: string;
  readonly begin: (listening: Listening, values: number) => Running<PagedOutcome>;
  readonly grows?: boolean;
}

export class OrderPage extends OrderedPage {
  private values = 0;

  constructor(private readonly around: Around, private readonly written: Written) {
    super("order", written.title, around.reveal);
  }

  protected override hear(message: Heard): void {
    if (message.type === "values") {
      this.values = message.count;
      void this.carryOut();
    } else super.hear(message);
  }

  protected override async carryOut(): Promise<void> {
    const { what, begin, grows } = this.written;
    this.fill("");
    const answer = await this.order.carryOut(what, (listening) => begin(listening, this.values), grows === true ? ({ page }): void => { if (page != null) this.fill(page); } : undefined);
    if (!answer) return;
    const kept = answer.artifacts.findLast(({ media_type: type }) => type === "text/html") as Readable | undefined;
    if (answer.page == null && !kept) {
      this.tell({ kind: "failed", what, why: reasonOf(answer) });
      return;
    }
    this.root = answer.root ?? "";
    this.fill(answer.page ?? (kept ? await this.around.daemon.text(kept) : ""));
    this.tell({ kind: "shown", note: "" });
  }
}

/** A reproducer, with what is known of it. */
export class ReproducerPage extends OrderedPage {
  constructor(private readonly around: Around, private readonly subject: Subject) {
    super("order", t("Reproducer for {0}", subject.target), around.reveal);
  }

  protected override async carryOut(): Promise<void> {
    const { daemon } = this.around;
    const what = t("Making a reproducer for {0}", this.subject.target);
    const answer = await this.order.carryOut(what, (listening) => daemon.perform("repro", this.subject, listening));
    if (!answer) return;
    const [file] = answer.artifacts as Readable[];
    const script = answer.text ?? (file ? await daemon.text(file) : "");
    if (script === "") {
      this.tell({ kind: "failed", what, why: answer.why === "" ? reasonOf(answer) : answer.why });
      return;
    }
    const said = !answer.verified ? t("Not verified: {0}", answer.why) : answer.why === "" ? t("Verified in a clean process.") : t("Verified in a clean process: {0}", answer.why);
    const page = document.implementation.createHTMLDocument();
    page.body.append(Object.assign(page.createElement("h1"), { textContent: t("Reproducer for {0}", this.subject.target) }), Object.assign(page.createElement("p"), { textContent: said }));
    page.body.append(Object.assign(page.createElement("pre"), { className: "command", textContent: script }));
    this.fill(page.documentElement.outerHTML);
    this.tell({ kind: "shown", note: "" });
  }
}
