// What others' licences want said wherever their code goes: the texts of the packages that end up in bundles of ours. Which these are the
// bundler says; one without a text ends the build.

import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const NOTICES = "THIRD-PARTY-NOTICES.txt";
const PACKAGE = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//u;
const TEXT = /^(?:licen[cs]e|copying|notice|thirdpartynotices)\b/iu;

/** The packages of one or more bundles. */
export class Packages {
  #folders = new Set();

  /** Takes in the packages of a bundle; `root` is where the paths of the bundler's `metafile` begin. */
  add({ inputs }, root) {
    for (const input of Object.keys(inputs)) {
      const folder = PACKAGE.exec(input)?.[1];
      if (folder !== undefined) this.#folders.add(resolve(root, folder));
    }
  }

  /** These and those of others. */
  and(others) {
    const both = new Packages();
    both.#folders = new Set([...this.#folders, ...others.#folders]);
    return both;
  }

  /** The texts, package by package; `head` says of what. */
  notices(head) {
    const parts = [...this.#folders].map(noticeOf).sort((one, other) => (one < other ? -1 : 1));
    return `${head}\n\n${parts.join("\n")}`;
  }
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter((file) => TEXT.test(file)).sort();
  if (texts.length === 0) throw new Error(`${name} has no text of its licence: it cannot be bundled`);
  const said = texts.map((file) => readFileSync(join(folder, file), "utf8").replace(/\r\n?/gu, "\n").trim());
  return `${"=".repeat(80)}\n${name} ${version} (${license})\n${"=".repeat(80)}\n\n${said.join("\n\n")}\n`;
}
