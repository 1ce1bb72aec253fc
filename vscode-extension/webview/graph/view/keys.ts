/** What keys do in the drawing: arrows walk along wires and rows, the rest is one key each. */

import type { Item } from "../model/hierarchy.js";
import type { Scene } from "../canvas/scene.js";

export type Command =
  | { readonly kind: "select"; readonly item: Item }
  | { readonly kind: "toggle" | "open" | "fit" | "in" | "out" | "search" | "next" | "previous" | "clear" | "outline" };

const COMMANDS: Readonly<Record<string, Exclude<Command["kind"], "select">>> = {
  " ": "toggle", "Enter": "open", "0": "fit", "+": "in", "=": "in", "-": "out", "/": "search", "n": "next", "p": "previous", "N": "previous", "Escape": "clear", "o": "outline",
};
const ARROWS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]);

/** What a key asks for; undefined where it is not ours. */
export function keyOf(event: KeyboardEvent, scene: Scene): Command | undefined {
  if (event.altKey || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() !== "f")) return undefined;
  if (event.ctrlKey || event.metaKey) return { kind: "search" };
  if (ARROWS.has(event.key)) {
    const item = neighbour(scene, event.key);
    return item === undefined ? undefined : { kind: "select", item };
  }
  const kind = COMMANDS[event.key];
  return kind && { kind };
}

/** Up to what is read, down to what reads, left and right to the nearest box beside. */
function neighbour(scene: Scene, key: string): Item | undefined {
  const { visible, layout } = scene;
  if (!visible || !layout) return undefined;
  const from = scene.selected === undefined ? -1 : scene.boxOf(scene.selected);
  if (from < 0) return visible.items[1];
  const centre = (box: number): [number, number] => [(layout.boxes[box * 4] ?? 0) + (layout.boxes[box * 4 + 2] ?? 0) / 2, (layout.boxes[box * 4 + 1] ?? 0) + (layout.boxes[box * 4 + 3] ?? 0) / 2];
  const [x, y] = centre(from);
  const vertical = key === "ArrowUp" || key === "ArrowDown";
  const sign = key === "ArrowUp" || key === "ArrowLeft" ? -1 : 1;
  const linked = new Set<number>();
  for (let at = 0; vertical && at < visible.links.length; at += 2) {
    const [source, target] = [visible.links[at] ?? 0, visible.links[at + 1] ?? 0];
    if (sign < 0 && target === from) linked.add(source);
    if (sign > 0 && source === from) linked.add(target);
  }
  let [best, least] = [-1, Infinity];
  for (let box = 1; box < visible.items.length; box += 1) {
    if (box === from || visible.open[box] === 1 || (linked.size > 0 && !linked.has(box))) continue;
    const [otherX, otherY] = centre(box);
    const [along, across] = vertical ? [(otherY - y) * sign, Math.abs(otherX - x)] : [(otherX - x) * sign, Math.abs(otherY - y)];
    if (along <= 0 && linked.size === 0) continue;
    const distance = Math.abs(along) + across * (vertical ? 2 : 6);
    if (distance < least) [best, least] = [box, distance];
  }
  return best < 0 ? undefined : visible.items[best];
}
