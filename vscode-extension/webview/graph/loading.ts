/** Takes documents in, and asks for those that are deeper in the compiler when somebody wants to see them. */

import type { GraphKind } from "../../../shared_schema/generated/wire.js";
import { type Depth, DEPTHS } from "../shared/messages.js";
import { t } from "../shared/words.js";
import type { App } from "./app.js";
import { readAll, textsOf } from "./documents.js";
import type { Entry } from "./model/library.js";
import { partnerOf } from "./model/partner.js";
import { restore } from "./remembered.js";
import { inOrder, tabsOf } from "./view/names.js";
import { LOWERED, TEXTS } from "./view/paneHeader.js";
import type { Tab } from "./view/toolbar.js";

export class Loading {
  /** How far down the compiler what is loaded goes. */
  depth: Depth = "kernels";
  /** The kind of graph that somebody wants to see as soon as it is there. */
  private awaited: GraphKind | undefined;

  constructor(private readonly app: App) {}

  /** A tab for all that there is, or that can be had. */
  get tabs(): readonly Tab[] {
    const { library, sources } = this.app;
    const texts = this.depth !== "kernels" || library.kernels.length + library.listings.length + sources.length > 0;
    return tabsOf(library, this.depth === "check" ? LOWERED : undefined, texts ? TEXTS : undefined);
  }

  /** What takes seconds comes when somebody wants to see it. False where it is there already. */
  askFor(depth: Depth): boolean {
    const deeper = DEPTHS.indexOf(depth) > DEPTHS.indexOf(this.depth);
    if (deeper) this.app.host.send({ type: "capture", depth, fresh: false });
    return deeper;
  }

  /** The forward graph is shown as soon as it has come. */
  askForForward(): void {
    this.awaited = "forward";
    this.askFor("lowered");
    this.app.redraw();
  }

  /** Takes documents in. A file that cannot be read is told and left out. */
  async load(now: readonly ArrayBuffer[], before: readonly ArrayBuffer[], depth: Depth): Promise<void> {
    const { app } = this;
    const shown = app.panes.map((pane) => pane.scene?.entry.id);
    const [texts0, texts1] = app.panes.map((pane) => pane.showsText);
    const { library, problems } = readAll(now, before);
    this.depth = depth;
    app.setLibrary(library);
    const texts = [...textsOf(library), ...app.sources];
    for (const { code } of [...app.panes, app.texts]) code.setTexts(texts);
    const entries = inOrder(library.entries);
    const first = this.firstOf(entries, shown[0]);
    app.filled(first ? undefined : (problems[0] ?? t("There is no graph to show.")));
    const trouble = problems[0] ?? app.remarks.findings.find(({ severity }) => severity === "error")?.message;
    if (trouble !== undefined) app.say(trouble);
    if (!first) return;
    await app.show(0, first.id);
    if (app.split) await app.show(1, entries.find(({ id }) => id === shown[1])?.id ?? partnerOf(library, first)?.id ?? TEXTS);
    if (texts0) await app.show(0, TEXTS);
    if (texts1 && app.split) await app.show(1, TEXTS);
    app.heating.tell();
    await restore(app, app.host);
    await app.following.goToAwaited();
  }

  /** The graph that was asked for, the one that was shown, or the one with the operations. */
  private firstOf(entries: readonly Entry[], shown: string | undefined): Entry | undefined {
    const { awaited } = this;
    this.awaited = undefined;
    const asked = entries.find(({ save, table }) => save === "now" && table.kind === awaited);
    return asked ?? entries.find(({ id }) => id === shown) ?? entries.find(({ table }) => table.kind === "forward") ?? entries[0];
  }
}
