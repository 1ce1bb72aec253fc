/**
 * The command "Choose Accelerator": the profiles that come with the daemon, or a file of the user's own. The choice is a setting
 * of the workspace folder; a team's own belongs into `pyproject.toml`, which the picker says.
 */

import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import * as vscode from "vscode";

import type { Context } from "../services/context.js";
import { USE_ACCELERATOR } from "../pages/reportHtml.js";
import { SECTION, targetFor } from "../common/settings.js";

const { t } = vscode.l10n;
/** The setting that chooses no accelerator, whatever `pyproject.toml` says. */
export const NO_ACCELERATOR = "none";
const PROFILES = "bundled/daemon/inductor_debug/accelerators/profiles";

interface Choice extends vscode.QuickPickItem {
  readonly value: string | undefined;
  readonly browse?: boolean;
}

/** A profile that comes with the daemon; `computes` where its arithmetic can be emulated. */
export interface BuiltInProfile {
  readonly name: string;
  readonly title: string;
  readonly computes: boolean;
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

/** The names of the profiles that come with the daemon. */
export async function accelerators(context: Context): Promise<string[]> {
  const files = await readdir(context.extension.asAbsolutePath(PROFILES));
  return files.filter((name) => name.endsWith(".toml")).map((file) => basename(file, ".toml")).filter((name) => name !== NO_ACCELERATOR).sort();
}

/** The same, with their titles. */
export async function profilesOf(context: Context): Promise<BuiltInProfile[]> {
  const folder = context.extension.asAbsolutePath(PROFILES);
  const profiles = (await accelerators(context)).map(async (name) => {
    const text = await readFile(join(folder, `${name}.toml`), "utf8");
    return { name, title: titleOf(text), computes: computesIn(text) };
  });
  return Promise.all(profiles);
}

async function choices(context: Context, current: string): Promise<Choice[]> {
  const profiles = (await profilesOf(context)).map(({ name, title }): Choice => ({ label: name, description: title, value: name, ...mark(current === name) }));
  return [
    { label: titleOfNone(), description: t("what is true for everyone who compiles"), value: NO_ACCELERATOR, ...mark(current === NO_ACCELERATOR) },
    ...profiles,
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

/** Whether a profile says with which numbers the accelerator computes, so that they can be emulated. */
export function computesIn(profile: string): boolean {
  return /^\s*\[arithmetic\]/mu.test(profile);
}

/** The `title` of a profile. */
export function titleOf(profile: string): string {
  return /^title\s*=\s*"([^"]*)"/mu.exec(profile)?.[1] ?? "";
}

async function browse(): Promise<string | undefined> {
  const files = await vscode.window.showOpenDialog({
    title: t("Choose a Profile"),
    filters: { [t("Profiles")]: ["toml"] },
    canSelectMany: false,
  });
  return files?.[0]?.fsPath;
}
