/**
 * The page of `inductor-debug ui`: a list of what there is, the editor's pages beside it, and the source that they lead to. It does for these
 * pages what the extension does in VS Code, with a browser's means.
 */

import type { DiffDocument } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import { t } from "../shared/words.js";
import { ChartPage, chartsOf } from "./chartPage.js";
import { ComparisonPage } from "./comparisonPage.js";
import { Daemon, type KeptArtifact, type Listening } from "./daemon.js";
import { Files, type KnownFile } from "./files.js";
import { GRAPH_TYPE, GraphPage } from "./graphPage.js";
import { KeptPage } from "./keptPage.js";
import { FindingsPage, OrderPage, ReproducerPage, type Written } from "./orderPage.js";
import { Sidebar } from "./sidebar.js";
import { SourcePane } from "./sourcePane.js";
import { type Around, messageOf, type Subject } from "./subject.js";
import { type Shown, Tabs } from "./tabs.js";
import { themeNow, watchChoice } from "./theme.js";

const HTML = "text/html";

class Browser {
  private readonly daemon = new Daemon();
  private readonly files = new Files(this.daemon);
  private readonly source = new SourcePane(this.daemon);
  private readonly tabs = new Tabs(element("p", { class: "nothing" }, t("Choose a file on the left.")));
  private readonly around: Around = {
    daemon: this.daemon, files: this.files,
    reveal: (uri, range) => { void this.source.show(uri, range); },
    showText: (title, text, language) => { this.source.showText(title, text, language); },
    chooseAccelerator: () => { this.sidebar.focusAccelerator(); },
  };
  private readonly sidebar = new Sidebar(this.daemon, this.files, {
    openFile: (file) => { this.openFile(file); },
    pages: [
      { name: t("Graph"), title: t("The graphs that are captured"), open: (file, target) => { this.page(file, target, t("Graph"), (subject) => new GraphPage(this.around, subject)); } },
      {
        name: t("Compare"), title: t("Does the chosen backend compute what the model means?"),
        open: (file, target): void => {
          const { backend } = this.sidebar;
          this.page(file, target, t("KernelDiff, {0}", backend), (subject) => new ComparisonPage(this.around, subject, { backend }));
        },
      },
      { name: t("Memory"), title: t("What is alive at each operation"), open: (file, target) => { this.page(file, target, t("Memory"), (subject) => new ChartPage(this.around, subject, "memory")); } },
      { name: t("Roofline"), title: t("What each expression costs at least"), open: (file, target) => { this.page(file, target, t("Roofline"), (subject) => new ChartPage(this.around, subject, "roofline")); } },
      { name: t("Compile Time"), title: t("Where compiling goes"), open: (file, target) => { this.page(file, target, t("Compile Time"), (subject) => new ChartPage(this.around, subject, "compile-time")); } },
      { name: t("Profile"), title: t("What each expression takes when it runs"), open: (file, target) => { this.page(file, target, t("Profile"), (subject) => new ChartPage(this.around, subject, "profile")); } },
      this.written(t("Bisect"), t("Which layer of the compiler goes wrong"), true, (subject, listening) => this.daemon.perform("bisect", { ...subject, format: "html" }, listening)),
      this.written(t("Transfers"), t("What crosses to the accelerator"), false, (subject, listening, values) => this.daemon.perform("transfers", { ...subject, values, format: "html" }, listening)),
      this.written(t("Suggest"), t("What makes it faster"), false, (subject, listening) => this.daemon.perform("suggest", { ...subject, format: "html" }, listening)),
      this.written(t("What if"), t("The same on other accelerators"), false, (subject, listening) => this.daemon.perform("compareAccelerators", { ...subject, format: "html" }, listening)),
      { name: t("Reproducer"), title: t("A minimal script that shows the worst finding"), open: (file, target) => { this.page(file, target, t("Reproducer"), (subject) => new ReproducerPage(this.around, subject)); } },
    ],
    openSurvey: (name) => { this.tabs.show(`survey ${name}`, name, () => alone(`survey?name=${encodeURIComponent(name)}`, name)); },
    openKept: () => { this.tabs.show("kept", t("Kept so far"), () => new KeptPage(this.around, (one) => { void this.openKept(one); })); },
    themed: () => { this.themed(); },
  });

  start(): void {
    document.body.append(this.sidebar.element, this.tabs.element, this.source.element);
    this.themed();
    watchChoice(() => { this.themed(); });
    let first = true;
    this.daemon.on("state", ({ state, why }) => { this.sidebar.trouble(state === "ended" ? why : ""); });
    this.daemon.on("message", (words) => { this.sidebar.trouble(words); });
    this.daemon.on("files", ({ files, surveys }) => {
      if (first && files.length === 1) this.openFile(this.files.all()[0]);
      else if (first && files.length === 0 && surveys[0] !== undefined) this.tabs.show(`survey ${surveys[0]}`, surveys[0], () => alone(`survey?name=${encodeURIComponent(surveys[0] ?? "")}`, surveys[0] ?? ""));
      first = false;
    });
    this.daemon.connect(() => { this.sidebar.trouble(t("No connection: is the command still running?")); });
  }

  private openFile(file: KnownFile | undefined): void {
    if (!file) return;
    this.sidebar.choose(file.uri);
    void this.daemon.open(file.uri);
    this.tabs.show(`findings ${file.uri}`, file.name.split("/").at(-1) ?? file.name, () => new FindingsPage(this.around, file.uri, file.name));
  }

  private page(file: KnownFile, target: string, name: string, make: (subject: Subject) => Shown): void {
    void this.daemon.open(file.uri);
    this.tabs.show(`${name} ${file.uri} ${target}`, `${target}: ${name}`, () => make({ uri: file.uri, target }));
  }

  private written(name: string, title: string, grows: boolean, begin: (subject: Subject, listening: Listening, values: number) => ReturnType<Written["begin"]>): { name: string; title: string; open: (file: KnownFile, target: string) => void } {
    const open = (file: KnownFile, target: string): void => {
      this.page(file, target, name, (subject) => new OrderPage(this.around, {
        title: `${name}: ${target}`, what: `${name}: ${target}`, grows, begin: (listening, values) => begin(subject, listening, values),
      }));
    };
    return { name, title, open };
  }

  private async openKept(one: KeptArtifact): Promise<void> {
    const subject = { uri: one.uri, target: one.target };
    try {
      const made = await this.shown(one, subject);
      if (made) this.tabs.show(`kept ${one.id}`, `${one.target}: ${one.title}`, () => made);
    } catch (error) {
      this.source.showText(one.title, messageOf(error), "text");
    }
  }

  private async shown(one: KeptArtifact, subject: Subject): Promise<Shown | undefined> {
    if (one.media_type === GRAPH_TYPE) return new GraphPage(this.around, subject, [await this.daemon.content(one)]);
    if (one.media_type === HTML) return standing(await this.daemon.text(one), one.title);
    const text = await this.daemon.text(one);
    if (one.media_type === "application/json") {
      const document = JSON.parse(text) as object;
      if ("verdict" in document && "blame" in document) return new ComparisonPage(this.around, subject, { backend: (document as DiffDocument).backend }, document as DiffDocument);
      if ("pieces" in document && "operations" in document) return new ChartPage(this.around, subject, "memory", chartsOf("memory", [text]));
      if ("compile_phases" in document) return new ChartPage(this.around, subject, "compile-time", chartsOf("compile-time", [text]));
      if ("tied_share" in document) return new ChartPage(this.around, subject, "profile", chartsOf("profile", [text]));
      if ("ceilings" in document) return new ChartPage(this.around, subject, "roofline", chartsOf("roofline", [text]));
    }
    this.source.showText(one.title, text, one.media_type === "text/x-python" ? "python" : "text");
    return undefined;
  }

  private themed(): void {
    document.documentElement.dataset["theme"] = themeNow();
  }
}

/** A page of its own, which is of no origin: it can reach nothing of ours. */
function alone(address: string, title: string): Shown {
  const frame = element("iframe", { src: address, title, sandbox: "allow-scripts allow-popups" });
  return { element: frame, close: () => { frame.remove(); } };
}

function standing(html: string, title: string): Shown {
  const frame = element("iframe", { srcdoc: html, title, sandbox: "" });
  return { element: frame, close: () => { frame.remove(); } };
}

new Browser().start();
