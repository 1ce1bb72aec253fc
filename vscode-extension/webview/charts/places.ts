/** Expressions in a page: links into the editor, or their text where there is none. */

import type { Location } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import { placeText } from "../shared/places.js";

/** Leads to an expression; `focus` takes the keyboard there. */
export type Reveal = (place: Location, focus: boolean) => void;

const LONGEST = 80;

export function sourceLink(place: Location, text: string, reveal: Reveal | undefined): HTMLElement {
  const where = placeText(place);
  const said = shortened(text === "" ? where : text);
  if (!reveal) return element("code", { title: where }, said);
  const { path, range } = place;
  return element("button", { type: "button", class: "link", title: where, onclick: () => { reveal({ path, range }, true); } }, element("code", {}, said));
}

/** The text in one line. */
export function shortened(text: string): string {
  const flat = text.replace(/\s+/gu, " ").trim();
  return flat.length > LONGEST ? `${flat.slice(0, LONGEST - 1)}…` : flat;
}
