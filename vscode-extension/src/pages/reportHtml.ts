/**
 * HTML for pages that the extension writes: whatever comes from elsewhere is text and never markup. What a page can do are two commands, which go
 * to a place and choose an accelerator; it runs no script. Pure.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const GO_TO_PLACE = "inductorDebug.goToPlace";
export const USE_ACCELERATOR = "inductorDebug.useAccelerator";

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

export function heading(text: string): string {
  return `<h1>${plain(text)}</h1>`;
}

export function paragraph(html: string): string {
  return `<p>${html}</p>`;
}

export function list(items: readonly string[]): string {
  return `<ul>${items.map((item) => `<li>${item}</li>`).join("")}</ul>`;
}

/** A table; head and cells are HTML already. The first cell of a row names it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = ([first = "", ...rest]: readonly string[]): string => `<tr><th scope="row">${first}</th>${rest.map((cell) => `<td>${cell}</td>`).join("")}</tr>`;
  const above = `<thead><tr>${head.map((cell) => `<th scope="col">${cell}</th>`).join("")}</tr></thead>`;
  return `<table>${above}<tbody>${rows.map(line).join("")}</tbody></table>`;
}

/** A link that opens a file and selects a place in it. */
export function link(html: string, place: Place): string {
  return linkTo(GO_TO_PLACE, [place], html);
}

/** A link that makes an accelerator the one that models are checked for. */
export function useAccelerator(html: string, accelerator: string): string {
  return linkTo(USE_ACCELERATOR, [accelerator], html);
}

/** A link to what has this id on the same page. */
export function linkWithin(html: string, id: string): string {
  return `<a href="#${plain(id)}">${html}</a>`;
}

/** A heading that links lead to. */
export function section(id: string, text: string): string {
  return `<h2 id="${plain(id)}" tabindex="-1">${plain(text)}</h2>`;
}

function linkTo(command: string, values: readonly unknown[], html: string): string {
  return `<a href="${commandUri(command, values)}">${html}</a>`;
}

function commandUri(command: string, values: readonly unknown[]): string {
  return `command:${command}?${plain(encodeURIComponent(JSON.stringify(values)))}`;
}

/** A report of the daemon's (`report/formats/html_report.py`) whose links to places go to the editor. `root` is where relative ones start. */
export function withLinks(html: string, root: string): string {
  return html.replace(/<a href="([^"]*)#L\d+" data-range="(\d+):(\d+)-(\d+):(\d+)">/gu, (_whole, address: string, ...said: string[]) => {
    const [line = 0, character = 0, endLine = 0, end = 0] = said.slice(0, 4).map(Number);
    const path = address.startsWith("file:") ? fileURLToPath(address) : join(root, decodeURIComponent(address));
    const place: Place = { path, range: { start: { line, character }, end: { line: endLine, character: end } } };
    return `<a href="${commandUri(GO_TO_PLACE, [place])}">`;
  });
}
