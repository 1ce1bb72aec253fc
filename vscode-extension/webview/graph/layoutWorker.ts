/** The worker: lays out one problem after the other. The page starts it from a blob, so this is one file without imports at run time. */

import { layoutOf, type Memory } from "./model/layout.js";
import type { Problem } from "./model/visible.js";

interface Scope {
  onmessage: ((event: MessageEvent<{ id: number; problem: Problem }>) => void) | null;
  postMessage(message: unknown, transfer: Transferable[]): void;
}

const scope = self as unknown as Scope;
const memory: Memory = new Map();
scope.onmessage = ({ data: { id, problem } }): void => {
  const layout = layoutOf(problem, memory);
  const parts = [layout.boxes, layout.pieces, layout.sources, layout.targets, layout.stubs];
  scope.postMessage({ id, layout }, parts.map((part) => part.buffer));
};
