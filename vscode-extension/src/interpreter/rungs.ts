/**
 * The rungs of the interpreter ladder, for one folder. Only what is public in the two Python extensions is used, and only the few
 * members declared here; neither has to be installed.
 */

import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import * as vscode from "vscode";

import { SECTION, substitute } from "../common/settings.js";
import type { Rung } from "./ladder.js";

export const ENVIRONMENTS_EXTENSION = "ms-python.vscode-python-envs";
export const PYTHON_EXTENSION = "ms-python.python";
const WINDOWS = process.platform === "win32";

/** The part of ms-python.vscode-python-envs that is used. */
interface EnvironmentsApi {
  getEnvironments?(scope: "all"): Promise<readonly { execInfo?: { run?: { executable?: string } } }[]>;
  getEnvironment(scope: vscode.Uri | undefined): Promise<{ execInfo?: { run?: { executable?: string } } } | undefined>;
  readonly onDidChangeEnvironment?: vscode.Event<unknown>;
}

/** The part of ms-python.python that is used. */
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(scope?: vscode.Uri): { readonly path: string };
    resolveEnvironment(path: { readonly path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath: vscode.Event<unknown>;
    readonly known?: readonly { executable?: { uri?: vscode.Uri } }[];
  };
}

/** The rungs for a folder, or for files that are in none. */
export function rungsFor(folder: vscode.Uri | undefined): Rung[] {
  return [
    { name: "setting", find: () => fromSetting(folder) },
    { name: "python-envs", find: () => fromEnvironmentsExtension(folder) },
    { name: "python", find: () => fromPythonExtension(folder) },
    { name: "venv", find: () => fromVirtualEnvironment(folder) },
    { name: "path", find: fromPath },
  ];
}

/** The Pythons that the extensions know of; none where an extension is not there or fails. */
export async function knownToExtensions(): Promise<string[]> {
  const environments = await api<EnvironmentsApi>(ENVIRONMENTS_EXTENSION).then((found) => found?.getEnvironments?.("all")).catch(() => []);
  const python = await api<PythonApi>(PYTHON_EXTENSION).then((found) => found?.environments?.known).catch(() => []);
  const paths = [
    ...(environments ?? []).map(({ execInfo }) => execInfo?.run?.executable),
    ...(python ?? []).map(({ executable }) => executable?.uri?.fsPath),
  ];
  return paths.filter((path) => path !== undefined && path !== "") as string[];
}

/** Listens to both extensions, as far as they are there and active. */
export async function onOtherExtensions(changed: () => void): Promise<vscode.Disposable[]> {
  const environments = await api<EnvironmentsApi>(ENVIRONMENTS_EXTENSION);
  const python = await api<PythonApi>(PYTHON_EXTENSION);
  const events = [environments?.onDidChangeEnvironment, python?.environments?.onDidChangeActiveEnvironmentPath];
  return events.flatMap((event) => (event ? [event(changed)] : []));
}

/** A path that was set is taken as it is, even if nothing is there: a wrong one has to be told, not passed over. */
function fromSetting(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const value = vscode.workspace.getConfiguration(SECTION, folder ?? null).get<string>("interpreter", "").trim();
  if (value === "") return Promise.resolve(undefined);
  const path = substitute(value, folder);
  const relative = !isAbsolute(path) && /[/\\]/u.test(path) && folder !== undefined;
  if (relative) return Promise.resolve(join(folder.fsPath, path));
  return isAbsolute(path) ? Promise.resolve(path) : onPath([path]).then((found) => found ?? path);
}

async function fromEnvironmentsExtension(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = await api<EnvironmentsApi>(ENVIRONMENTS_EXTENSION);
  const found = await environments?.getEnvironment(folder);
  return found?.execInfo?.run?.executable;
}

async function fromPythonExtension(folder: vscode.Uri | undefined): Promise<string | undefined> {
  const environments = (await api<PythonApi>(PYTHON_EXTENSION))?.environments;
  if (!environments) return undefined;
  const active = environments.getActiveEnvironmentPath(folder);
  const resolved = await environments.resolveEnvironment(active);
  return resolved?.executable.uri?.fsPath;
}

async function fromVirtualEnvironment(folder: vscode.Uri | undefined): Promise<string | undefined> {
  if (!folder) return undefined;
  const inside = WINDOWS ? ["Scripts", "python.exe"] : ["bin", "python"];
  const path = join(folder.fsPath, ".venv", ...inside);
  return (await isExecutable(path)) ? path : undefined;
}

function fromPath(): Promise<string | undefined> {
  return onPath(["python3", "python"]);
}

async function onPath(names: readonly string[]): Promise<string | undefined> {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((entry) => entry !== "");
  for (const name of names) {
    for (const folder of folders) {
      const path = join(folder, WINDOWS && !name.endsWith(".exe") ? `${name}.exe` : name);
      if (await isExecutable(path)) return path;
    }
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function api<T>(id: string): Promise<T | undefined> {
  const extension = vscode.extensions.getExtension<T>(id);
  if (!extension) return undefined;
  return extension.isActive ? extension.exports : await extension.activate();
}
