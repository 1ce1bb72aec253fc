/** Takes documents in, and asks for those that are deeper in the compiler when somebody wants to see them. */

import type { GraphKind, KernelBuild } from "../../../shared_schema/generated/wire.js";
import { t } from "../shared/words.js";
import { readAll, textsOf, textsOfSources } from "./documents.js";
import { partnerOf } from "./model/partner.js";
import { type Entry, type Library, withBuilds } from "./model/library.js";
import type { Whole } from "./model/specs.js";
import { LOWERED, type State, TEXTS } from "./state/state.js";
import type { Text } from "./view/codeView.js";
import { inOrder, tabsOf } from "./view/names.js";
import type { Tab } from "./view/toolbar.js";
import type { Host } from "./wire/host.js";
import { type Depth, DEPTHS } from "./wire/messages.js";

/** Who shows what has come. */
export interface Shelf {
  /** Other graphs take the place of those that were there. */
  setLibrary(library: Library): void;
  /** The texts that can be shown from now on. */
  setTexts(texts: readonly Text[]): void;
  /** There is something to show now, or nothing, and why. */
  filled(nothing: string | undefined): void;
  show(at: number, id: string): Promise<void>;
}

export class Loading {
  /** How far down the compiler what is loaded goes. */
  depth: Depth = "kernels";
  /** The kind of graph that somebody wants to see as soon as it is there. */
  private awaited: GraphKind | undefined;

  constructor(
    private readonly state: State,
    private readonly host: Host,
    private readonly shelf: Shelf,
  ) {}

  /** A tab for all that there is, or that can be had. */
  get tabs(): readonly Tab[] {
    const { library, sources } = this.state;
    const texts = DEPTHS.indexOf(this.depth) < DEPTHS.indexOf("kernels") || library.kernels.length + library.listings.length + Object.keys(sources).length > 0;
    return tabsOf(library, this.depth === "check" ? LOWERED : undefined, texts ? TEXTS : undefined);
  }

  /** Whether kernels can be compiled that were not. */
  get canCompile(): boolean {
    return this.depth !== "compiled";
  }

  /** What takes seconds comes when somebody wants to see it. False where it is there already. */
  askFor(depth: Depth): boolean {
    const deeper = DEPTHS.indexOf(depth) > DEPTHS.indexOf(this.depth);
    if (deeper) this.host.send({ type: "capture", depth, fresh: false });
    return deeper;
  }

  /** The forward graph is shown as soon as it has come. */
  askForForward(): void {
    this.awaited = "forward";
    this.askFor("lowered");
    this.state.changed();
  }

  /** Takes documents in and shows one. A file that cannot be read is told and left out. False where there is nothing to show. */
  async load(now: readonly ArrayBuffer[], before: readonly ArrayBuffer[], depth: Depth): Promise<boolean> {
    const { state, shelf } = this;
    const shown = state.stands.map(({ scene }) => scene?.entry.id);
    const [texts0, texts1] = state.stands.map(({ showsText }) => showsText);
    const { library, problems } = readAll(now, before);
    this.depth = depth;
    shelf.setLibrary(library);
    shelf.setTexts([...textsOf(library), ...textsOfSources(state.sources)]);
    const entries = inOrder(library.entries);
    const first = this.firstOf(entries, shown[0]);
    shelf.filled(first ? undefined : (problems[0] ?? t("There is no graph to show.")));
    const trouble = problems[0] ?? state.unplaced.find(({ severity }) => severity === "error")?.message;
    if (trouble !== undefined) state.say(trouble);
    if (!first) return false;
    await shelf.show(0, first.id);
    if (state.split) await shelf.show(1, entries.find(({ id }) => id === shown[1])?.id ?? partnerOf(library, first)?.id ?? TEXTS);
    if (texts0) await shelf.show(0, TEXTS);
    if (texts1 && state.split) await shelf.show(1, TEXTS);
    return true;
  }

  /** Takes in what some kernels were compiled to; what is on show stays. */
  take(builds: readonly Whole<KernelBuild>[]): void {
    const { state } = this;
    state.library = withBuilds(state.library, builds);
    this.shelf.setTexts([...textsOf(state.library), ...textsOfSources(state.sources)]);
    state.changed();
  }

  /** The graph that was asked for, the one that was shown, or the one with the operations. */
  private firstOf(entries: readonly Entry[], shown: string | undefined): Entry | undefined {
    const { awaited } = this;
    this.awaited = undefined;
    const asked = entries.find(({ save, table }) => save === "now" && table.kind === awaited);
    return asked ?? entries.find(({ id }) => id === shown) ?? entries.find(({ table }) => table.kind === "forward") ?? entries[0];
  }
}
