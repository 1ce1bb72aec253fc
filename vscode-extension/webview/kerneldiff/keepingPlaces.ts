/** Draws the page anew without taking its reader elsewhere: what was scrolled stays scrolled, and the focus stays where it was. */

/** Draws anew. Tables stay scrolled as they were, and what had the focus has it again, unless it is elsewhere in the window. */
export function keepingPlaces(main: HTMLElement, draw: () => void): void {
  const regions = (): Map<string, HTMLElement> => new Map([...main.querySelectorAll<HTMLElement>(".scroll")].map((region) => [region.getAttribute("aria-label") ?? "", region]));
  const places = [...regions()].map(([name, { scrollTop, scrollLeft }]) => [name, { top: scrollTop, left: scrollLeft }] as const);
  const focused = main.contains(document.activeElement) ? document.activeElement : null;
  const section = focused?.closest("section")?.getAttribute("aria-label");
  const { scrollX, scrollY } = window;
  draw();
  const now = regions();
  for (const [name, place] of places) now.get(name)?.scrollTo(place);
  scrollTo(scrollX, scrollY);
  if (!focused || focused.isConnected || !document.hasFocus()) return;
  const alike = [...main.querySelectorAll<HTMLElement>(focused.tagName)].filter((one) => one.closest("section")?.getAttribute("aria-label") === section);
  const named = (one: Element): string => one.getAttribute("aria-label") ?? one.textContent;
  const same = alike.find((one) => named(one) === named(focused)) ?? (alike.length === 1 ? alike[0] : undefined); // a drawing's name grows
  same?.focus({ preventScroll: true });
}
