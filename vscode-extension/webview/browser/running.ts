/** Orders in a page: how far they are, why they failed, and Cancel; of two, the later one counts. */

import type { Commands } from "../../../shared_schema/generated/wire.js";
import type { PageState } from "../shared/state.js";
import { t } from "../shared/words.js";
import { CancelledError, type Listening, type Running } from "./daemon.js";
import { messageOf } from "./subject.js";

export class Order {
  private running: Running<unknown> | undefined;

  constructor(private readonly tell: (state: PageState) => void) {}

  /** Carries one out; undefined where nothing came of it, which the page says. */
  async carryOut<A>(what: string, begin: (listening: Listening) => Running<A>, piece?: Listening["piece"]): Promise<A | undefined> {
    this.cancel();
    const since = Date.now();
    let mine: Running<A> | undefined;
    const isMine = (): boolean => mine === undefined || this.running === mine;
    const tell = (state: PageState): void => { if (isMine()) this.tell(state); };
    tell({ kind: "loading", what, since });
    try {
      mine = begin({
        step: (step, percentage) => { tell({ kind: "loading", what, step, percentage, since }); },
        ...(piece ? { piece: (one): void => { if (isMine()) piece(one); } } : {}),
      });
      this.running = mine;
      const answer = await mine.answer;
      return isMine() ? answer : undefined;
    } catch (error) {
      tell(error instanceof CancelledError ? { kind: "cancelled", what } : { kind: "failed", what, why: messageOf(error) });
      return undefined;
    } finally {
      if (this.running === mine) this.running = undefined;
    }
  }

  cancel(): void {
    this.running?.cancel();
  }
}

/** Why an order that was carried out brought nothing. */
export function reasonOf({ reason, notes }: Pick<Commands["inductorDebug.graph"]["answer"], "reason" | "notes">): string {
  return reason ?? notes[0] ?? t("the run brought nothing");
}
