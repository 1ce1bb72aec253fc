/** What the daemon has put into a page that stands alone (`inductor_debug/report/data_pages.py`), the cells of notebooks among it. */

import type { ShownCell } from "./cells.js";
import { showCells } from "./places.js";

/** The data, as whoever wrote the page knows them; undefined where nothing was put in. */
export function ownData(): unknown {
  const text = document.getElementById("data")?.textContent.trim() ?? "";
  if (!/^[\w+/]+=*$/u.test(text)) return undefined;
  const data = JSON.parse(new TextDecoder().decode(bytesOf(text))) as { readonly cells?: readonly ShownCell[] };
  showCells(data.cells ?? []);
  return data;
}

export function bytesOf(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;
}
