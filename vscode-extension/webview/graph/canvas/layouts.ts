/** Arranges graphs in a worker, made from a blob because a webview may not load one from a file. Where there is none, in the page. */

import type { Request } from "../layout/layoutWorker.js";
import { type Arrangement, Arranger, type Measured } from "../layout/arranger.js";
import type { Skeleton } from "../layout/skeleton.js";

/** The text of `layoutWorker.ts`, bundled; the build puts it here. */
declare const LAYOUT_WORKER: string;

/** Arranges one graph. */
export interface Arranging {
  /** Tells sizes that are new. */
  measured(measured: Measured): void;
  arrange(open: ReadonlySet<number>): Promise<Arrangement>;
  close(): void;
}

interface Waiting {
  readonly inPage: () => Arrangement;
  readonly done: (arrangement: Arrangement) => void;
}

export class Layouts {
  private worker: Worker | undefined;
  private graphs = 0;
  private requests = 0;
  private readonly waiting = new Map<number, Waiting>();

  constructor() {
    try {
      const address = URL.createObjectURL(new Blob([LAYOUT_WORKER], { type: "text/javascript" }));
      this.worker = new Worker(address);
      URL.revokeObjectURL(address);
      this.worker.onmessage = ({ data }: MessageEvent<{ id: number; arrangement: Arrangement }>): void => { this.finish(data.id, data.arrangement); };
      this.worker.onerror = (): void => { this.giveUp(); };
    } catch {
      this.worker = undefined;
    }
  }

  /** The worker gets to know the graph and the sizes once; a request says only what is open. */
  open(skeleton: Skeleton): Arranging {
    const graph = (this.graphs += 1);
    const told: Measured[] = []; // for the case that the worker fails
    const arrange = (open: ReadonlySet<number>): Arrangement => {
      own ??= new Arranger(skeleton);
      for (const measured of told.splice(0)) own.measured(measured);
      return own.arrange(open);
    };
    let own: Arranger | undefined;
    this.post({ kind: "know", graph, skeleton });
    return {
      measured: (measured) => {
        told.push(measured);
        this.post({ kind: "measured", graph, measured });
      },
      arrange: (open) => {
        if (!this.worker) return Promise.resolve(arrange(open));
        return new Promise((done) => {
          const id = (this.requests += 1);
          this.waiting.set(id, { inPage: () => arrange(open), done });
          this.post({ kind: "arrange", id, graph, open: Int32Array.from(open) });
        });
      },
      close: () => { this.post({ kind: "forget", graph }); },
    };
  }

  private post(request: Request): void {
    this.worker?.postMessage(request);
  }

  private finish(id: number, arrangement: Arrangement): void {
    this.waiting.get(id)?.done(arrangement);
    this.waiting.delete(id);
  }

  /** The worker cannot be had: what waits for it is done here. */
  private giveUp(): void {
    this.worker?.terminate();
    this.worker = undefined;
    for (const [id, { inPage }] of [...this.waiting]) this.finish(id, inPage());
  }
}
