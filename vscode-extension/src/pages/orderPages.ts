/**
 * Pages of orders that the daemon carries out: bisections, transfers, reports. The page is there at once, says how far the order is, and then has
 * what came of it. One tab for each subject. Links in what came are commands, and only three of those.
 */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import type { Location, PagedOutcome, PartialResult } from "../../../shared_schema/generated/wire.js";
import type { ToHost, ToPage } from "../../webview/order/messages.js";
import type { PageState } from "../../webview/shared/state.js";
import type { Context } from "../services/context.js";
import { carryOutIn, messageOf, type Order, reasonOf } from "../orders/orders.js";
import type { AnswerOf } from "../server/protocol.js";
import { revealPlace } from "../common/places.js";
import { GO_TO_PLACE, type Place, USE_ACCELERATOR, withLinks } from "./reportHtml.js";
import type { About } from "../services/activePages.js";
import { PageTab } from "./pageTab.js";

const VIEW = "inductorDebug.report";
const HTML = "text/html";

/** What came of an order: HTML to show, a whole document of its own, or why there is nothing. */
export type Content = { readonly html: string } | { readonly document: string } | { readonly nothing: string; readonly place?: Location | undefined };

/** The page of an answer, or why there is none. */
export async function pageIn({ page, root = "", artifacts, ...rest }: PagedOutcome): Promise<Content> {
  const kept = artifacts.findLast(({ media_type: type }) => type === HTML);
  if (page == null && !kept) return { nothing: reasonOf({ artifacts, ...rest }) };
  return { html: withLinks(page ?? (await readFile(kept?.path ?? "", "utf8")), root) };
}

/** Commands about one file whose answers have a page. */
type PagedCommand = "inductorDebug.bisect" | "inductorDebug.transfers" | "inductorDebug.suggest" | "inductorDebug.compareAccelerators" | "inductorDebug.report";

/** An order with a page; `title` is the page's, `content` what to show of the answer. */
export interface PageOrder<C extends PagedCommand> {
  readonly key: string;
  readonly title: string;
  readonly order: Order<C>;
  readonly content: (answer: AnswerOf<C>) => Content | Promise<Content>;
  /** Whether pieces of the page come while the order goes on; what has come stays where that does not come to its end. */
  readonly grows?: boolean;
  /** Carries the order out again with so many values of each tensor, where its page lets one choose that. */
  readonly withValues?: (count: number) => unknown;
}

/** What features get that have such pages. */
export interface PagesContext extends Context {
  readonly pages: OrderPages;
}

export class OrderPages implements vscode.Disposable {
  private readonly open = new Map<string, OrderPage>();
  private readonly commands = [
    vscode.commands.registerCommand(GO_TO_PLACE, (place?: Place) => (place ? goTo(place) : undefined)),
  ];

  constructor(private readonly context: Context) {}

  /** Carries an order out in its tab; undefined where nothing came of it, which the tab says. */
  async carryOut<C extends PagedCommand>(order: PageOrder<C>): Promise<AnswerOf<C> | undefined> {
    const page = this.open.get(order.key) ?? this.made(order);
    page.show(order.title);
    return page.carryOut(order);
  }

  dispose(): void {
    for (const disposable of [...this.commands, ...this.open.values()]) disposable.dispose();
  }

  private made({ key, title }: { readonly key: string; readonly title: string }): OrderPage {
    const panel = vscode.window.createWebviewPanel(VIEW, title, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }, { enableFindWidget: true });
    const page = new OrderPage(this.context, panel, () => this.open.delete(key));
    this.open.set(key, page);
    return page;
  }
}

type Heard = Exclude<ToHost, { type: "ready" | "reveal" }>;

class OrderPage extends PageTab<Heard, ToPage> {
  private state: PageState = { kind: "shown", note: "" };
  private html = "";
  /** Whether a document of its own is shown in place of our page. */
  private replaced = false;
  private running: vscode.CancellationTokenSource | undefined;
  private again: () => unknown = () => undefined;
  private withValues: (count: number) => unknown = () => undefined;
  private about: About | undefined;

  constructor(context: Context, panel: vscode.WebviewPanel, closed: () => void) {
    super(context, panel, "order", null, closed, () => this.about, [GO_TO_PLACE, USE_ACCELERATOR]);
  }

  show(title: string): void {
    this.panel.title = title;
    this.panel.reveal(undefined, true);
  }

  async carryOut<C extends PagedCommand>(wanted: PageOrder<C>): Promise<AnswerOf<C> | undefined> {
    const { order, content } = wanted;
    this.running?.cancel();
    const running = new vscode.CancellationTokenSource();
    this.running = running;
    this.again = () => this.carryOut(wanted);
    this.withValues = wanted.withValues ?? (() => undefined);
    const { uri, target }: About = order.request;
    this.about = { uri, ...(target === undefined ? {} : { target }) };
    this.begin();
    const mine = (): boolean => this.running === running;
    const tell = (state: PageState): void => { if (mine()) this.tell(state); };
    const piece = ({ page }: PartialResult): void => {
      if (mine() && page != null) this.fill(page);
    };
    try {
      const answer = await carryOutIn(this.context, tell, { ...order, ...(wanted.grows === true ? { piece } : {}) }, running.token);
      if (!mine()) return undefined;
      if (!answer) return undefined;
      return this.take(order.title, await content(answer)) ? answer : undefined;
    } catch (error) {
      tell({ kind: "failed", what: order.title, why: messageOf(error) });
      return undefined;
    } finally {
      if (mine()) this.running = undefined;
      running.dispose();
    }
  }

  override dispose(): void {
    this.running?.cancel();
    super.dispose();
  }

  protected override async hear(message: Heard): Promise<void> {
    if (message.type === "cancel") this.running?.cancel();
    else if (message.type === "copy") await vscode.env.clipboard.writeText(message.text);
    else if (message.type === "values") await this.withValues(message.count);
    else await this.again();
  }

  protected override async filled(): Promise<void> {
    if (this.html !== "") await this.send({ type: "content", html: this.html });
    await this.send({ type: "state", state: this.state });
  }

  /** Another document may stand where the page was. */
  private begin(): void {
    this.html = "";
    if (this.replaced) this.load();
    else void this.send({ type: "content", html: "" });
    this.replaced = false;
  }

  /** Shows what came of an order; whether that is anything. */
  private take(what: string, came: Content): boolean {
    if ("nothing" in came) this.tell({ kind: "failed", what, why: came.nothing, place: came.place });
    else if ("document" in came) {
      this.replaced = true;
      this.ready = false;
      this.panel.webview.html = came.document;
    } else {
      this.fill(came.html);
      this.tell({ kind: "shown", note: "" });
    }
    return !("nothing" in came);
  }

  private tell(state: PageState): void {
    this.state = state;
    void this.send({ type: "state", state });
  }

  private fill(html: string): void {
    this.html = html;
    void this.send({ type: "content", html });
  }
}

async function goTo({ path, range }: Place): Promise<void> {
  if (range) await revealPlace({ path, range }, true);
  else await vscode.window.showTextDocument(vscode.Uri.file(path), { viewColumn: vscode.ViewColumn.One });
}
