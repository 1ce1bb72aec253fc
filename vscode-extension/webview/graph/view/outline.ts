/**
 * The graph as a tree of text: the same scopes, open and folded as in the drawing, for screen readers and for reading. Only rows in
 * sight are in the page; the focus stays on the tree and `aria-activedescendant` says which row it is at.
 */

import { element } from "../../shared/dom.js";
import { t } from "../../shared/words.js";
import type { Item } from "../model/hierarchy.js";
import { sentenceOf } from "../model/labels.js";
import type { Scene } from "./scene.js";

const ROW = 22;

interface Row {
  readonly item: Item;
  readonly depth: number;
  readonly position: number;
  readonly size: number;
}

export interface OutlineEvents {
  select(item: Item): void;
  toggle(item: Item): void;
  open(item: Item): void;
}

let made = 0;

export class Outline {
  private readonly inner = element("div", { class: "rows", role: "none" });
  readonly element = element("div", { class: "outline", role: "tree", tabindex: 0, "aria-label": t("Outline of the graph") }, this.inner);
  private readonly name = `outline${(made += 1)}`;
  private rows: Row[] = [];
  private scene: Scene | undefined;
  private active = 0;

  constructor(private readonly events: OutlineEvents) {
    this.element.addEventListener("scroll", () => { this.draw(); }, { passive: true });
    this.element.addEventListener("keydown", (event) => { this.key(event); });
    this.element.addEventListener("click", (event) => { this.click(event); });
    this.element.addEventListener("dblclick", () => { this.enter(); });
    new ResizeObserver(() => { this.draw(); }).observe(this.element);
  }

  show(scene: Scene): void {
    this.scene = scene;
    const hidden = scene.matches === undefined ? undefined : matchingItems(scene);
    this.rows = rowsOf(scene, hidden);
    const selected = this.rows.findIndex(({ item }) => item === scene.selected);
    if (selected >= 0 && selected !== this.active) {
      this.active = selected;
      this.scrollTo(selected);
    }
    this.active = Math.min(Math.max(0, this.active), Math.max(0, this.rows.length - 1));
    this.inner.style.height = `${this.rows.length * ROW}px`;
    this.draw();
  }

  private draw(): void {
    const { scene } = this;
    if (!scene) return;
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - 4);
    const last = Math.min(this.rows.length, first + Math.ceil(this.element.clientHeight / ROW) + 8);
    const shown = new Set<number>();
    for (let index = first; index < last; index += 1) shown.add(index);
    if (this.rows.length > 0) shown.add(this.active); // what `aria-activedescendant` names has to be there
    this.inner.replaceChildren(...[...shown].sort((left, right) => left - right).map((index) => this.row(scene, index)));
    if (this.rows.length > 0) this.element.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  private row(scene: Scene, index: number): HTMLElement {
    const { item, depth, position, size } = this.rows[index] ?? { item: 0, depth: 0, position: 1, size: 1 };
    const scope = scene.scope(item);
    const { title, beside, line } = scene.label(item);
    const box = scene.visible?.boxOfItem[item] ?? -1;
    const severity = scene.severities[box];
    const change = scene.differences[box];
    const chosen = item === scene.selected;
    const findings = severity ? t("{0} findings", scene.counts[box] ?? 0) : "";
    const made = element(
      "div",
      {
        class: ["row", chosen && "selected", index === this.active && "active", scene.related.has(box) && "related", change && "differs"].filter(Boolean).join(" "),
        role: "treeitem", id: `${this.name}-${index}`, "aria-level": depth + 1, "aria-posinset": position, "aria-setsize": size,
        "aria-selected": chosen ? "true" : "false", "aria-expanded": scope ? (scene.isOpen(item) ? "true" : "false") : undefined,
        "aria-label": [sentenceOf(scene.hierarchy, scene.entry.modules, item), findings].filter((text) => text !== "").join(", "),
        "data-index": index,
      },
      element("span", { class: "twistie", "aria-hidden": "true" }, scope ? (scene.isOpen(item) ? "−" : "+") : ""),
      element("span", { class: "name" }, title),
      beside !== "" && element("span", { class: "beside" }, beside),
      scope !== undefined && scope.times > 1 && element("span", { class: "times" }, `× ${scope.times}`),
      !scope && element("span", { class: "type" }, line),
      severity && element("span", { class: `dot ${severity}`, "aria-hidden": "true" }),
    );
    made.style.top = `${index * ROW}px`;
    made.style.paddingLeft = `${8 + depth * 12}px`;
    return made;
  }

  private click(event: MouseEvent): void {
    const row = (event.target as Element).closest<HTMLElement>("[data-index]");
    if (!row) return;
    this.active = Number(row.dataset["index"]);
    const item = this.rows[this.active]?.item;
    if (item === undefined) return;
    if ((event.target as Element).classList.contains("twistie") && this.scene?.scope(item)) this.events.toggle(item);
    else this.events.select(item);
  }

  private enter(): void {
    const item = this.rows[this.active]?.item;
    if (item === undefined) return;
    if (this.scene?.scope(item)) this.events.toggle(item);
    else this.events.open(item);
  }

  /** The keys of a tree view, as the ARIA practices say. */
  private key(event: KeyboardEvent): void {
    const row = this.rows[this.active];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: this.rows.length - 1, PageDown: this.active + page, PageUp: this.active - page,
    };
    const open = this.scene?.isOpen(row.item) === true;
    const folds = this.scene?.scope(row.item) !== undefined;
    const move = moves[event.key];
    if (move !== undefined) this.go(move);
    else if (event.key === "ArrowRight" && folds && !open) this.events.toggle(row.item);
    else if (event.key === "ArrowRight" && folds) this.go(this.active + 1);
    else if (event.key === "ArrowLeft" && folds && open) this.events.toggle(row.item);
    else if (event.key === "ArrowLeft") this.go(this.rows.findLastIndex(({ depth }, index) => index < this.active && depth < row.depth));
    else if (event.key === "Enter" || event.key === " ") this.enter();
    else if (/^[\p{L}\p{N}_]$/u.test(event.key) && event.key !== "n" && event.key !== "p") this.jump(event.key.toLowerCase());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The next row whose name begins with a letter. */
  private jump(letter: string): void {
    const count = this.rows.length;
    for (let step = 1; step <= count; step += 1) {
      const index = (this.active + step) % count;
      const item = this.rows[index]?.item;
      if (item !== undefined && this.scene?.label(item).title.toLowerCase().startsWith(letter)) {
        this.go(index);
        return;
      }
    }
  }

  private go(index: number): void {
    this.active = Math.min(this.rows.length - 1, Math.max(0, index));
    this.scrollTo(this.active);
    const item = this.rows[this.active]?.item;
    if (item !== undefined) this.events.select(item);
  }

  private scrollTo(index: number): void {
    const { scrollTop, clientHeight } = this.element;
    if (index * ROW < scrollTop) this.element.scrollTop = index * ROW;
    else if ((index + 1) * ROW > scrollTop + clientHeight) this.element.scrollTop = (index + 1) * ROW - clientHeight;
  }
}

/** Items that match the filter or hold something that does. */
function matchingItems(scene: Scene): Set<Item> {
  const { scopes, scopeOf, table } = scene.hierarchy;
  const found = new Set<Item>();
  for (const node of scene.matches ?? []) {
    found.add(node);
    for (let id = scopeOf[node] ?? -1; id >= 0 && !found.has(table.count + id); id = scopes[id]?.parent ?? -1) found.add(table.count + id);
  }
  return found;
}

function rowsOf(scene: Scene, shown: ReadonlySet<Item> | undefined): Row[] {
  const rows: Row[] = [];
  const add = (children: readonly Item[], depth: number): void => {
    const wanted = shown ? children.filter((item) => shown.has(item)) : children;
    wanted.forEach((item, index) => {
      rows.push({ item, depth, position: index + 1, size: wanted.length });
      if (scene.isOpen(item)) add(scene.scope(item)?.children ?? [], depth + 1);
    });
  };
  add(scene.hierarchy.scopes[0]?.children ?? [], 0);
  return rows;
}
