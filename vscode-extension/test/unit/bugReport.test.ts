/** The list that stands between gathering a bug report and writing it. */

import { expect, test } from "vitest";

import { rowsOf } from "../../src/repro/bugReport.js";

const FILES = [
  { name: "ISSUE.md", bytes: 5274, about: "the text of an issue, ready to paste" },
  { name: "repro/repro.py", bytes: 1024, about: "" },
];
const words = (rows: ReturnType<typeof rowsOf>): string[] => rows.map(({ label, description }) => (description === undefined ? label : `${label}: ${description}`));

test("every file is listed with its size and what it is, below the way to go on", () => {
  const rows = rowsOf({ files: FILES, missing: [], redacted: {} });
  expect(words(rows)).toEqual([
    "$(save) Save…: 2 files, 6.15 KiB before they are packed",
    "files",
    "$(file) ISSUE.md: 5.15 KiB · the text of an issue, ready to paste",
    "$(file) repro/repro.py: 1 KiB",
  ]);
  expect(rows.filter(({ save }) => save === true)).toHaveLength(1);
  expect(words(rowsOf({ files: FILES.slice(1), missing: [], redacted: {} }))[0]).toContain(": 1 file, 1 KiB");
});

test("what is missing and what was taken out is told, too", () => {
  const rows = words(rowsOf({ files: FILES, missing: ["bisection: not asked for"], redacted: { "user name": 2, "home folder": 3 } }));
  expect(rows.slice(4)).toEqual([
    "not there",
    "$(circle-slash) bisection: not asked for",
    "taken out of the texts",
    "$(eye-closed) home folder: 3 ×",
    "$(eye-closed) user name: 2 ×",
  ]);
});
