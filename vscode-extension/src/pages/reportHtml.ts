/**
 * Links in pages that the daemon has written. What a page can do are two commands, which go to a place and choose an accelerator; it runs no
 * script. Pure.
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

const ENTITIES: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };

/** A page of the daemon's (`report/html/markup.py`) whose links to places go to the editor, where names of accelerators choose them. `root` is where relative ones start. */
export function withLinks(html: string, root: string): string {
  return withPlaces(html, root).replace(/<span data-accelerator="([^"]*)">(.*?)<\/span>/gu, (_whole, accelerator: string, name: string) =>
    `<a href="${commandUri(USE_ACCELERATOR, [unescaped(accelerator)])}">${name}</a>`);
}

function withPlaces(html: string, root: string): string {
  return html.replace(/<a href="([^"]*)#L\d+" data-range="(\d+):(\d+)-(\d+):(\d+)">/gu, (_whole, address: string, ...said: string[]) => {
    const [line = 0, character = 0, endLine = 0, end = 0] = said.slice(0, 4).map(Number);
    const path = address.startsWith("file:") ? fileURLToPath(address) : join(root, decodeURIComponent(address));
    const place: Place = { path, range: { start: { line, character }, end: { line: endLine, character: end } } };
    return `<a href="${commandUri(GO_TO_PLACE, [place])}">`;
  });
}

/** What is passed on stands in an attribute: an apostrophe is all that `encodeURIComponent` leaves of what would matter there. */
function commandUri(command: string, values: readonly unknown[]): string {
  return `command:${command}?${encodeURIComponent(JSON.stringify(values)).replaceAll("'", "%27")}`;
}

function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#x27);/gu, (entity) => ENTITIES[entity] ?? entity);
}
