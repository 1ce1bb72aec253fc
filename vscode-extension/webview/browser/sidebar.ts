/** What there is: files with their targets and findings, surveys, what was kept, and which accelerator things are judged for. */

import type { TargetReport } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import { t } from "../shared/words.js";
import type { Daemon } from "./daemon.js";
import { type Files, isSettled, type KnownFile, SEVERITIES } from "./files.js";
import { chooseTheme, themeNow } from "./theme.js";

export interface Actions {
  readonly openFile: (file: KnownFile) => void;
  /** Pages of a target: what each is called, and what opens it. */
  readonly pages: readonly { readonly name: string; readonly title: string; readonly open: (file: KnownFile, target: string) => void }[];
  readonly openSurvey: (name: string) => void;
  readonly openKept: () => void;
  readonly themed: () => void;
}

const NO_ACCELERATOR = "none";

export class Sidebar {
  readonly element = element("nav", { "aria-label": t("Files and targets") });
  private readonly files = element("ul", { class: "files" });
  private readonly surveys = element("ul", { class: "files" });
  private readonly status = element("p", { class: "status", role: "status" });
  private readonly choice = element("select", { "aria-label": t("Accelerator") });
  private readonly compared = element("input", { list: "backends", "aria-label": t("Backend"), autocomplete: "off", spellcheck: "false", title: t("What is compared with eager: one of these, or any other that torch.compile or the file has") });
  private readonly backends = element("datalist", { id: "backends" });
  private readonly rows = new Map<string, HTMLElement>();
  private chosen = "";
  private busy = false;

  constructor(private readonly daemon: Daemon, private readonly known: Files, private readonly actions: Actions) {
    const theme = element("button", { type: "button", onclick: () => { this.switchTheme(); } }, t("light / dark"));
    const kept = element("button", { type: "button", onclick: actions.openKept }, t("Kept so far"));
    this.choice.addEventListener("change", () => { void daemon.choose(this.choice.value); });
    const accelerator = element("label", {}, t("Accelerator"), " ", this.choice);
    const backend = element("label", {}, t("Compare with"), " ", this.compared, this.backends);
    this.element.append(element("header", {}, element("strong", {}, "inductor-debug"), kept, theme), element("div", { class: "choices" }, accelerator, backend), this.status, this.files, this.surveys);
    known.onChange((uri) => { this.changed(uri); });
    daemon.on("files", ({ surveys }) => { this.listSurveys(surveys); });
    daemon.on("settings", ({ accelerator: name = "" }) => { void this.offer(name); });
    daemon.on("busy", (busy) => { this.busy = busy; this.say(); });
    this.say();
  }

  /** Opens what belongs to a file below its name. */
  choose(uri: string): void {
    this.chosen = uri;
    for (const file of this.known.all()) this.changed(file.uri);
  }

  /** What is wrong with the connection; "" where nothing is. */
  trouble(words: string): void {
    this.status.classList.toggle("trouble", words !== "");
    if (words === "") this.say();
    else this.status.textContent = words;
  }

  /** What comparisons are made with: what stands there, or else what is usual. */
  get backend(): string {
    return this.compared.value.trim() || this.compared.placeholder;
  }

  focusAccelerator(): void {
    this.choice.scrollIntoView();
    this.choice.focus();
  }

  private async offer(name: string): Promise<void> {
    const { accelerators: entries, backends, chosen } = await this.daemon.perform("accelerators", {}).answer.catch(() => ({ accelerators: [], backends: [], chosen: "" }));
    this.backends.replaceChildren(...backends.map((one) => element("option", { value: one })));
    this.compared.placeholder = backends[0] ?? "";
    const entry = entries.find((one) => one.name === name) ?? entries.find((one) => one.name === chosen);
    const others = name === "" || name === NO_ACCELERATOR || entry ? [] : [element("option", { value: name }, name)];
    const options = entries.map((one) => element("option", { value: one.name }, one.name));
    this.choice.replaceChildren(element("option", { value: "" }, t("as the project says")), element("option", { value: NO_ACCELERATOR }, t("none")), ...others, ...options);
    this.choice.value = name === "" || name === NO_ACCELERATOR ? name : (entry?.name ?? name);
  }

  private changed(uri: string): void {
    if (uri === "") {
      this.rows.clear();
      this.files.replaceChildren();
    }
    for (const file of uri === "" ? this.known.all() : [this.known.get(uri)]) {
      if (!file) continue;
      const row = this.row(file);
      const before = this.rows.get(file.uri);
      const focused = before?.contains(document.activeElement) === true ? document.activeElement?.textContent : undefined;
      if (before) before.replaceWith(row);
      else this.files.append(row);
      this.rows.set(file.uri, row);
      if (focused !== undefined) [...row.querySelectorAll("button")].find(({ textContent }) => textContent === focused)?.focus();
    }
    this.say();
  }

  private row(file: KnownFile): HTMLElement {
    const counts = SEVERITIES.map((severity, at) => ({ severity, count: file.diagnostics.filter((one) => (one.severity ?? 1) - 1 === at).length })).filter(({ count }) => count > 0);
    const badges = counts.map(({ severity, count }) => element("span", { class: `count ${severity}`, title: severity }, String(count)));
    const state = file.analysis === undefined ? "unknown" : isSettled(file) ? file.analysis.state : "running";
    const name = element("button", { type: "button", class: "file", "aria-expanded": this.chosen === file.uri, onclick: () => { this.actions.openFile(file); } }, file.name);
    const head = element("div", { class: `head ${state}` }, name, state === "running" && element("span", { class: "state-spinner", title: t("running") }), ...badges);
    const row = element("li", {}, head);
    if (this.chosen === file.uri) row.append(this.targets(file));
    return row;
  }

  private targets(file: KnownFile): HTMLElement {
    const targets = file.analysis?.targets ?? [];
    if (targets.length === 0) return element("p", { class: "pale" }, isSettled(file) ? t("nothing to compile here") : t("looking for targets…"));
    return element("ul", { class: "targets" }, ...targets.map((target) => this.target(file, target)));
  }

  private target(file: KnownFile, { name, checked = "yes", why = "" }: TargetReport): HTMLElement {
    const pages = this.actions.pages.map(({ name: page, title, open }) => element("button", { type: "button", title, onclick: () => { open(file, name); } }, page));
    const words = checked === "yes" ? "" : checked === "no" ? t("not checked: {0}", why) : t("partly checked: {0}", why);
    return element("li", {}, element("strong", {}, name), words !== "" && element("p", { class: "pale" }, words), element("div", { class: "actions" }, ...pages));
  }

  private listSurveys(names: readonly string[]): void {
    const rows = names.map((name) => element("li", {}, element("button", { type: "button", class: "file", onclick: () => { this.actions.openSurvey(name); } }, name)));
    this.surveys.replaceChildren(...(rows.length > 0 ? [element("li", { class: "pale" }, t("Surveys")), ...rows] : []));
  }

  private say(): void {
    if (this.status.classList.contains("trouble")) return;
    const all = this.known.all();
    const running = all.filter((file) => file.analysis !== undefined && !isSettled(file)).length;
    const ended = all.filter(isSettled).length;
    const found = all.reduce((sum, { diagnostics }) => sum + diagnostics.length, 0);
    const goes = this.busy || running > 0;
    const findings = found === 1 ? t("1 finding") : t("{0} findings", found);
    this.status.textContent = all.length === 0 ? t("No model was found here.") : t("{0} of {1} files checked, {2}{3}", ended, all.length, findings, goes ? "…" : "");
  }

  private switchTheme(): void {
    chooseTheme(themeNow() === "dark" ? "light" : "dark");
    this.actions.themed();
  }
}
