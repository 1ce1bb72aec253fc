// What failed, once more and by itself: beside two other lanes a wait may run out, and half an hour is not thrown away for that.
//
// What passes the second time is told, by name, and does not fail the run. A failure that comes back counts, and so do more
// failures than chance brings.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

/** More than these are no chance, and are not tried again. */
const CHANCE = 5;

/** Python's tests, as pytest's cache has them. */
export class PythonFailures {
  constructor(root) {
    this.file = join(root, ".pytest_cache", "v", "cache", "lastfailed");
  }

  forget() {
    rmSync(this.file, { force: true });
  }

  names() {
    return existsSync(this.file) ? Object.keys(JSON.parse(readFileSync(this.file, "utf8"))) : [];
  }

  /** The arguments that have pytest run these alone. */
  selection() {
    return ["-m", "pytest", "-rx", ...this.names()];
  }
}

/** End-to-end tests, as vitest's JSON report has them; a file's tests need each other, so that files are tried again. */
export class EndToEndFailures {
  constructor(root) {
    this.root = root;
    this.file = join(root, ".e2e", "results.json");
  }

  forget() {
    rmSync(this.file, { force: true });
  }

  #failed() {
    if (!existsSync(this.file)) return [];
    return JSON.parse(readFileSync(this.file, "utf8")).testResults.filter(({ status }) => status === "failed");
  }

  names() {
    return this.#failed().flatMap(({ name, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === "failed");
      const file = relative(this.root, name);
      return failed.length === 0 ? [file] : failed.map(({ fullName }) => `${file} > ${fullName}`);
    });
  }

  /** The arguments that have vitest run their files alone. */
  selection() {
    return this.#failed().map(({ name }) => relative(join(this.root, "vscode-extension"), name));
  }
}

/**
 * Runs again what failed. True where all of it passes.
 *
 * @param {string} lane what the tests are called
 * @param {PythonFailures | EndToEndFailures} failures of the run that ended
 * @param {(selection: string[]) => Promise<number>} job runs the selection and gives its exit status
 */
export async function passesAgain(lane, failures, job) {
  const names = failures.names();
  for (const name of names) console.error(`failed: ${name}`);
  if (names.length === 0 || names.length > CHANCE) return false; // the lane ended without a test to blame, or much is broken
  console.error(`\n== ${lane}, those that failed, once more`);
  if ((await job(failures.selection())) !== 0) return false;
  for (const name of names) console.error(`unsteady, failed once and passed by itself: ${name}`);
  return true;
}
