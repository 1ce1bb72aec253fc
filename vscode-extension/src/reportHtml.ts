/**
 * HTML for pages that the extension writes: whatever comes from elsewhere is text and never markup. What a page can do are two commands, which go
 * to a place and copy a text; it runs no script. Pure.
 */

import * as vscode from "vscode";

const { t } = vscode.l10n;
export const GO_TO_PLACE = "inductorDebug.goToPlace";
export const COPY_TEXT = "inductorDebug.copyText";

export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Place {
  readonly path: string;
  readonly range: { readonly start: Position; readonly end: Position } | null;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text that shows as it is. */
export function plain(text: string): string {
  return text.replace(/[&<>"']/gu, (character) => ENTITIES[character] ?? "");
}

export function code(text: string): string {
  return text === "" ? "" : `<code>${plain(text)}</code>`;
}

export function heading(level: 1 | 2, text: string): string {
  return `<h${level}>${plain(text)}</h${level}>`;
}

export function paragraph(html: string): string {
  return `<p>${html}</p>`;
}

export function list(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
}

/** A command line, and a link that copies it. */
export function commandLine(text: string): string {
  return `<pre>${plain(text)}</pre>${linkTo(COPY_TEXT, [text], t("Copy"))}`;
}

/** A table; cells are HTML already. The first cell of a row names it. Without `head` there is none. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = ([first = "", ...rest]: readonly string[]): string => `<tr><th scope="row">${first}</th>${rest.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  const above = head.length === 0 ? "" : `<thead><tr>${head.map((cell) => `<th scope="col">${plain(cell)}</th>`).join("")}</tr></thead>`;
  return `<table>${above}<tbody>${rows.map(line).join("")}</tbody></table>`;
}

/** A link that opens a file and selects a place in it. */
export function link(html: string, place: Place): string {
  return linkTo(GO_TO_PLACE, [place], html);
}

function linkTo(command: string, values: readonly unknown[], html: string): string {
  return `<a href="command:${command}?${plain(encodeURIComponent(JSON.stringify(values)))}">${html}</a>`;
}

/** The whole page. `nonce` is new for every page. */
export function documentOf(title: string, body: string, nonce: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'">
<title>${plain(title)}</title>
<style nonce="${nonce}">
body { padding: 0 1.5em 2em; line-height: 1.5; max-width: 70em; }
h1 { font-size: 1.7em; } h2 { font-size: 1.25em; margin-top: 1.6em; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; font-weight: normal; padding: 0.35em 0.9em 0.35em 0; border-bottom: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, rgba(128, 128, 128, 0.35))); }
thead th { font-weight: bold; white-space: nowrap; } tbody th, td code { white-space: nowrap; }
pre { background: var(--vscode-textCodeBlock-background); padding: 0.6em; margin: 0.8em 0 0.2em; white-space: pre-wrap; overflow-wrap: anywhere; }
strong { color: var(--vscode-errorForeground); }
</style>
</head>
<body>
${body}
</body>
</html>`;
}
