/**
 * Settings as the daemon wants them: only what somebody has set, because an unset one must not override `pyproject.toml`.
 *
 * The names are those of `package.json`; the daemon's ladder decides about everything that is left out here.
 */

import { homedir } from "node:os";
import * as vscode from "vscode";

import { DAEMON_SETTINGS, PATH_SETTINGS, SWITCHES } from "../../../shared_schema/generated/settings";

/** Settings that may be paths. */
const PATHS: ReadonlySet<string> = new Set(PATH_SETTINGS);

export const SECTION = "inductorDebug";

/** The daemon's settings in a scope, without those that nobody has set. */
export function daemonSettings(scope?: vscode.Uri): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration(SECTION, scope ?? null);
  const settings: Record<string, unknown> = {};
  for (const name of DAEMON_SETTINGS) {
    if (!isSet(configuration, name)) continue;
    const value = configuration.get<unknown>(name);
    if (value === null || value === undefined || value === "") continue;
    settings[name] = PATHS.has(name) && typeof value === "string" ? substitute(value, scope) : value;
  }
  for (const name of SWITCHES) {
    if (isSet(configuration, `${name}.enabled`)) settings[name] = configuration.get<boolean>(`${name}.enabled`, true);
  }
  return settings;
}

/** Whether the user, the workspace or the folder has given the setting a value. */
function isSet(configuration: vscode.WorkspaceConfiguration, name: string): boolean {
  const found = configuration.inspect(name);
  const said = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue];
  return said.some((value) => value !== undefined && value !== null);
}

/** Replaces `${workspaceFolder}`, `${workspaceFolder:name}`, `${userHome}`, `${env:NAME}` and a leading `~`. */
export function substitute(text: string, scope?: vscode.Uri): string {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const own = scope ? vscode.workspace.getWorkspaceFolder(scope) : folders[0];
  return text
    .replace(/^~(?=$|[/\\])/u, () => homedir())
    .replace(/\$\{([^}]+)\}/gu, (whole, name: string) => {
      if (name === "workspaceFolder") return own?.uri.fsPath ?? whole;
      if (name === "userHome") return homedir();
      if (name.startsWith("env:")) return process.env[name.slice(4)] ?? "";
      if (name.startsWith("workspaceFolder:")) {
        const wanted = name.slice("workspaceFolder:".length);
        return folders.find((folder) => folder.name === wanted)?.uri.fsPath ?? whole;
      }
      return whole;
    });
}

/** Where a choice made for a document (or none) is written: the workspace, or its folder where there are several. */
export function targetFor(scope: vscode.Uri | undefined): vscode.ConfigurationTarget {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) return vscode.ConfigurationTarget.Global;
  const inside = scope !== undefined && vscode.workspace.getWorkspaceFolder(scope) !== undefined;
  return folders.length > 1 && inside ? vscode.ConfigurationTarget.WorkspaceFolder : vscode.ConfigurationTarget.Workspace;
}
