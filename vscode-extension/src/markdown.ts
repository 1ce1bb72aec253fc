/** Markdown for pages that the extension writes: whatever comes from elsewhere is text and never markup. Pure. */

import * as vscode from "vscode";

export interface Place {
  readonly path: string;
  readonly range: { readonly start: { readonly line: number; readonly character: number } } | null;
}

/** Text that shows as it is, in one line; also inside of a table. */
export function plain(text: string): string {
  return text.replace(/\s+/gu, " ").replace(/[\\`*_{}[\]<>()#+\-.!|~$&]/gu, "\\$&");
}

/** Text as code, in one line. */
export function code(text: string): string {
  const line = text.replace(/\s+/gu, " ").replaceAll("|", "\\|");
  const longest = Math.max(0, ...[...line.matchAll(/`+/gu)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const space = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return line === "" ? "" : `${fence}${space}${line}${space}${fence}`;
}

/** Lines as a block of code. */
export function block(lines: readonly string[], language = ""): string {
  const text = lines.join("\n");
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A table; cells are Markdown already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A link that opens a file at a place. */
export function link(text: string, { path, range }: Place): string {
  const fragment = range ? `L${range.start.line + 1},${range.start.character + 1}` : "";
  return `[${text}](<${vscode.Uri.file(path).with({ fragment }).toString()}>)`;
}
