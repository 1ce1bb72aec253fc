/**
 * What the page shows: which graphs there are, what stands in which pane, what is compared and what colours say. Whoever changes it says so
 * (`changed`); panes, bars and columns listen and show it. It makes no element and asks nobody for anything.
 */

import type { Colouring } from "../looks/colours.js";
import type { Measured } from "../looks/overlay.js";
import { type NodeFinding, unplaced } from "../model/findings.js";
import { type Entry, type Library, libraryOf } from "../model/library.js";
import { nameOf } from "../model/table.js";
import { type Filter, NO_FILTER } from "../search/search.js";
import type { Scene } from "../canvas/scene.js";
import { readTheme, type Theme } from "../canvas/theme.js";
import { Comparing } from "./comparing.js";

/** Stands for the texts where the id of a graph could stand. */
export const TEXTS = "texts";
/** Stands for the graphs of forward and backward while nobody has asked for them. */
export const LOWERED = "lowered";

/** What stands in a pane: a graph, or the texts instead of it. */
export interface Stand {
  scene: Scene | undefined;
  showsText: boolean;
}

/** A node by the id of its graph and its name. */
export interface Named {
  readonly entry: string;
  readonly node: string;
}

/** One of the parts that show the state. */
export interface Listener {
  changed(): void;
  said?(text: string): void;
}

export class State {
  /** Which pane is being used, whether there are two, whether they are compared, and whether a third one has texts. */
  active = 0;
  split = false;
  comparing = false;
  showsTexts = false;
  colouring: Colouring = "operation";
  measured: Measured | undefined;
  filter: Filter = NO_FILTER;
  theme: Theme = readTheme();
  readonly stands: readonly [Stand, Stand] = [{ scene: undefined, showsText: false }, { scene: undefined, showsText: false }];
  /** The scenes of the graphs that were shown, by the graphs' ids. */
  readonly scenes = new Map<string, Scene>();
  readonly comparison = new Comparing();
  /** Texts of the user's files by path, where the page itself shows them; in VS Code the editor does. */
  sources: Readonly<Record<string, string>> = {};
  /** The findings that are at no node. */
  unplaced: readonly NodeFinding[] = [];
  private graphs: Library = libraryOf([]);
  private found: readonly NodeFinding[] = [];
  private readonly listeners = new Set<Listener>();

  get library(): Library {
    return this.graphs;
  }

  set library(library: Library) {
    this.graphs = library;
    this.unplaced = unplaced(library, this.found);
  }

  get findings(): readonly NodeFinding[] {
    return this.found;
  }

  set findings(findings: readonly NodeFinding[]) {
    this.found = findings;
    this.unplaced = unplaced(this.graphs, findings);
  }

  /** What stands in the pane that is being used. */
  get stand(): Stand {
    return this.stands[this.active] ?? this.stands[0];
  }

  entry(id: string): Entry | undefined {
    return this.graphs.entries.find((entry) => entry.id === id);
  }

  /** Whether a pane is on show: the second one is where there are two. */
  isShown(at: number): boolean {
    return at === 0 || this.split;
  }

  /** The node that is selected in a pane, by names that hold when the graphs are captured again. */
  selectedIn(at: number): Named | undefined {
    const scene = this.stands[at]?.scene;
    const item = scene?.selected;
    return scene && item !== undefined && item < scene.entry.table.count ? { entry: scene.entry.id, node: nameOf(scene.entry.table, item) } : undefined;
  }

  /** What stands in a pane: the id of a graph, `TEXTS`, or nothing yet. */
  idIn(at: number): string | undefined {
    const stand = this.stands[at];
    return stand?.showsText === true ? TEXTS : stand?.scene?.entry.id;
  }

  subscribe(listener: Listener): void {
    this.listeners.add(listener);
  }

  /** Something here has changed: everybody shows it. */
  changed(): void {
    for (const listener of this.listeners) listener.changed();
  }

  /** A word for the user, at the foot of the page. */
  say(text: string): void {
    for (const listener of this.listeners) listener.said?.(text);
  }
}
