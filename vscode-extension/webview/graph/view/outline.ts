/**
 * The graph as a tree of text: the same scopes, open and folded as in the drawing, for screen readers and for reading. Only rows in
 * sight are in the page; the focus stays on the tree and `aria-activedescendant` says which row it is at.
 *
 * A row is a box of the drawing. Boxes are numbered as a tree is written, so that rows need no list of their own where nothing is filtered.
 */

import { element } from "../../shared/dom.js";
import { numberText, t } from "../../shared/words.js";
import type { Item } from "../model/hierarchy.js";
import { differenceSigns, differenceWords, kindOf } from "../canvas/differences.js";
import type { Scene } from "../canvas/scene.js";

const ROW = 22;

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
  /** By box whether it has a row, and the boxes of the rows; undefined where every box has one. */
  private wanted: Uint8Array | undefined;
  private boxes: Int32Array | undefined;
  private count = 0;
  private scene: Scene | undefined;
  private active = 0;
  /** What is selected, and what the active row was of, when rows were last made. */
  private selected: Item | undefined;
  private activeItem: Item | undefined;

  constructor(private readonly events: OutlineEvents) {
    this.element.addEventListener("scroll", () => { this.draw(); }, { passive: true });
    this.element.addEventListener("keydown", (event) => { this.key(event); });
    this.element.addEventListener("click", (event) => { this.click(event); });
    this.element.addEventListener("dblclick", (event) => { if (!isTwistie(event)) this.enter(); });
    new ResizeObserver(() => { this.draw(); }).observe(this.element);
  }

  show(scene: Scene): void {
    this.scene = scene;
    const wanted = (this.wanted = scene.matches === undefined ? undefined : matchingBoxes(scene));
    this.boxes = wanted && Int32Array.from([...wanted.keys()].filter((box) => wanted[box] === 1));
    this.count = this.boxes?.length ?? Math.max(0, (scene.visible?.items.length ?? 0) - 1);
    const selected = this.rowOf(scene.selected);
    const news = scene.selected !== this.selected && selected >= 0;
    this.selected = scene.selected;
    const active = news ? selected : this.rowOf(this.activeItem); // the row that one is at stays that, wherever rows come or go
    this.active = Math.min(Math.max(0, active >= 0 ? active : this.active), Math.max(0, this.count - 1));
    this.activeItem = this.itemAt(this.active);
    this.inner.style.height = `${this.count * ROW}px`;
    if (news) this.scrollTo(selected);
    this.draw();
  }

  /** The box of a row. */
  private boxAt(index: number): number {
    return this.boxes ? (this.boxes[index] ?? -1) : index + 1;
  }

  private itemAt(index: number): Item | undefined {
    return index < 0 || index >= this.count ? undefined : this.scene?.visible?.items[this.boxAt(index)];
  }

  /** The row of an item; -1 for none. */
  private rowOf(item: Item | undefined): number {
    const box = item === undefined ? -1 : (this.scene?.visible?.boxOfItem[item] ?? -1);
    return this.rowOfBox(box);
  }

  private rowOfBox(box: number): number {
    return box < 1 ? -1 : this.boxes ? this.boxes.indexOf(box) : box - 1;
  }

  private draw(): void {
    const { scene } = this;
    if (!scene) return;
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - 4);
    const last = Math.min(this.count, first + Math.ceil(this.element.clientHeight / ROW) + 8);
    const shown = new Set<number>();
    for (let index = first; index < last; index += 1) shown.add(index);
    if (this.count > 0) shown.add(this.active); // what `aria-activedescendant` names has to be there
    this.inner.replaceChildren(...[...shown].sort((left, right) => left - right).map((index) => this.row(scene, index)));
    if (this.count > 0) this.element.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** How deep a box stands (from 0), and its place among the rows beside it (from 1). */
  private placeOf(box: number): { depth: number; position: number; size: number } {
    const { parents, ends } = this.scene?.visible ?? { parents: [], ends: [] };
    let depth = -1;
    for (let outer = parents[box] ?? -1; outer >= 0; outer = parents[outer] ?? -1) depth += 1;
    const outer = parents[box] ?? 0;
    let [position, size] = [0, 0];
    for (let sibling = outer + 1; sibling < (ends[outer] ?? 0); sibling = ends[sibling] ?? Infinity) {
      if (this.wanted?.[sibling] === 0) continue;
      size += 1;
      if (sibling <= box) position += 1;
    }
    return { depth, position, size };
  }

  private row(scene: Scene, index: number): HTMLElement {
    const box = this.boxAt(index);
    const item = this.itemAt(index) ?? 0;
    const { depth, position, size } = this.placeOf(box);
    const scope = scene.scope(item);
    const { title, beside, line } = scene.label(item);
    const severity = scene.severities[box];
    const change = scene.differences[box];
    const chosen = item === scene.selected;
    const counted = scene.counts[box] ?? 0;
    const findings = !severity ? "" : counted === 1 ? t("1 finding") : t("{0} findings", numberText(counted));
    const made = element(
      "div",
      {
        class: ["row", chosen && "selected", index === this.active && "active", scene.related.has(box) && "related", change && `differs ${kindOf(change)}`].filter(Boolean).join(" "),
        role: "treeitem", id: `${this.name}-${index}`, "aria-level": depth + 1, "aria-posinset": position, "aria-setsize": size,
        "aria-selected": chosen ? "true" : "false", "aria-expanded": scope ? (scene.isOpen(item) ? "true" : "false") : undefined,
        "aria-label": [scene.sentence(item), findings, change ? differenceWords(change, scope !== undefined) : ""].filter((text) => text !== "").join(", "),
        "data-index": index,
      },
      element("span", { class: "twistie", "aria-hidden": "true" }, scope ? (scene.isOpen(item) ? "−" : "+") : ""),
      element("span", { class: "name" }, title),
      beside !== "" && element("span", { class: "beside" }, beside),
      scope !== undefined && scope.times > 1 && element("span", { class: "times" }, `× ${scope.times}`),
      !scope && element("span", { class: "type" }, line),
      change && !scope && element("span", { class: "sign", "aria-hidden": "true" }, differenceSigns(change, false)),
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
    const item = (this.activeItem = this.itemAt(this.active));
    if (item === undefined) return;
    if (isTwistie(event) && this.scene?.scope(item)) this.events.toggle(item);
    else this.events.select(item);
  }

  private enter(): void {
    const item = this.itemAt(this.active);
    if (item === undefined) return;
    if (this.scene?.scope(item)) this.events.toggle(item);
    else this.events.open(item);
  }

  /** The keys of a tree view, as the ARIA practices say. */
  private key(event: KeyboardEvent): void {
    const item = this.itemAt(this.active);
    if (item === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: this.active + 1, ArrowUp: this.active - 1, Home: 0, End: this.count - 1, PageDown: this.active + page, PageUp: this.active - page,
    };
    const open = this.scene?.isOpen(item) === true;
    const folds = this.scene?.scope(item) !== undefined;
    const move = moves[event.key];
    if (move !== undefined) this.go(move);
    else if (event.key === "ArrowRight" && folds && !open) this.events.toggle(item);
    else if (event.key === "ArrowRight" && folds) this.go(this.active + 1);
    else if (event.key === "ArrowLeft" && folds && open) this.events.toggle(item);
    else if (event.key === "ArrowLeft") this.outwards();
    else if (event.key === "Enter" || event.key === " ") this.enter();
    else if (/^[\p{L}\p{N}_]$/u.test(event.key) && event.key !== "n" && event.key !== "p") this.jump(event.key.toLowerCase());
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** To the row of the scope around. */
  private outwards(): void {
    const outer = this.rowOfBox(this.scene?.visible?.parents[this.boxAt(this.active)] ?? -1);
    if (outer >= 0) this.go(outer);
  }

  /** The next row whose name begins with a letter. */
  private jump(letter: string): void {
    for (let step = 1; step <= this.count; step += 1) {
      const index = (this.active + step) % this.count;
      const item = this.itemAt(index);
      if (item !== undefined && this.scene?.label(item).title.toLowerCase().startsWith(letter)) {
        this.go(index);
        return;
      }
    }
  }

  private go(index: number): void {
    this.active = Math.min(this.count - 1, Math.max(0, index));
    this.scrollTo(this.active);
    const item = (this.activeItem = this.itemAt(this.active));
    if (item !== undefined) this.events.select(item);
  }

  private scrollTo(index: number): void {
    const { scrollTop, clientHeight } = this.element;
    if (index * ROW < scrollTop) this.element.scrollTop = index * ROW;
    else if ((index + 1) * ROW > scrollTop + clientHeight) this.element.scrollTop = (index + 1) * ROW - clientHeight;
  }
}

/** By box whether it matches the filter, or holds or shows something that does. */
function matchingBoxes(scene: Scene): Uint8Array {
  const { parents, boxOf, items } = scene.visible ?? { parents: [], boxOf: [], items: [] };
  const wanted = new Uint8Array(items.length);
  for (const match of scene.matches ?? []) {
    for (const node of scene.readersOf(match)) {
      for (let box = boxOf[node] ?? -1; box > 0 && wanted[box] === 0; box = parents[box] ?? -1) wanted[box] = 1;
    }
  }
  return wanted;
}

function isTwistie({ target }: MouseEvent): boolean {
  return (target as Element).classList.contains("twistie");
}
