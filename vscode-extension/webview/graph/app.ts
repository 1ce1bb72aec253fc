/**
 * The page: what is loaded, which graphs stand in which pane, what is selected. Everything that happens goes through here and is
 * then shown by the parts of `view/`.
 */

import type { Location } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import type { ToPage } from "../shared/messages.js";
import { t } from "../shared/words.js";
import { Comparing } from "./comparing.js";
import { exportAs, pressed, switchTheme, toggleSide } from "./controls.js";
import { textsOfSources } from "./documents.js";
import { Following } from "./following.js";
import { Heating } from "./heating.js";
import type { Host } from "./host.js";
import { Loading } from "./loading.js";
import { type NodeFinding, unplaced } from "./model/findings.js";
import type { Item } from "./model/hierarchy.js";
import { type Entry, type Library, libraryOf } from "./model/library.js";
import { partnerOf } from "./model/partner.js";
import { dtypesIn, type Filter, NO_FILTER, rulesIn } from "./model/search.js";
import { nameOf, placeOf } from "./model/table.js";
import { keep } from "./remembered.js";
import { makeCode, showTexts } from "./texts.js";
import type { Text } from "./view/codeView.js";
import { Details, type Remarks } from "./view/details.js";
import { Layouts } from "./view/layouts.js";
import { Legend } from "./view/legend.js";
import { Outline } from "./view/outline.js";
import { Pane } from "./view/pane.js";
import { fillHeader, LOWERED, TEXTS } from "./view/paneHeader.js";
import { Scene } from "./view/scene.js";
import { Standing } from "./view/standing.js";
import { TextsPane } from "./view/textsPane.js";
import { readTheme, watchTheme } from "./view/theme.js";
import { Toolbar } from "./view/toolbar.js";

export class App {
  library: Library = libraryOf([]);
  /** Which pane is being used, whether there are two, and whether they are compared. */
  active = 0;
  split = false;
  comparing = false;
  readonly panes: readonly [Pane, Pane];
  /** A third pane that can stand beside them, for texts only. */
  readonly texts: TextsPane;
  readonly scenes = new Map<string, Scene>();
  readonly comparison = new Comparing();
  private filter: Filter = NO_FILTER;
  private findings: readonly NodeFinding[] = [];
  remarks: Remarks = { library: this.library, findings: [], ranking: () => undefined };
  sources: readonly Text[] = [];
  readonly loading = new Loading(this);
  readonly heating = new Heating(this);
  readonly following = new Following(this);
  private theme = readTheme();
  private readonly layouts = new Layouts();
  readonly toolbar: Toolbar;
  readonly outline: Outline;
  readonly details: Details;
  private readonly legend = new Legend();
  private readonly standing: Standing;
  private readonly main = element("main", {});

  constructor(readonly host: Host) {
    const inCode = host.kind === "vscode";
    this.toolbar = new Toolbar({
      tab: (id) => { this.active = 0; void this.show(0, id); },
      filter: (filter) => { this.setFilter(filter); },
      step: (direction) => { this.step(direction); },
      colour: (colouring) => { this.heating.choose(colouring); },
      foldAll: () => { this.change((scene) => { scene.foldAll(); }); },
      unfoldAll: () => { this.change((scene) => { if (!scene.unfoldAll()) this.say(t("Not everything is unfolded: it would be too much to read.")); }); },
      zoom: (factor) => { this.pane.drawing.zoomBy(factor); },
      fit: () => { this.pane.drawing.fit(); },
      split: () => { void this.setSplit(!this.split); },
      texts: () => { showTexts(this, !this.texts.shown); },
      outline: () => { toggleSide(this.main, this.outline.element, "outline"); },
      details: () => { toggleSide(this.main, this.details.element, "details"); },
      save: (kind) => { void exportAs(this, kind, this.theme); },
      refresh: inCode ? (): void => { host.send({ type: "capture", depth: this.loading.depth, fresh: true }); } : undefined,
      theme: inCode ? undefined : switchTheme,
    });
    this.panes = [this.makePane(0), this.makePane(1)];
    this.texts = new TextsPane(makeCode(this), () => { showTexts(this, false); });
    this.outline = new Outline({
      select: (item) => { this.select(this.active, item, true); },
      toggle: (item) => { this.toggle(this.active, item); },
      open: (item) => { this.open(this.active, item); },
    });
    this.details = new Details({
      select: (item) => { void this.goTo(this.active, item); },
      reveal: (place) => { this.following.reveal(place, true); },
      kernel: (name) => { void this.following.showKernel(name); },
      go: (entry, nodes) => { void this.following.goTo(entry, nodes); },
      link: (entry, node) => { host.send({ type: "copyLink", graph: entry.table.name, node: nameOf(entry.table, node) }); },
    });
    this.panes[1].element.hidden = true;
    this.main.append(this.outline.element, element("div", { class: "panes" }, ...this.panes.map((pane) => pane.element), this.texts.element), this.details.element);
    const reveal = (place: Location): void => { this.following.reveal(place, true); };
    this.standing = new Standing(host, reveal, () => !this.main.hidden);
    document.body.append(this.toolbar.element, this.standing.element, this.main, element("footer", { class: "status" }, this.standing.foot, this.legend.element));
    this.main.hidden = true;
    watchTheme(() => { this.setTheme(); });
  }

  get pane(): Pane {
    return this.panes[this.active] ?? this.panes[0];
  }

  /** What the extension says. */
  hear(message: ToPage): void {
    switch (message.type) {
      case "documents":
        void this.loading.load(message.now, message.before, message.depth);
        return;
      case "findings":
        this.setFindings(message.findings);
        return;
      case "measured":
        this.heating.measure(message.measured);
        return;
      case "goTo":
        void this.following.goToNamed(message.graph, message.node);
        return;
      case "cursor":
        this.following.cursor(message.path, message.line, message.character);
        return;
      case "state":
        this.standing.show(message.state);
    }
  }

  /** Other graphs take the place of those that were there; what was open in one stays open. */
  setLibrary(library: Library): void {
    this.library = library;
    this.remark();
    this.comparison.current = undefined;
    const folds = new Map([...this.scenes].map(([id, scene]) => [id, scene.openPaths()]));
    for (const scene of this.scenes.values()) scene.close();
    this.scenes.clear();
    for (const entry of library.entries) {
      const open = folds.get(entry.id);
      if (open) this.sceneOf(entry).openByPaths(open);
    }
  }

  /** There is something to show now, or nothing, and why. */
  filled(nothing: string | undefined): void {
    this.main.hidden = nothing !== undefined;
    this.standing.show(nothing === undefined ? undefined : { kind: "empty", why: nothing });
  }

  setFindings(findings: readonly NodeFinding[]): void {
    this.findings = findings;
    this.remark();
    for (const scene of this.scenes.values()) scene.setFindings(findings);
    this.redraw();
  }

  /** Sources that the page itself can show; in VS Code the editor does. */
  setSources(sources: Readonly<Record<string, string>>): void {
    this.sources = textsOfSources(sources);
  }

  /** Shows a graph, or the texts, in a pane. */
  async show(at: number, id: string): Promise<void> {
    const pane = this.panes[at];
    const entry = this.library.entries.find((one) => one.id === id);
    if (!pane) return;
    if (id === LOWERED) {
      this.loading.askForForward();
      return;
    }
    if (entry) {
      const scene = this.sceneOf(entry);
      if (!scene.layout) await scene.update();
      pane.showScene(scene);
    } else {
      this.loading.askFor("kernels");
      pane.showText();
    }
    this.updateComparison();
    this.redraw();
    if (this.split) this.following.again();
  }

  async setSplit(split: boolean): Promise<void> {
    this.split = split;
    this.panes[1].element.hidden = !split;
    this.main.classList.toggle("split", split);
    this.toolbar.setSplit(split);
    if (!split) this.active = 0;
    const entry = this.panes[0].scene?.entry;
    if (split && entry) {
      const before = this.library.entries.find((one) => one.save === "before" && one.table.name === entry.table.name);
      if (before && entry.save === "now") {
        await this.show(1, entry.id);
        await this.show(0, before.id);
      } else await this.show(1, partnerOf(this.library, entry)?.id ?? TEXTS);
      this.comparing = before !== undefined;
    } else this.comparing = false;
    this.updateComparison(true);
    this.redraw();
    for (const { drawing } of this.panes) drawing.startAgain();
    this.following.again();
  }

  setComparing(comparing: boolean): void {
    this.comparing = comparing;
    this.updateComparison(true);
    this.redraw();
  }

  /** Selects an item in a pane; lights up what belongs to it everywhere; `told` lets the editor follow. */
  select(at: number, item: Item | undefined, told: boolean): void {
    this.following.select(at, item, told);
    keep(this, this.host);
  }

  /** Opens what hides a node, selects it and moves to it. */
  async goTo(at: number, item: Item, told = true): Promise<void> {
    const pane = this.panes[at];
    const scene = pane?.scene;
    if (!scene) return;
    scene.selected = item; // at once, so that a second step goes on from here
    const seen = scene.scope(item) ? [] : scene.readersOf(item).slice(0, 1);
    if (seen.some((node) => (scene.visible?.boxOfItem[node] ?? -1) < 0) && scene.show(seen)) await scene.update();
    this.select(at, item, told);
    pane.drawing.reveal(scene.boxOf(item));
  }

  toggle(at: number, item: Item): void {
    const pane = this.panes[at];
    const scene = pane?.scene;
    if (!scene) return;
    const before = pane.drawing.onScreen(scene.boxOf(item));
    scene.toggle(item);
    void scene.update().then((fresh) => {
      if (!fresh) return;
      pane.drawing.anchor(scene.boxOf(item), before);
      this.redraw();
      pane.drawing.drawNow();
      keep(this, this.host);
    });
  }

  /** What is not about a node in particular. */
  remark(): void {
    this.remarks = { ranking: (scene) => this.heating.ranking(scene), library: this.library, findings: unplaced(this.library, this.findings) };
  }

  redraw(): void {
    const { scene } = this.pane;
    this.toolbar.setTabs(this.library.target, this.loading.tabs, this.panes[0].showsText ? TEXTS : (this.panes[0].scene?.entry.id ?? ""));
    this.legend.show(this.pane.showsText ? undefined : scene?.entry.table, this.pane.drawing.colouring, this.theme);
    if (scene) {
      this.toolbar.setFilters(this.filter, rulesIn(scene.findings), dtypesIn(scene.entry.table));
      this.toolbar.setFound(scene.matches?.length, (scene.matches?.indexOf(scene.selected ?? -1) ?? -1) + 1);
      this.outline.show(scene);
      if (scene.selected === undefined) this.details.show(scene, [], [], this.remarks);
    }
    this.panes.forEach((pane, at) => {
      pane.element.classList.toggle("active", this.split && at === this.active);
      pane.drawing.refresh();
      fillHeader(this, pane, at, this.comparison.current?.diff);
    });
  }

  /** The next or previous match, or difference where two graphs are compared and nothing is searched for. */
  step(direction: 1 | -1, at = this.active): void {
    const scene = this.panes[at]?.scene;
    const stops = scene?.matches ?? (this.comparing ? scene?.changedNodes() : undefined);
    if (!scene || !stops || stops.length === 0) return;
    const current = stops.indexOf(scene.selected ?? -1);
    const next = stops[current < 0 ? (direction > 0 ? 0 : stops.length - 1) : (current + direction + stops.length) % stops.length];
    if (next !== undefined) void this.goTo(at, next);
  }

  say(text: string): void {
    this.standing.say(text);
  }

  private makePane(at: number): Pane {
    return new Pane(this.theme, makeCode(this), {
      select: (item) => { this.select(at, item, true); },
      toggle: (item) => { this.toggle(at, item); },
      open: (item) => { this.open(at, item); },
      moved: () => { keep(this, this.host); },
      key: (event) => { pressed(this, at, event); },
    }, () => {
      if (this.active === at) return;
      this.active = at;
      this.redraw();
    });
  }

  private sceneOf(entry: Entry): Scene {
    let scene = this.scenes.get(entry.id);
    if (!scene) {
      scene = new Scene(this.library, entry, this.theme, (skeleton) => this.layouts.open(skeleton));
      scene.setFindings(this.findings);
      scene.setFilter(this.filter);
      scene.setOverlay(this.heating.overlayOf(entry));
      this.scenes.set(entry.id, scene);
    }
    return scene;
  }

  private updateComparison(again = false): void {
    const [left, right] = this.panes.map((pane) => (pane.showsText || !this.comparing || !this.split ? undefined : pane.scene));
    for (const scene of this.comparison.update(this.scenes.values(), left, right, again)) void scene.update().then(() => { for (const pane of this.panes) if (pane.scene === scene) pane.lookAgain(); this.redraw(); });
  }

  open(at: number, item: Item): void {
    const scene = this.panes[at]?.scene;
    const place = scene && !scene.scope(item) ? placeOf(scene.entry.table, item) : undefined;
    if (scene?.scope(item)) this.toggle(at, item);
    else if (place) this.following.reveal(place, true);
  }

  private setFilter(filter: Filter): void {
    this.filter = filter;
    for (const scene of this.scenes.values()) scene.setFilter(filter);
    this.redraw();
  }

  private change(act: (scene: Scene) => void): void {
    const { scene, drawing } = this.pane;
    if (!scene) return;
    act(scene);
    void scene.update().then(() => {
      drawing.show(scene);
      drawing.startAgain();
      this.redraw();
      keep(this, this.host);
    });
  }

  private setTheme(): void {
    this.theme = readTheme();
    for (const scene of this.scenes.values()) scene.setTheme(this.theme);
    for (const { drawing } of this.panes) drawing.setTheme(this.theme);
    this.redraw();
  }
}
