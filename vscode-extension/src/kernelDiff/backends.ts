/** Which backend to compare: the ones that everybody has, the accelerators that the daemon knows, or any other name. */

import * as vscode from "vscode";

import { accelerators as knownAccelerators, described } from "../accelerator/accelerator.js";
import type { Context } from "../services/context.js";

const { t } = vscode.l10n;
const MEMORY = "inductorDebug.backend";
/** What torch.compile uses where nobody says anything. */
export const USUAL = "inductor";

interface Choice extends vscode.QuickPickItem {
  /** Undefined for "another one". */
  readonly backend: string | undefined;
}

/** The backend of the last comparison in this workspace. */
export function rememberedBackend({ extension }: Context): string | undefined {
  return extension.workspaceState.get<string>(MEMORY);
}

/** Asks; the last choice comes first. Undefined where the user does not want to. */
export async function chooseBackend(context: Context, title: string): Promise<string | undefined> {
  const last = rememberedBackend(context);
  const chosen = await vscode.window.showQuickPick(choices(context, last), {
    title, placeHolder: t("The backend that is compared with eager"), matchOnDescription: true,
  });
  if (!chosen) return undefined;
  const backend = chosen.backend ?? (await ask(title, last));
  if (backend !== undefined) await context.extension.workspaceState.update(MEMORY, backend);
  return backend;
}

async function choices(context: Context, last: string | undefined): Promise<Choice[]> {
  const separator = (label: string): Choice => ({ label, kind: vscode.QuickPickItemKind.Separator, backend: undefined });
  const general: Choice[] = [
    { label: USUAL, description: t("what torch.compile uses"), backend: USUAL },
    { label: "aot_eager", description: t("AOTAutograd's graphs, run by eager kernels"), backend: "aot_eager" },
    { label: "dynamo", description: t("Dynamo's graphs, run as they are"), backend: "dynamo" },
  ];
  const accelerators = (await knownAccelerators(context)).filter(({ computes }) => computes)
    .map((entry): Choice => ({ ...described(entry), backend: entry.name }));
  const known = [...general, ...accelerators];
  const before: Choice | undefined = last === undefined ? undefined : { ...known.find(({ backend }) => backend === last), label: last, backend: last };
  const rest = (some: Choice[]): Choice[] => some.filter(({ backend }) => backend !== last);
  return [
    ...(before ? [separator(t("as last time")), before] : []),
    separator(t("backends of torch.compile")), ...rest(general),
    separator(t("accelerators, with their compilers or emulated")), ...rest(accelerators),
    separator(""), { label: t("Another Backend…"), description: t("the name of an installed one, or a profile (TOML)"), backend: undefined },
  ];
}

async function ask(title: string, last: string | undefined): Promise<string | undefined> {
  const said = await vscode.window.showInputBox({ title, prompt: t("The name of a torch.compile backend or of an accelerator, or the path of a profile"), value: last ?? "" });
  return said?.trim() === "" ? undefined : said?.trim();
}
