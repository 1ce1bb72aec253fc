/** What follows what: a selection lights up the other panes and the editor, the editor's cursor lights up nodes. */

import type { Kernel, Location, Position } from "../../../shared_schema/generated/wire.js";
import type { Depth } from "../shared/messages.js";
import { t } from "../shared/words.js";
import type { App } from "./app.js";
import { type Item, nodesBelow } from "./model/hierarchy.js";
import { type Entry, nodesAt, relatedTo, relatedToKernel, type Selection } from "./model/library.js";
import { indexOfNames, placeOf } from "./model/table.js";
import { textsOnShow } from "./texts.js";
import { pathBeside, titleOfEntry } from "./view/names.js";
import { TEXTS } from "./view/paneHeader.js";
import type { Scene } from "./view/scene.js";

export class Following {
  private revealed: Location | undefined;
  private awaited: { readonly graph: string; readonly node: string } | undefined;

  constructor(private readonly app: App) {}

  select(at: number, item: Item | undefined, told: boolean): void {
    const { app } = this;
    const pane = app.panes[at];
    const scene = pane?.scene;
    if (!scene) return;
    app.active = at;
    for (const other of app.panes) if (other.scene && other.scene !== scene) other.scene.selected = undefined;
    scene.selected = item;
    const nodes = item === undefined ? [] : nodesBelow(scene.hierarchy, item);
    const { nodes: related, kernels } = relatedTo(app.library, scene.entry.id, nodes);
    this.light(related, at);
    const places = nodes.flatMap((node) => placeOf(scene.entry.table, node) ?? []);
    for (const code of item === undefined ? [] : textsOnShow(app)) {
      if (!code.showsSource) code.showTitled(kernels);
      const wanted = new Set(places.map(keyOf));
      code.light((place) => wanted.has(keyOf(place)));
    }
    if (item === undefined) app.say("");
    const [place] = places;
    if (told && place && item !== undefined && !scene.scope(item)) this.reveal(place, false);
    app.redraw();
    if (item !== undefined) pane.drawing.reveal(scene.boxOf(item));
    const elsewhere = app.library.entries.filter(({ id }) => id !== scene.entry.id && (related.get(id)?.size ?? 0) > 0);
    app.details.show(scene, elsewhere.map((entry) => ({ entry, title: titleOfEntry(app.library, entry), nodes: related.get(entry.id) ?? new Set() })), [...kernels], app.remarks);
  }

  /** What is selected stays in sight, and lights up what belongs to it in a pane that was not there before. */
  again(): void {
    const { app } = this;
    const at = app.panes.findIndex(({ scene, showsText }, index) => !showsText && scene?.selected !== undefined && (index === 0 || app.split));
    const selected = app.panes[at]?.scene?.selected;
    if (selected === undefined) return;
    const { active } = app;
    this.select(at, selected, false);
    app.active = active;
    app.redraw();
  }

  /** The editor's cursor is at a place: its nodes light up. What it was told to select itself changes nothing. */
  cursor(path: string, line: number, character: number): void {
    const { app, revealed } = this;
    const at = (end: Position | undefined): boolean => end?.line === line && end.character === character;
    if (revealed?.path === path && (at(revealed.range.start) || at(revealed.range.end))) return;
    this.revealed = undefined;
    const nodes = new Map(app.panes.flatMap(({ scene }) => (scene ? [[scene.entry.id, nodesAt(scene.entry.table, path, line, character)]] : [])));
    for (const { scene } of app.panes) if (scene) scene.selected = undefined;
    this.light(nodes, -1);
    app.redraw();
  }

  lightKernel(kernel: Required<Kernel>): void {
    this.light(relatedToKernel(this.app.library, kernel), -1);
    this.app.redraw();
  }

  /** Goes to an expression: in the editor, or in the page's own text of the file where there is no editor. */
  reveal(place: Location, focus: boolean): void {
    const { app } = this;
    this.revealed = place;
    app.host.send({ type: "reveal", place, focus });
    app.say(t("{0}, line {1}", pathBeside(app.library.path, place.path), place.range.start.line + 1));
    if (app.host.kind !== "browser" || app.sources.length === 0) return;
    const codes = textsOnShow(app);
    const shown = codes.find(({ showsSource }) => showsSource) ?? (focus ? codes.at(-1) : undefined);
    if (shown) shown.showPlace(place);
    else if (focus) void this.showSource(place);
  }

  async showKernel(name: string): Promise<void> {
    const { app } = this;
    if (app.texts.shown) {
      app.texts.code.showTitled(new Set([name]));
      return;
    }
    const at = app.split && app.active === 1 ? 0 : 1;
    if (!app.split) await app.setSplit(true);
    await app.show(at, TEXTS);
    app.panes[at === 0 ? 0 : 1].code.showTitled(new Set([name]));
  }

  /** Selects the first of some nodes of another graph, in the pane that shows it, otherwise in the active one. */
  async goTo(entry: Entry, nodes: ReadonlySet<number>): Promise<void> {
    const { app } = this;
    const other = app.panes.findIndex((pane, at) => !pane.showsText && pane.scene?.entry.id === entry.id && (at === 0 || app.split));
    const at = other >= 0 ? other : app.active;
    if (other < 0) await app.show(at, entry.id);
    const [first] = nodes;
    if (first !== undefined) await app.goTo(at, first);
  }

  /** Shows a node of the newer save by its name and its graph's; where the graph is not there yet, once it has come. */
  async goToNamed(graph: string, node: string): Promise<void> {
    const { app } = this;
    this.awaited = { graph, node };
    if (app.library.entries.length > 0) await this.goToAwaited();
  }

  /** Graphs have come: the node that was asked for may be among them. */
  async goToAwaited(): Promise<void> {
    const { app, awaited } = this;
    if (!awaited) return;
    const entry = app.library.entries.find(({ save, table }) => save === "now" && table.name === awaited.graph);
    const node = entry && indexOfNames(entry.table).get(awaited.node);
    if (entry && node !== undefined) {
      this.awaited = undefined;
      await this.goTo(entry, new Set([node]));
    } else if (!app.loading.askFor(awaited.graph.includes(".") ? depthOf(awaited.graph) : "check")) {
      this.awaited = undefined;
      app.say(t("There is no node {0} any more.", awaited.node));
    }
  }

  private async showSource(place: Location): Promise<void> {
    if (!this.app.split) await this.app.setSplit(true);
    await this.app.show(1, TEXTS);
    this.app.panes[1].code.showPlace(place);
  }

  /** Lights up nodes in the panes; the one that they were selected in (`from`, -1 for none) stays where it is. */
  private light(nodes: Selection, from: number): void {
    const { app } = this;
    app.panes.forEach((pane, at) => {
      const { scene } = pane;
      if (!scene || (at === 1 && !app.split)) return;
      const partners = at === from || from < 0 ? undefined : app.comparison.partners(app.panes[from]?.scene, from === 0 ? "left" : "right");
      scene.setRelated(at === from ? stubOf(scene) : (partners ?? nodes.get(scene.entry.id) ?? new Set()));
      const [first] = scene.related;
      if (at === from || first === undefined || pane.showsText) return;
      pane.drawing.reveal(first);
      pane.drawing.refresh();
    });
  }
}

/** What is selected where it has no box of its own: the boxes that read it light up. */
function stubOf({ hierarchy, selected }: Scene): Set<number> {
  return new Set(selected !== undefined && hierarchy.scopeOf[selected] === -1 ? [selected] : []);
}

function keyOf({ path, range: { start } }: Location): string {
  return `${path}:${start.line}:${start.character}`;
}

/** How deep one has to capture for a graph of this name. */
function depthOf(graph: string): Depth {
  return /\.(?:post_grad|ir)$/u.test(graph) ? "kernels" : "lowered";
}
