/** The scenes of the graphs: made when a graph is first shown, and told of what concerns all of them. */

import { Layouts } from "./canvas/layouts.js";
import { Scene } from "./canvas/scene.js";
import type { Theme } from "./canvas/theme.js";
import type { Overlay } from "./looks/overlay.js";
import type { NodeFinding } from "./model/findings.js";
import type { Entry, Library } from "./model/library.js";
import type { Filter } from "./search/search.js";
import type { State } from "./state/state.js";

export class Scenes {
  private readonly layouts = new Layouts();

  constructor(
    private readonly state: State,
    private readonly overlayOf: (entry: Entry) => Overlay | undefined,
  ) {}

  of(entry: Entry): Scene {
    const { library, scenes, theme, findings, filter } = this.state;
    let scene = scenes.get(entry.id);
    if (!scene) {
      scene = new Scene(library, entry, theme, (skeleton) => this.layouts.open(skeleton));
      scene.setFindings(findings);
      scene.setFilter(filter);
      scene.setOverlay(this.overlayOf(entry));
      scenes.set(entry.id, scene);
    }
    return scene;
  }

  /** Other graphs take the place of those that were there; what was open in one stays open. */
  setLibrary(library: Library): void {
    const { state } = this;
    const folds = new Map([...state.scenes].map(([id, scene]) => [id, scene.openPaths()]));
    for (const scene of state.scenes.values()) scene.close();
    state.scenes.clear();
    state.library = library;
    state.comparison.current = undefined;
    for (const entry of library.entries) {
      const open = folds.get(entry.id);
      if (open) this.of(entry).openByPaths(open);
    }
  }

  setFindings(findings: readonly NodeFinding[]): void {
    this.state.findings = findings;
    for (const scene of this.state.scenes.values()) scene.setFindings(findings);
    this.state.changed();
  }

  setFilter(filter: Filter): void {
    this.state.filter = filter;
    for (const scene of this.state.scenes.values()) scene.setFilter(filter);
    this.state.changed();
  }

  setTheme(theme: Theme): void {
    this.state.theme = theme;
    for (const scene of this.state.scenes.values()) scene.setTheme(theme);
    this.state.changed();
  }
}
