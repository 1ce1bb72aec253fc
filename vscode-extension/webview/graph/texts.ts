/** Kernels, IR and sources: where they stand, and what a click in them does. */

import type { Following } from "./following.js";
import { CodeView } from "./view/codeView.js";
import type { Host } from "./wire/host.js";

/** `following` is asked for when something is clicked: it is made after the panes. */
export function makeCode(host: Host, following: () => Following, compiles: () => boolean): CodeView {
  return new CodeView({
    compile: () => (host.kind === "vscode" && compiles() ? (): void => { host.send({ type: "capture", depth: "compiled", fresh: false }); } : undefined),
    reveal: (place) => { following().reveal(place, true); },
    lightKernel: (kernel) => { following().lightKernel(kernel); },
    lightPlaces: (places) => { following().lightPlaces(places); },
    open: host.kind === "vscode" ? (text): void => { host.send({ type: "openText", text: { title: text.title, language: text.language, text: text.text, links: text.links } }); } : undefined,
  });
}
