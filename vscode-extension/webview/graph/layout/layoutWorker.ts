/** The worker: arranges graphs, one request after the other. The page starts it from a blob, so this is one file without imports at run time. */

import { Arranger, type Measured } from "./arranger.js";
import type { Skeleton } from "./skeleton.js";

/** What the page asks (`view/layouts.ts`): to get to know a graph and how large things are in it, to arrange it, to forget it. */
export type Request =
  | { readonly kind: "know"; readonly graph: number; readonly skeleton: Skeleton }
  | { readonly kind: "measured"; readonly graph: number; readonly measured: Measured }
  | { readonly kind: "arrange"; readonly id: number; readonly graph: number; readonly open: Int32Array }
  | { readonly kind: "forget"; readonly graph: number };

interface Scope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: unknown, transfer: Transferable[]): void;
}

const scope = self as unknown as Scope;
const arrangers = new Map<number, Arranger>();
scope.onmessage = ({ data }): void => {
  if (data.kind === "know") arrangers.set(data.graph, new Arranger(data.skeleton));
  else if (data.kind === "forget") arrangers.delete(data.graph);
  else if (data.kind === "measured") arrangers.get(data.graph)?.measured(data.measured);
  else {
    const arrangement = arrangers.get(data.graph)?.arrange(new Set(data.open));
    if (!arrangement) return;
    const arrays: ArrayBufferView[] = Object.values({ ...arrangement.visible, ...arrangement.layout });
    scope.postMessage({ id: data.id, arrangement }, arrays.map((array) => array.buffer as ArrayBuffer));
  }
};
