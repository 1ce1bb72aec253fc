/** Elements without markup: text is always text, so names with HTML in them stay names. */

export type Child = Node | string | undefined | false;

export type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: never) => void)>>;

/** Makes an element. `on…` are listeners, true and false set or leave out an attribute, the rest are attributes. */
export function element<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name.replace(/^on/u, ""), value as EventListener);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child !== undefined && child !== false) made.append(child);
  return made;
}

export function button(text: string, title: string, press: () => void, more: Attributes = {}): HTMLButtonElement {
  return element("button", { type: "button", title, "aria-label": title, onclick: press, ...more }, text);
}

const SHAPES: Readonly<Record<string, string>> = {
  plus: "M8 3v10M3 8h10", minus: "M3 8h10", fit: "M3 6V3h3M10 3h3v3M13 10v3h-3M6 13H3v-3", up: "M4 10l4-4 4 4", down: "M4 6l4 4 4-4",
  close: "M4 4l8 8M12 4l-8 8", code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5", fold: "M4 3l4 4 4-4M4 13l4-4 4 4", unfold: "M4 6l4-4 4 4M4 10l4 4 4-4", columns: "M2.5 3h11v10h-11zM8 3v10",
  theme: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11", list: "M3 4h10M6 8h7M6 12h7M3 8h.5M3 12h.5", side: "M2.5 3h11v10h-11zM10 3v10",
  help: "M6 6.2a2 2 0 1 1 2.8 1.9c-.6.3-.8.7-.8 1.4M8 12h.01M8 1.8a6.2 6.2 0 1 0 0 12.4a6.2 6.2 0 1 0 0-12.4", save: "M8 2.5v7M5 7l3 3 3-3M3 13h10", refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2v3h-3", filter: "M2.5 3.5h11L9.5 8.5v4l-3-1.5V8.5z", open: "M9 3h4v4M13 3L7.5 8.5M11 9v4H3V5h4",
};

/** A small drawing in the colour of the text. */
export function icon(name: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  const path = document.createElementNS(space, "path");
  drawing.setAttribute("viewBox", "0 0 16 16");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("aria-hidden", "true");
  path.setAttribute("d", SHAPES[name] ?? "");
  drawing.append(path);
  return drawing;
}

export function iconButton(name: string, title: string, press: () => void, more: Attributes = {}): HTMLButtonElement {
  return element("button", { type: "button", class: "icon-button", title, "aria-label": title, onclick: press, ...more }, icon(name));
}
