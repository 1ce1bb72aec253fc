/** Writes a reproducer where the user keeps them. Never over a file that is there, whoever has written it, and whenever. */

import { copyFile, constants, mkdir, writeFile } from "node:fs/promises";
import { basename, join, parse } from "node:path";

const MOST_NAMES = 1000;

/**
 * Writes `text` into `folder` as `name`, or as `name_2`, `name_3`… where that is taken, and `beside` with it. Returns the path.
 *
 * @throws the file system's error.
 */
export async function saveNew(folder: string, name: string, text: string, beside: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const path of beside) await copyFile(path, join(folder, basename(path)), constants.COPYFILE_EXCL).catch(unlessThere); // named after its content
  const { name: stem, ext } = parse(name);
  for (let number = 1; number <= MOST_NAMES; number += 1) {
    const path = join(folder, number === 1 ? name : `${stem}_${number}${ext}`);
    try {
      await writeFile(path, text, { flag: "wx" });
      return path;
    } catch (error) {
      unlessThere(error);
    }
  }
  throw new Error(`${join(folder, name)}: ${MOST_NAMES} files of that name are there`);
}

function unlessThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
}
