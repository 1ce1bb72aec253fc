/**
 * The command "Compare": a backend against eager, on one target of a file. What came of it opens beside the editor, one tab per target;
 * VS Code puts it back after a restart, as it was. What is wrong becomes findings, which the daemon publishes.
 */

import * as vscode from "vscode";

import type { PageState } from "../../webview/shared/state.js";
import type { Context } from "../services/context.js";
import { chooseBackend } from "./backends.js";
import { CompareError, type CompareOptions, type Comparison, type Kept, keyOf } from "../services/comparisons.js";
import { KernelDiffPanel } from "./comparisonPanel.js";
import { carryOutIn } from "../orders/orders.js";
import { targetOf } from "../orders/subjects.js";

const { t } = vscode.l10n;
const VIEW = "inductorDebug.kernelDiff";

export function activate(context: Context): void {
  const open = new Map<string, KernelDiffPanel>();

  /** Compares, shows how far it is, and then what came of it. */
  const compare = async ({ subject, options }: Pick<Kept, "subject" | "options">): Promise<void> => {
    const title = t("Compare {0} With {1}", subject.target, options.backend);
    const page = open.get(keyOf(subject)) ?? beside({ subject, options });
    const token = page.begin();
    const tell = (state: PageState): void => { if (!token.isCancellationRequested || state.kind === "cancelled") page.tell(state); };
    try {
      const made = await context.comparisons.compare(subject, options, (request, piece) =>
        carryOutIn(context, tell, { title, command: "inductorDebug.diff", request, piece }, token));
      if (!made) return;
      tell({ kind: "shown", note: "" });
      await show(made);
    } catch (error) {
      if (!(error instanceof CompareError)) throw error;
      tell({ kind: "failed", what: title, why: error.message });
    }
  };

  const tab = (panel: vscode.WebviewPanel, kept: Kept): KernelDiffPanel => {
    const key = keyOf(kept.subject);
    const again = (): Promise<void> => compare(context.comparisons.all().find(({ subject }) => keyOf(subject) === key) ?? kept);
    const made = new KernelDiffPanel(context, panel, kept, again, () => open.delete(key));
    open.set(key, made);
    return made;
  };

  const beside = (kept: Kept): KernelDiffPanel =>
    tab(vscode.window.createWebviewPanel(VIEW, kept.subject.target, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true }), kept);

  const show = async (comparison: Comparison): Promise<void> => {
    const known = open.get(keyOf(comparison.subject)); // it shows the comparison already
    if (known) known.reveal();
    else await beside(comparison).show(comparison);
  };

  const command = async (gradients: boolean, given: unknown, target: unknown): Promise<void> => {
    const title = gradients ? t("Compare With Gradients") : t("Compare");
    const subject = await targetOf(context, title, given, target);
    if (!subject) return;
    const said = optionsIn(given);
    const backend = said.backend ?? (await chooseBackend(context, title));
    if (backend !== undefined) await compare({ subject, options: { ...(gradients ? { gradients } : {}), ...said, backend } });
  };

  context.extension.subscriptions.push(
    { dispose: () => { for (const panel of [...open.values()]) panel.dispose(); } },
    context.comparisons.onDidGrow(({ subject, piece, first }) => { open.get(keyOf(subject))?.grow(piece, first); }),
    context.comparisons.onDidStop((subject) => { open.get(keyOf(subject))?.stop(); }),
    context.comparisons.onDidChange((comparison) => { void open.get(keyOf(comparison.subject))?.show(comparison); }),
    vscode.commands.registerCommand("inductorDebug.compare", (given?: unknown, target?: unknown) => command(false, given, target)),
    vscode.commands.registerCommand("inductorDebug.compareGradients", (given?: unknown, target?: unknown) => command(true, given, target)),
    vscode.window.registerWebviewPanelSerializer(VIEW, {
      deserializeWebviewPanel: async (panel, state: unknown) => {
        const { subject: kept } = (state ?? {}) as { subject?: Kept };
        if (!kept) {
          panel.dispose();
          return;
        }
        const made = tab(panel, kept);
        if (!(await context.comparisons.read(kept))) made.tell({ kind: "empty", why: t("The files of this comparison are gone. Compare again.") });
      },
    }),
  );
}

/** Options of a comparison among the command's arguments (`{uri, target, backend, inject, …}`), as a key binding may have them. */
export function optionsIn(given: unknown): Partial<CompareOptions> {
  if (typeof given !== "object" || given === null) return {};
  const said = given as Readonly<Record<string, unknown>>;
  const text = (name: string): Record<string, string> => (typeof said[name] === "string" && said[name] !== "" ? { [name]: said[name] } : {});
  const number = (name: string): Record<string, number> => (typeof said[name] === "number" ? { [name]: said[name] } : {});
  const { gradients, inject } = said;
  return {
    ...text("backend"), ...text("reference"), ...number("runs"), ...number("seed"),
    ...(typeof gradients === "boolean" ? { gradients } : {}),
    ...(Array.isArray(inject) ? { inject: inject.filter((fault) => typeof fault === "string") } : {}),
  };
}
