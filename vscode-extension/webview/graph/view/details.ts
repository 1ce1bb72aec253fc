/** The side panel: everything about what is selected, with links to its source, its inputs and readers, its kernels. */

import type { Location } from "../../../../shared_schema/generated/wire.js";
import { button, element } from "../../shared/dom.js";
import { lineText, nameOf as fileOf, placeText } from "../../shared/places.js";
import { numberText, t } from "../../shared/words.js";
import { type Item, nodesBelow, type Scope } from "../model/hierarchy.js";
import { SIGNS } from "../../shared/heat.js";
import type { Measured, Ranking } from "../looks/overlay.js";
import { type Colouring, kindOf } from "../looks/colours.js";
import { flopsBelow, kindText, secondsBelow, titleOf, writtenBelow } from "../looks/labels.js";
import type { NodeFinding } from "../model/findings.js";
import type { Entry, Library } from "../model/library.js";
import { bytesText, countText, type GraphTable, nameOf, placeOf, ROLE_OP, ROLES, row, secondsText, typeText, usersOf, word } from "../model/table.js";
import { specsOf } from "../model/specs.js";
import { buildView } from "./buildView.js";
import { titleOfEntry } from "./names.js";
import { specRows } from "./specDetails.js";
import type { Scene } from "../canvas/scene.js";

export interface DetailEvents {
  select(item: Item): void;
  reveal(place: Location): void;
  kernel(name: string): void;
  /** Show nodes of another graph. */
  go(entry: Entry, nodes: ReadonlySet<number>): void;
  /** Copy a link to a node. */
  link(entry: Entry, node: number): void;
}

/** What belongs to the selection in other graphs. */
export interface Elsewhere {
  readonly entry: Entry;
  readonly title: string;
  readonly nodes: ReadonlySet<number>;
}

/** What is said of all graphs together: what there is, and findings that are at no node. */
export interface Remarks {
  readonly library: Library;
  readonly findings: readonly NodeFinding[];
  /** What is drawn as heat, and what was measured of it. */
  readonly colouring: Colouring;
  readonly measured: Measured | undefined;
  /** The expressions that have most of what is drawn as heat. */
  readonly ranking: (scene: Scene) => Ranking | undefined;
}

const MOST_LINKS = 12;

export class Details {
  readonly element = element("section", { class: "details", "aria-label": t("Details") });

  private whole: { readonly scene: Scene; readonly remarks: Remarks } | undefined;

  constructor(private readonly events: DetailEvents) {}

  show(scene: Scene | undefined, elsewhere: readonly Elsewhere[], kernels: readonly string[], remarks: Remarks): void {
    const item = scene?.selected;
    const whole = scene && item === undefined ? { scene, remarks } : undefined;
    if (whole && this.whole?.scene === whole.scene && this.whole.remarks === remarks) return; // counting a large graph again takes a frame
    this.whole = whole;
    const scope = item === undefined ? undefined : scene?.scope(item);
    if (!scene) this.element.replaceChildren();
    else if (item === undefined) this.element.replaceChildren(...this.graph(scene, remarks));
    else if (scope) this.element.replaceChildren(...this.scope(scene, scope, item));
    else this.element.replaceChildren(...this.node(scene, item), ...this.specs(scene, item, remarks), ...this.links(elsewhere, kernels, remarks));
  }

  private graph(scene: Scene, { library, findings, ranking }: Remarks): Node[] {
    const { entry, hierarchy } = scene;
    const ranked = ranking(scene);
    const { entries, notes } = library;
    const { table } = entry;
    const counts = ROLES.map((_role, code) => table.roles.reduce((sum, role) => sum + Number(role === code), 0));
    const ops = new Map<string, number>();
    for (let node = 0; node < table.count; node += 1) {
      if (table.roles[node] !== ROLE_OP) continue;
      const op = word(table.ops, node);
      ops.set(op, (ops.get(op) ?? 0) + 1);
    }
    const above = entries.find(({ save, table: { name } }) => save === entry.save && name === table.madeFrom);
    const most = [...ops].sort((left, right) => right[1] - left[1]).slice(0, MOST_LINKS);
    return [
      element("h2", {}, t("Graph: {0}", titleOfEntry(library, entry))),
      facts([
        [t("Operations"), numberText(counts[ROLE_OP] ?? 0)],
        [t("Inputs"), numberText(counts[0] ?? 0)],
        [t("Parameters and buffers"), numberText((counts[1] ?? 0) + (counts[2] ?? 0))],
        [t("Made from"), above ? titleOfEntry(library, above) : table.madeFrom],
        [t("Bytes written"), bytesText(writtenBelow(hierarchy, table.count))],
        [t("FLOPs"), countText(flopsBelow(hierarchy, table.count))],
        [t("Bound"), secondsText(secondsBelow(hierarchy, table.count))],
      ]),
      ...(ranked ? this.ranked(entry.table, ranked) : []),
      ...(most.length > 0 ? [element("h3", {}, t("Most frequent")), facts(most.map(([op, count]) => [op, numberText(count)]), "counts")] : []),
      ...(findings.length > 0 ? [element("h3", {}, t("Findings at no node")), ...findings.map((finding) => this.finding(finding))] : []),
      ...(notes.length > 0 ? [element("h3", {}, t("Notes")), ...notes.map((note) => element("p", { class: "note" }, note))] : []),
    ];
  }

  private scope(scene: Scene, scope: Scope, item: Item): Node[] {
    const { hierarchy, entry } = scene;
    const nodes = nodesBelow(hierarchy, item);
    const findings = new Set(nodes.flatMap((node) => scene.findings.get(node) ?? []));
    return [
      element("h2", {}, titleOf(hierarchy, scope)),
      facts([
        [t("Class"), scope.kind === "module" ? (entry.modules[scope.path] ?? "") : ""],
        [t("Module"), scope.path],
        [t("Repeated"), scope.times > 1 ? t("{0} identical modules", scope.times) : ""],
        [t("Nodes"), numberText(scope.nodes)],
        [t("Bytes written"), bytesText(writtenBelow(hierarchy, item))],
        [t("FLOPs"), countText(flopsBelow(hierarchy, item))],
        [t("Bound"), secondsText(secondsBelow(hierarchy, item))],
        [t("Findings"), findings.size > 0 ? numberText(findings.size) : ""],
      ]),
    ];
  }

  private node(scene: Scene, node: number): Node[] {
    const { table } = scene.entry;
    const place = placeOf(table, node);
    const findings = scene.findings.get(node) ?? [];
    const kind = kindOf(table, node);
    return [
      element("h2", {}, nameOf(table, node)),
      facts([
        [t("Op"), word(table.ops, node)],
        [t("Role"), table.roles[node] === ROLE_OP ? "" : t(ROLES[table.roles[node] ?? 0] ?? "")],
        [t("Value"), typeText(table, node)],
        [t("Kind"), kind === undefined ? "" : kindText(kind)],
        [t("Bytes"), bytesText(table.bytes[node] ?? -1)],
        [t("FLOPs"), countText(table.flops[node] ?? -1)],
        [t("Bound"), secondsText(table.seconds[node] ?? -1)],
        [t("Module"), word(table.modules, node)],
        [t("Arguments"), word(table.details, node)],
      ]),
      element("p", { class: "node-links" }, place !== undefined && this.source(place), button(t("Copy link"), t("Copy a link to this node"), () => { this.events.link(scene.entry, node); }, { class: "link" })),
      ...findings.map((finding) => this.finding(finding)),
      ...this.list(table, t("Reads"), [...new Set(row(table.inputs, node))]),
      ...this.list(table, t("Read by"), [...new Set(row(usersOf(table), node))]),
    ];
  }

  private specs({ entry }: Scene, node: number, { library }: Remarks): Node[] {
    const known = entry.save === "now" ? specsOf(library.specs, entry.table, node) : [];
    return known.flatMap((found) => specRows(found, (kernel) => { this.events.kernel(kernel); }));
  }

  /** The hottest expressions; a click goes to the node, and the editor to the expression. */
  private ranked(table: GraphTable, { metric, rows }: Ranking): Node[] {
    const titles = { bytes: t("Most bytes written"), flops: t("Most operations"), bound: t("Longest at least"), error: t("Largest errors") };
    if (rows.length === 0) return [element("h3", {}, titles[metric]), element("p", { class: "note" }, metric === "error" ? t("No operation of this graph was measured.") : t("Nothing is known of this graph."))];
    const items = rows.map(({ node, title, module, nodes, place, level, text }) => {
      const name = place && placeText(place);
      return element("li", {},
        element("span", { class: "sign", "aria-hidden": "true" }, SIGNS[level]),
        button(title, word(table.ops, node), () => { this.events.select(node); }, { class: "link" }),
        nodes > 1 && element("span", { class: "times" }, `× ${numberText(nodes)}`),
        element("span", { class: "amount" }, text),
        element("span", { class: "type" }, [module, name ?? ""].filter((part) => part !== "").join(" · ")));
    });
    return [element("h3", {}, titles[metric]), element("ol", { class: "ranking" }, ...items)];
  }

  private finding({ severity, rule, message }: NodeFinding): HTMLElement {
    return element("div", { class: `finding ${severity}` }, element("strong", {}, rule), element("p", {}, message));
  }

  private source(place: Location): HTMLElement {
    return button(`${fileOf(place)}, ${lineText(place)}`, t("Go to the source: {0}", place.path), () => { this.events.reveal(place); }, { class: "link" });
  }

  private list(table: GraphTable, title: string, nodes: readonly number[]): Node[] {
    if (nodes.length === 0) return [];
    const rows = nodes.slice(0, MOST_LINKS).map((node) =>
      element("li", {}, button(nameOf(table, node), word(table.ops, node), () => { this.events.select(node); }, { class: "link" }), element("span", { class: "type" }, typeText(table, node))),
    );
    const more = nodes.length - MOST_LINKS;
    return [element("h3", {}, title), element("ul", {}, ...rows, more > 0 && element("li", { class: "note" }, t("and {0} more", more)))];
  }

  private links(elsewhere: readonly Elsewhere[], kernels: readonly string[], { library }: Remarks): Node[] {
    const graphs = elsewhere.map(({ entry, title, nodes }) => {
      const names = [...nodes].slice(0, 3).map((node) => nameOf(entry.table, node)).join(", ");
      const text = nodes.size === 1 ? names : t("{0} nodes", nodes.size);
      return element("li", {}, element("span", { class: "type" }, `${title} `), button(text, names, () => { this.events.go(entry, nodes); }, { class: "link" }));
    });
    const texts = kernels.map((name) => element("li", {},
      button(name, t("Show the kernel {0}", name), () => { this.events.kernel(name); }, { class: "link" }),
      ...library.kernels.flatMap((kernel) => (kernel.name === name && kernel.build ? buildView(kernel.build) : []))));
    return [
      ...(graphs.length > 0 ? [element("h3", {}, t("In other graphs")), element("ul", {}, ...graphs)] : []),
      ...(texts.length > 0 ? [element("h3", {}, t("Kernels")), element("ul", {}, ...texts)] : []),
    ];
  }
}

function facts(rows: readonly (readonly [string, string])[], kind?: string): HTMLElement {
  return element("dl", { class: kind }, ...rows.filter(([, value]) => value !== "").flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

