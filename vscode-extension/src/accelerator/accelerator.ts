/**
 * The command "Choose Accelerator": those that the daemon knows, built in or installed beside torch, or a file of the user's own. The
 * choice is a setting of the workspace folder; a team's own belongs into `pyproject.toml`, which the picker says.
 */

import { basename } from "node:path";
import * as vscode from "vscode";

import type { AcceleratorEntry, AcceleratorList } from "../../../shared_schema/generated/wire.js";
import type { Context } from "../services/context.js";
import { USE_ACCELERATOR } from "../pages/reportHtml.js";
import { SECTION, targetFor } from "../common/settings.js";

const { t } = vscode.l10n;
/** The setting that chooses no accelerator, whatever `pyproject.toml` says. */
export const NO_ACCELERATOR = "none";

interface Choice extends vscode.QuickPickItem {
  readonly value: string | undefined;
  readonly browse?: boolean;
}

export function activate(context: Context): void {
  context.extension.subscriptions.push(
    vscode.commands.registerCommand("inductorDebug.chooseAccelerator", () => choose(context)),
    vscode.commands.registerCommand(USE_ACCELERATOR, (accelerator?: unknown) => (typeof accelerator === "string" && accelerator !== "" ? use(context, accelerator) : undefined)),
  );
}

/** Makes an accelerator the one of the setting, from where several are compared. */
async function use(context: Context, accelerator: string): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  await vscode.workspace.getConfiguration(SECTION, scope ?? null).update("accelerator", accelerator, targetFor(scope));
  context.notifications.answer(t("Models are checked for {0} now.", accelerator === NO_ACCELERATOR ? titleOfNone() : basename(accelerator, ".toml")));
}

async function choose(context: Context): Promise<void> {
  const scope = vscode.window.activeTextEditor?.document.uri;
  const configuration = vscode.workspace.getConfiguration(SECTION, scope ?? null);
  const current = configuration.get<string>("accelerator", "");
  const chosen = await vscode.window.showQuickPick(choices(context, current), {
    title: t("Choose Accelerator"),
    placeHolder: t("The accelerator that models are checked for"),
    matchOnDescription: true,
  });
  if (!chosen) return;
  const value = chosen.browse ? await browse() : chosen.value;
  if (chosen.browse && value === undefined) return;
  await configuration.update("accelerator", value, targetFor(scope));
}

/** All that can be chosen by name where models run; nothing while the daemon does not run. */
export async function accelerators(context: Context): Promise<readonly AcceleratorEntry[]> {
  return (await listed(context))?.accelerators ?? [];
}

async function listed(context: Context): Promise<AcceleratorList | undefined> {
  const open = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  return (await context.session.execute("inductorDebug.accelerators", { uri: open?.toString() ?? null })) ?? undefined;
}

/** What a list says of an accelerator: its title, the package that it came with, and what of it does not work. */
export function described({ name, title, distribution, version, problem }: AcceleratorEntry): { label: string; description: string; detail?: string } {
  const origin = distribution ? t("with {0} {1}", distribution, version ?? "") : "";
  const description = [title, origin].filter(Boolean).join(" · ");
  return { label: problem ? `$(warning) ${name}` : name, description, ...(problem ? { detail: problem } : {}) };
}

async function choices(context: Context, current: string): Promise<Choice[]> {
  const list = await listed(context);
  // The setting may name a card as people do, so the daemon says which one that is.
  const known = (list?.accelerators ?? []).map((entry): Choice => ({ ...described(entry), value: entry.name, ...mark(current !== "" && list?.chosen === entry.name) }));
  return [
    { label: titleOfNone(), description: t("what is true for everyone who compiles"), value: NO_ACCELERATOR, ...mark(current === NO_ACCELERATOR) },
    ...known,
    { label: "", kind: vscode.QuickPickItemKind.Separator, value: undefined },
    {
      label: t("As pyproject.toml says"),
      description: t("[tool.inductor-debug] accelerator; none where it names none"),
      value: undefined,
      ...mark(current === ""),
    },
    { label: t("A profile of your own…"), description: t("a TOML file"), value: undefined, browse: true },
  ];
}

/** How people read that no accelerator is chosen. */
export function titleOfNone(): string {
  return t("none (torch.compile only)");
}

function mark(chosen: boolean): { iconPath: vscode.ThemeIcon } | Record<string, never> {
  return chosen ? { iconPath: new vscode.ThemeIcon("check") } : {};
}

async function browse(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({
    title: t("Choose a Profile"),
    filters: { [t("Profiles")]: ["toml"] },
    canSelectMany: false,
  });
  return files?.[0]?.fsPath;
}
