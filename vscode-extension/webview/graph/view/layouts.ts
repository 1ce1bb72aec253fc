/** Lays out in a worker, made from a blob because a webview may not load one from a file. Where there is none, in the page. */

import { type Layout, layoutOf } from "../model/layout.js";
import type { Problem, Visible } from "../model/visible.js";

/** The text of `layoutWorker.ts`, bundled; the build puts it here. */
declare const LAYOUT_WORKER: string;

export class Layouts {
  private worker: Worker | undefined;
  private next = 0;
  private readonly waiting = new Map<number, { problem: Problem; done: (layout: Layout) => void }>();

  constructor() {
    try {
      const address = URL.createObjectURL(new Blob([LAYOUT_WORKER], { type: "text/javascript" }));
      this.worker = new Worker(address);
      URL.revokeObjectURL(address);
      this.worker.onmessage = ({ data }: MessageEvent<{ id: number; layout: Layout }>): void => { this.finish(data.id, data.layout); };
      this.worker.onerror = (): void => { this.giveUp(); };
    } catch {
      this.worker = undefined;
    }
  }

  arrange(visible: Visible): Promise<Layout> {
    const { items, widths, heights, scopes, ports, links } = visible;
    const problem: Problem = { items, widths, heights, scopes, ports, links };
    const { worker } = this;
    if (!worker) return Promise.resolve(layoutOf(problem));
    return new Promise((done) => {
      const id = (this.next += 1);
      this.waiting.set(id, { problem, done });
      worker.postMessage({ id, problem });
    });
  }

  private finish(id: number, layout: Layout): void {
    this.waiting.get(id)?.done(layout);
    this.waiting.delete(id);
  }

  /** The worker cannot be had: what waits for it is done here. */
  private giveUp(): void {
    this.worker?.terminate();
    this.worker = undefined;
    for (const [id, { problem }] of [...this.waiting]) this.finish(id, layoutOf(problem));
  }
}
