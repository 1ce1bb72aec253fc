/**
 * The page: makes its parts, tells each of the others only what it has to ask for, and changes what is on show. What that is stands in
 * `state/`; the parts listen to it.
 */

import type { Location } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import { watchTheme } from "../shared/themes.js";
import { t } from "../shared/words.js";
import type { Scene } from "./canvas/scene.js";
import { readTheme } from "./canvas/theme.js";
import { exportAs, pressed, switchTheme, toggleSide } from "./controls.js";
import { Following } from "./following.js";
import { Heating } from "./heating.js";
import { Loading } from "./loading.js";
import type { Item } from "./model/hierarchy.js";
import { partnerOf } from "./model/partner.js";
import { knowsSeconds, nameOf, placeOf } from "./model/table.js";
import { Remembering } from "./remembered.js";
import { Scenes } from "./scenes.js";
import { dtypesIn, rulesIn } from "./search/search.js";
import { LOWERED, State, TEXTS } from "./state/state.js";
import { makeCode } from "./texts.js";
import { Details, type Remarks } from "./view/details.js";
import { Legend } from "./view/legend.js";
import { Outline } from "./view/outline.js";
import { Pane } from "./view/pane.js";
import { Standing } from "./view/standing.js";
import { TextsPane } from "./view/textsPane.js";
import { Toolbar } from "./view/toolbar.js";
import type { Host } from "./wire/host.js";
import type { Depth, ToPage } from "./wire/messages.js";

export class App {
  readonly state = new State();
  readonly panes: readonly [Pane, Pane];
  readonly following: Following;
  /** A third pane that can stand beside them, for texts only. */
  private readonly texts: TextsPane;
  private readonly loading: Loading;
  private readonly heating: Heating;
  readonly scenes: Scenes;
  private readonly remembering: Remembering;
  private readonly toolbar: Toolbar;
  private readonly outline: Outline;
  private readonly details: Details;
  private readonly legend = new Legend();
  private readonly standing: Standing;
  private readonly main = element("main", {});
  private remarks: Remarks | undefined;

  constructor(private readonly host: Host) {
    const { state } = this;
    this.toolbar = this.makeToolbar();
    this.panes = [this.makePane(0), this.makePane(1)];
    this.texts = new TextsPane(state, makeCode(host, () => this.following, () => this.loading.canCompile), () => { this.showTexts(false); });
    this.outline = new Outline({
      select: (item) => { this.select(state.active, item, true); },
      toggle: (item) => { this.toggle(state.active, item); },
      open: (item) => { this.open(state.active, item); },
    });
    this.details = new Details({
      select: (item) => { void this.goTo(state.active, item); },
      reveal: (place) => { this.following.reveal(place, true); },
      kernel: (name) => { void this.following.showKernel(name); },
      go: (entry, nodes) => { void this.following.goTo(entry, nodes); },
      link: (entry, node) => { host.send({ type: "copyLink", graph: entry.table.name, node: nameOf(entry.table, node) }); },
    });
    this.heating = new Heating(state, host);
    this.scenes = new Scenes(state, (entry) => this.heating.overlayOf(entry));
    this.loading = new Loading(state, host, {
      setLibrary: (library) => { this.scenes.setLibrary(library); },
      setTexts: (texts) => { for (const { code } of [...this.panes, this.texts]) code.setTexts(texts); },
      filled: (nothing) => { this.filled(nothing); },
      show: (at, id) => this.show(at, id),
    });
    this.remembering = new Remembering(state, this.panes, host, this);
    this.following = new Following(state, this.panes, this.texts.code, host, {
      show: (at, id) => this.show(at, id),
      setSplit: (split) => this.setSplit(split),
      goTo: (at, item) => this.goTo(at, item),
      askFor: (depth) => this.loading.askFor(depth),
      tell: (scene, elsewhere, kernels) => { this.details.show(scene, elsewhere, kernels, this.remark()); },
    });
    this.main.append(this.outline.element, element("div", { class: "panes" }, ...this.panes.map((pane) => pane.element), this.texts.element), this.details.element);
    const reveal = (place: Location): void => { this.following.reveal(place, true); };
    this.standing = new Standing(host, reveal, () => !this.main.hidden);
    document.body.append(this.toolbar.element, this.standing.element, this.main, element("footer", { class: "status" }, this.standing.foot, this.legend.element));
    this.main.hidden = true;
    state.subscribe({ changed: () => { this.refresh(); }, said: (text) => { this.standing.say(text); } });
    watchTheme(() => { this.scenes.setTheme(readTheme()); });
  }

  /** What the extension says. */
  hear(message: ToPage): void {
    switch (message.type) {
      case "documents":
        void this.load(message.now, message.before, message.depth);
        return;
      case "builds":
        this.loading.take(message.builds);
        this.following.again();
        return;
      case "findings":
        this.scenes.setFindings(message.findings);
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

  /** Takes documents in, and shows again what was on show. */
  async load(now: readonly ArrayBuffer[], before: readonly ArrayBuffer[], depth: Depth): Promise<void> {
    const at = this.state.stands.findIndex((_stand, pane) => this.state.isShown(pane) && this.state.selectedIn(pane));
    const selected = this.state.selectedIn(at);
    if (!(await this.loading.load(now, before, depth))) return;
    this.heating.tell();
    if (selected) this.following.restore(at, selected);
    await this.remembering.restore();
    await this.following.goToAwaited();
  }

  /** There is something to show now, or nothing, and why. */
  private filled(nothing: string | undefined): void {
    this.main.hidden = nothing !== undefined;
    this.standing.show(nothing === undefined ? undefined : { kind: "empty", why: nothing });
  }

  /** Shows a graph, or the texts, in a pane. */
  async show(at: number, id: string): Promise<void> {
    const pane = this.panes[at];
    const entry = this.state.entry(id);
    if (!pane) return;
    if (id === LOWERED) {
      this.loading.askForForward();
      return;
    }
    if (entry) {
      const scene = this.scenes.of(entry);
      if (!scene.layout) await scene.update();
      pane.showScene(scene);
    } else {
      this.loading.askFor("kernels");
      pane.showText();
    }
    this.updateComparison();
    this.state.changed();
    if (this.state.split) this.following.again();
  }

  async setSplit(split: boolean): Promise<void> {
    const { state } = this;
    state.split = split;
    if (!split) state.active = 0;
    state.changed();
    const entry = state.stands[0].scene?.entry;
    if (split && entry) {
      const before = state.library.entries.find((one) => one.save === "before" && one.table.name === entry.table.name);
      if (before && entry.save === "now") {
        await this.show(1, entry.id);
        await this.show(0, before.id);
      } else await this.show(1, partnerOf(state.library, entry)?.id ?? TEXTS);
      state.comparing = before !== undefined;
    } else state.comparing = false;
    this.updateComparison(true);
    state.changed();
    for (const { drawing } of this.panes) drawing.startAgain();
    this.following.again();
  }

  setComparing(comparing: boolean): void {
    this.state.comparing = comparing;
    this.updateComparison(true);
    this.state.changed();
  }

  /** Shows or hides the pane for texts beside the graphs. */
  showTexts(shown: boolean): void {
    if (shown) this.loading.askFor("kernels");
    this.state.showsTexts = shown;
    this.state.changed();
    this.following.again();
    this.remembering.keep();
  }

  /** Selects an item in a pane; lights up what belongs to it everywhere; `told` lets the editor follow. */
  select(at: number, item: Item | undefined, told: boolean): void {
    this.following.select(at, item, told);
    this.remembering.keep();
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
      this.state.changed();
      pane.drawing.drawNow();
      this.remembering.keep();
    });
  }

  open(at: number, item: Item): void {
    const scene = this.panes[at]?.scene;
    const place = scene && !scene.scope(item) ? placeOf(scene.entry.table, item) : undefined;
    if (scene?.scope(item)) this.toggle(at, item);
    else if (place) this.following.reveal(place, true);
  }

  /** The next or previous match, or difference where two graphs are compared and nothing is searched for. */
  step(direction: 1 | -1, at = this.state.active): void {
    const scene = this.panes[at]?.scene;
    const stops = scene?.matches ?? (this.state.comparing ? scene?.changedNodes() : undefined);
    if (!scene || !stops || stops.length === 0) return;
    const current = stops.indexOf(scene.selected ?? -1);
    const next = stops[current < 0 ? (direction > 0 ? 0 : stops.length - 1) : (current + direction + stops.length) % stops.length];
    if (next !== undefined) void this.goTo(at, next);
  }

  /** Shows all that no part shows by itself. */
  private refresh(): void {
    const { state, toolbar } = this;
    const { library, filter, colouring, stand } = state;
    const { scene } = stand;
    this.main.classList.toggle("split", state.split);
    toolbar.setSplit(state.split);
    toolbar.setTexts(state.showsTexts);
    toolbar.setColouring(colouring);
    toolbar.setMeasured(state.measured?.backend);
    toolbar.setTimed(scene !== undefined && knowsSeconds(scene.entry.table));
    toolbar.setTabs(library.target, this.loading.tabs, state.idIn(0) ?? "");
    this.legend.show(stand.showsText ? undefined : scene?.entry.table, colouring, state.theme);
    if (!scene) return;
    toolbar.setFilters(filter, rulesIn(scene.findings), dtypesIn(scene.entry.table));
    toolbar.setFound(scene.matches?.length, (scene.matches?.indexOf(scene.selected ?? -1) ?? -1) + 1);
    this.outline.show(scene);
    if (scene.selected === undefined) this.details.show(scene, [], [], this.remark());
  }

  /** What is not about a node in particular; the same object as long as nothing of it has changed. */
  private remark(): Remarks {
    const { library, unplaced, colouring, measured } = this.state;
    const known = this.remarks;
    if (known?.library === library && known.findings === unplaced && known.colouring === colouring && known.measured === measured) return known;
    this.remarks = { library, findings: unplaced, colouring, measured, ranking: (scene) => this.heating.ranking(scene) };
    return this.remarks;
  }

  private makeToolbar(): Toolbar {
    const { host, state } = this;
    const inCode = host.kind === "vscode";
    const drawing = (): Pane["drawing"] => (this.panes[state.active] ?? this.panes[0]).drawing;
    return new Toolbar({
      tab: (id) => { state.active = 0; void this.show(0, id); },
      filter: (filter) => { this.scenes.setFilter(filter); },
      step: (direction) => { this.step(direction); },
      colour: (colouring) => { this.heating.choose(colouring); },
      foldAll: () => { this.change((scene) => { scene.foldAll(); }); },
      unfoldAll: () => { this.change((scene) => { if (!scene.unfoldAll()) state.say(t("Not everything is unfolded: it would be too much to read.")); }); },
      zoom: (factor) => { drawing().zoomBy(factor); },
      fit: () => { drawing().fit(); },
      split: () => { void this.setSplit(!state.split); },
      texts: () => { this.showTexts(!state.showsTexts); },
      outline: () => { toggleSide(this.main, this.outline.element, "outline"); },
      details: () => { toggleSide(this.main, this.details.element, "details"); },
      save: (kind) => { void exportAs(state, host, kind); },
      refresh: inCode ? (): void => { host.send({ type: "capture", depth: this.loading.depth, fresh: true }); } : undefined,
      theme: inCode ? undefined : switchTheme,
    });
  }

  private makePane(at: 0 | 1): Pane {
    const { state } = this;
    const keys = {
      select: this.select.bind(this), toggle: this.toggle.bind(this), open: this.open.bind(this), step: this.step.bind(this),
      search: (): void => { this.toolbar.search.focus(); this.toolbar.search.select(); },
      outline: (): void => { this.outline.element.focus(); },
    };
    const pane: Pane = new Pane(state, at, makeCode(this.host, () => this.following, () => this.loading.canCompile), {
      select: (item) => { this.select(at, item, true); },
      toggle: (item) => { this.toggle(at, item); },
      open: (item) => { this.open(at, item); },
      moved: () => { this.remembering.keep(); },
      key: (event) => { pressed(keys, pane, at, event); },
      show: (id) => { void this.show(at, id); },
      compare: (comparing) => { this.setComparing(comparing); },
      step: (direction) => { this.step(direction, at); },
      close: () => { void this.setSplit(false); },
      focused: () => {
        if (state.active === at) return;
        state.active = at;
        state.changed();
      },
    });
    return pane;
  }

  private updateComparison(again = false): void {
    const { state } = this;
    const [left, right] = state.stands.map(({ scene, showsText }) => (showsText || !state.comparing || !state.split ? undefined : scene));
    for (const scene of state.comparison.update(state.scenes.values(), left, right, again)) {
      void scene.update().then(() => {
        for (const pane of this.panes) if (pane.scene === scene) pane.lookAgain();
        state.changed();
      });
    }
  }

  private change(act: (scene: Scene) => void): void {
    const { scene, drawing } = this.panes[this.state.active] ?? this.panes[0];
    if (!scene) return;
    act(scene);
    void scene.update().then(() => {
      drawing.show(scene);
      drawing.startAgain();
      this.state.changed();
      this.remembering.keep();
    });
  }
}
