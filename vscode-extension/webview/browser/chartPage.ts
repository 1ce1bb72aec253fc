/**
 * The memory over a run of a target, its roofline, its profile, or where compiling it goes. It says when the file has been saved since; running
 * again is the user's choice.
 */

import type { ChartAnswer, CompileTimeDocument, MemoryDocument, RooflineDocument, RunProfileDocument } from "../../../shared_schema/generated/wire.js";
import type { Charts, ToHost, ToPage } from "../charts/messages.js";
import type { PageState } from "../shared/state.js";
import { t } from "../shared/words.js";
import type { Listening, Readable, Running } from "./daemon.js";
import { Order, reasonOf } from "./running.js";
import type { Around, Subject } from "./subject.js";
import { FramedPage } from "./tabs.js";

type Heard = Exclude<ToHost, { type: "ready" | "reveal" }>;

export class ChartPage extends FramedPage<Heard, ToPage> {
  private readonly order = new Order((state) => { this.say(state); });
  private backend = "inductor";
  private ways = false;

  /** With `kept` charts these are shown, and nothing is run until somebody asks. */
  constructor(private readonly around: Around, private readonly subject: Subject, private readonly kind: Charts["kind"], private charts?: Charts) {
    super("charts", wordsOf(kind, subject.target).title, around.reveal);
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

  protected override hear(message: Heard): void {
    if (message.type === "cancel") this.order.cancel();
    else if (message.type === "chooseAccelerator") this.around.chooseAccelerator();
    else {
      if (message.type === "backend") this.backend = message.backend;
      if (message.type === "ways") this.ways = true;
      void this.run();
    }
  }

  private async run(): Promise<void> {
    const { what } = wordsOf(this.kind, this.subject.target);
    const answer = await this.order.carryOut<ChartAnswer>(what, (listening) => this.begin(listening));
    if (!answer) return;
    const texts = await Promise.all(answer.artifacts.map((one) => this.around.daemon.text(one as Readable)));
    if (texts.length > 0) {
      this.charts = chartsOf(answer.kind, texts, this.kind === "profile" ? this.backend : undefined);
      this.send({ type: "charts", charts: this.charts });
      this.say({ kind: "shown", note: answer.reason == null ? answer.notes.join(" ") : t("As far as it came: {0}", answer.reason) });
    } else if (answer.lacks_accelerator === true) this.say({ kind: "empty", why: reasonOf(answer) }, true);
    else this.say({ kind: "failed", what, why: reasonOf(answer), place: answer.place ?? undefined });
  }

  private begin(listening: Listening): Running<ChartAnswer> {
    const { daemon } = this.around;
    switch (this.kind) {
      case "memory":
        return daemon.perform("memory", this.subject, listening);
      case "roofline":
        return daemon.perform("roofline", this.subject, listening);
      case "compile-time":
        return daemon.perform("compileTime", { ...this.subject, ways: this.ways }, listening);
      case "profile":
        return daemon.perform("profile", { ...this.subject, backend: this.backend }, listening);
    }
  }

  private say(state: PageState, lacksAccelerator = false): void {
    this.tell(state);
    this.send({ type: "state", state, lacksAccelerator });
  }
}

export function chartsOf(kind: Charts["kind"], texts: readonly string[], backend?: string): Charts {
  switch (kind) {
    case "memory":
      return { kind, documents: texts.map((text) => JSON.parse(text) as MemoryDocument) };
    case "roofline":
      return { kind, documents: texts.map((text) => JSON.parse(text) as RooflineDocument) };
    case "compile-time":
      return { kind, documents: texts.map((text) => JSON.parse(text) as CompileTimeDocument) };
    case "profile":
      return { kind, documents: texts.map((text) => JSON.parse(text) as RunProfileDocument), backend };
  }
}

function wordsOf(kind: Charts["kind"], target: string): { readonly title: string; readonly what: string } {
  switch (kind) {
    case "memory":
      return { title: t("Memory: {0}", target), what: t("Running {0} for its memory", target) };
    case "roofline":
      return { title: t("Roofline: {0}", target), what: t("Counting what {0} costs", target) };
    case "compile-time":
      return { title: t("Compile Time: {0}", target), what: t("Compiling {0} under a clock", target) };
    case "profile":
      return { title: t("Profile: {0}", target), what: t("Profiling {0}", target) };
  }
}
