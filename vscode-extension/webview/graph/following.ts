/** What follows what: a selection lights up the other panes and the editor, the editor's cursor lights up nodes. */

import type { Kernel, Location, Position } from "../../../shared_schema/generated/wire.js";
import type { Whole } from "./model/specs.js";
import { lineText } from "../shared/places.js";
import { t } from "../shared/words.js";
import type { Scene } from "./canvas/scene.js";
import { type Item, nodesBelow } from "./model/hierarchy.js";
import { type Entry, nodesAt, relatedTo, relatedToKernel, type Selection } from "./model/library.js";
import { indexOfNames, placeOf } from "./model/table.js";
import { type Named, type State, TEXTS } from "./state/state.js";
import type { CodeView } from "./view/codeView.js";
import { pathBeside, titleOfEntry } from "./view/names.js";
import type { Pane } from "./view/pane.js";
import type { Elsewhere } from "./view/details.js";
import type { Host } from "./wire/host.js";
import type { Depth } from "./wire/messages.js";

/** What it has done by others, who change what is on show. */
export interface Steps {
  /** Shows a graph, or the texts, in a pane. */
  show(at: number, id: string): Promise<void>;
  setSplit(split: boolean): Promise<void>;
  /** Opens what hides a node, selects it and moves to it. */
  goTo(at: number, item: Item): Promise<void>;
  /** False where graphs as deep as that are there already. */
  askFor(depth: Depth): boolean;
  /** Tells in the side column what belongs to the selection. */
  tell(scene: Scene, elsewhere: readonly Elsewhere[], kernels: readonly string[]): void;
}

export class Following {
  private revealed: Location | undefined;
  private awaited: { readonly graph: string; readonly node: string } | undefined;

  constructor(
    private readonly state: State,
    private readonly panes: readonly [Pane, Pane],
    /** The texts that can stand beside the panes. */
    private readonly texts: CodeView,
    private readonly host: Host,
    private readonly steps: Steps,
  ) {}

  select(at: number, item: Item | undefined, told: boolean): void {
    const { state } = this;
    const pane = this.panes[at];
    const scene = pane?.scene;
    if (!scene) return;
    state.active = at;
    for (const other of this.panes) if (other.scene && other.scene !== scene) other.scene.selected = undefined;
    scene.selected = item;
    const nodes = item === undefined ? [] : nodesBelow(scene.hierarchy, item);
    const { nodes: related, kernels } = relatedTo(state.library, scene.entry.id, nodes);
    this.light(related, at);
    const places = nodes.flatMap((node) => placeOf(scene.entry.table, node) ?? []);
    for (const code of item === undefined ? [] : this.textsOnShow()) {
      if (!code.showsSource) code.showTitled(kernels);
      const wanted = new Set(places.map(keyOf));
      code.light((place) => wanted.has(keyOf(place)));
    }
    if (item === undefined) state.say("");
    const [place] = places;
    if (told && place && item !== undefined && !scene.scope(item)) this.reveal(place, false);
    state.changed();
    if (item !== undefined) pane.drawing.reveal(scene.boxOf(item));
    const elsewhere = state.library.entries.filter(({ id }) => id !== scene.entry.id && (related.get(id)?.size ?? 0) > 0);
    this.steps.tell(scene, elsewhere.map((entry) => ({ entry, title: titleOfEntry(state.library, entry), nodes: related.get(entry.id) ?? new Set() })), [...kernels]);
  }

  /** What is selected stays in sight, and lights up what belongs to it in a pane that was not there before. */
  again(): void {
    const { state } = this;
    const at = this.panes.findIndex(({ scene, showsText }, index) => !showsText && scene?.selected !== undefined && state.isShown(index));
    const selected = this.panes[at]?.scene?.selected;
    if (selected === undefined) return;
    const { active } = state;
    this.select(at, selected, false);
    state.active = active;
    state.changed();
  }

  /** Other graphs have come: what was selected in a pane is so again, where its graph is still there and has that node. */
  restore(at: number, { entry, node }: Named): void {
    const table = this.panes[at]?.scene?.entry.id === entry ? this.state.entry(entry)?.table : undefined;
    const item = table && indexOfNames(table).get(node);
    if (item !== undefined) this.select(at, item, false);
  }

  /** The editor's cursor is at a place: its nodes light up. What it was told to select itself changes nothing. */
  cursor(path: string, line: number, character: number): void {
    const { revealed } = this;
    const at = (end: Position | undefined): boolean => end?.line === line && end.character === character;
    if (revealed?.path === path && (at(revealed.range.start) || at(revealed.range.end))) return;
    this.revealed = undefined;
    this.lightPlaces([{ path, range: { start: { line, character }, end: { line, character } } }]);
  }

  /** Lights up the nodes of expressions; nothing is selected. */
  lightPlaces(places: readonly Location[]): void {
    const nodesOf = ({ table }: Scene["entry"]): Set<number> => new Set(places.flatMap(({ path, range: { start } }) => [...nodesAt(table, path, start.line, start.character)]));
    const nodes = new Map(this.panes.flatMap(({ scene }) => (scene ? [[scene.entry.id, nodesOf(scene.entry)]] : [])));
    for (const { scene } of this.panes) if (scene) scene.selected = undefined;
    this.light(nodes, -1);
    this.state.changed();
  }

  lightKernel(kernel: Whole<Kernel>): void {
    this.light(relatedToKernel(this.state.library, kernel), -1);
    this.state.changed();
  }

  /** Goes to an expression: in the editor, or in the page's own text of the file where there is no editor. */
  reveal(place: Location, focus: boolean): void {
    const { state } = this;
    this.revealed = place;
    this.host.send({ type: "reveal", place, focus });
    state.say(`${pathBeside(state.library.path, place.path)}, ${lineText(place)}`);
    if (this.host.kind !== "browser" || Object.keys(state.sources).length === 0) return;
    const codes = this.textsOnShow();
    const shown = codes.find(({ showsSource }) => showsSource) ?? (focus ? codes.at(-1) : undefined);
    if (shown) shown.showPlace(place);
    else if (focus) void this.showSource(place);
  }

  async showKernel(name: string): Promise<void> {
    const { state } = this;
    if (state.showsTexts) {
      this.texts.showTitled(new Set([name]));
      return;
    }
    const at = state.split && state.active === 1 ? 0 : 1;
    if (!state.split) await this.steps.setSplit(true);
    await this.steps.show(at, TEXTS);
    this.panes[at === 0 ? 0 : 1].code.showTitled(new Set([name]));
  }

  /** Selects the first of some nodes of another graph, in the pane that shows it, otherwise in the active one. */
  async goTo(entry: Entry, nodes: ReadonlySet<number>): Promise<void> {
    const { state } = this;
    const other = this.panes.findIndex((pane, at) => !pane.showsText && pane.scene?.entry.id === entry.id && state.isShown(at));
    const at = other >= 0 ? other : state.active;
    if (other < 0) await this.steps.show(at, entry.id);
    const [first] = nodes;
    if (first !== undefined) await this.steps.goTo(at, first);
  }

  /** Shows a node of the newer save by its name and its graph's; where the graph is not there yet, once it has come. */
  async goToNamed(graph: string, node: string): Promise<void> {
    const { state } = this;
    this.awaited = { graph, node };
    if (state.library.entries.length > 0) await this.goToAwaited();
  }

  /** Graphs have come: the node that was asked for may be among them. */
  async goToAwaited(): Promise<void> {
    const { state, awaited } = this;
    if (!awaited) return;
    const entry = state.library.entries.find(({ save, table }) => save === "now" && table.name === awaited.graph);
    const node = entry && indexOfNames(entry.table).get(awaited.node);
    if (entry && node !== undefined) {
      this.awaited = undefined;
      await this.goTo(entry, new Set([node]));
    } else if (!this.steps.askFor(awaited.graph.includes(".") ? depthOf(awaited.graph) : "check")) {
      this.awaited = undefined;
      state.say(t("There is no node {0} any more.", awaited.node));
    }
  }

  private async showSource(place: Location): Promise<void> {
    if (!this.state.split) await this.steps.setSplit(true);
    await this.steps.show(1, TEXTS);
    this.panes[1].code.showPlace(place);
  }

  /** The texts on show. */
  private textsOnShow(): CodeView[] {
    const inPanes = this.panes.filter(({ showsText }, at) => showsText && this.state.isShown(at)).map(({ code }) => code);
    return [...(this.state.showsTexts ? [this.texts] : []), ...inPanes];
  }

  /** Lights up nodes in the panes; the one that they were selected in (`from`, -1 for none) stays where it is. */
  private light(nodes: Selection, from: number): void {
    const { state } = this;
    this.panes.forEach((pane, at) => {
      const { scene } = pane;
      if (!scene || !state.isShown(at)) return;
      const partners = at === from || from < 0 ? undefined : state.comparison.partners(this.panes[from]?.scene, from === 0 ? "left" : "right");
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
