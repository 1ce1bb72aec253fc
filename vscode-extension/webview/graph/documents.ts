/** From the bytes of files to what the page shows: the library, its texts, and what could not be read. */

import { type Document, readDocument } from "./model/columns.js";
import { type Library, libraryOf } from "./model/library.js";
import { type Text, textOfKernel, textOfListing, textsOfBuild } from "./view/codeView.js";

export interface Read {
  readonly library: Library;
  /** Why files were left out. */
  readonly problems: readonly string[];
}

export function readAll(now: readonly ArrayBuffer[], before: readonly ArrayBuffer[]): Read {
  const problems: string[] = [];
  const read = (content: ArrayBuffer): Document[] => {
    try {
      return [readDocument(content)];
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
      return [];
    }
  };
  return { library: libraryOf(now.flatMap(read), before.flatMap(read)), problems };
}

export function textsOf(library: Library): Text[] {
  return [...library.kernels.flatMap((kernel) => [textOfKernel(kernel), ...textsOfBuild(kernel)]), ...library.listings.map(textOfListing)];
}

/** Sources that the page itself shows; in VS Code the editor does. */
export function textsOfSources(sources: Readonly<Record<string, string>>): Text[] {
  return Object.entries(sources).map(([path, text]) => ({ title: path, language: "python", text, links: [], kernel: undefined, path }));
}
