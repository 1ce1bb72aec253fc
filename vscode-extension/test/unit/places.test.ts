/** Lines are told as people know them: those of a notebook by their cell. */

import { afterEach, expect, test } from "vitest";

import { knownCells, lineText, lineTitle, numberOfLine, placeText, showCells } from "../../webview/shared/places.js";

const at = (path: string, line: number): Parameters<typeof lineText>[0] => ({ path, range: { start: { line, character: 0 }, end: { line, character: 4 } } });

afterEach(() => { showCells([]); });

test("a line of a notebook is told by its cell, as long as it is known", () => {
  expect([lineText(at("/work/net.ipynb", 4)), placeText(at("/work/net.ipynb", 4))]).toEqual(["line 5", "net.ipynb:5"]);
  showCells([{ path: "/work/net.ipynb", start: 1, lines: 3, number: 2 }, { path: "/work/net.ipynb", start: 4, lines: 2, number: 5 }]);
  expect([1, 3, 4, 5, 6].map((line) => lineText(at("/work/net.ipynb", line)))).toEqual(["cell 2, line 1", "cell 2, line 3", "cell 5, line 1", "cell 5, line 2", "line 7"]);
  expect(placeText(at("/work/net.ipynb", 5))).toBe("net.ipynb, cell 5, line 2");
  expect([lineTitle(at("/work/net.ipynb", 5)), lineTitle(at("/work/net.py", 5))]).toEqual(["Cell 5, line 2", "Line 6"]);
  expect(placeText(at("/work/net.py", 5))).toBe("net.py:6");
  expect([numberOfLine("/work/net.ipynb", 5), numberOfLine("/work/net.ipynb", 6), numberOfLine("/work/net.py", 5)]).toEqual([2, 7, 6]);
  expect(knownCells()).toHaveLength(2);
});
