/** What the graph page makes of graphs for others: files, colours, and the offline page itself. */

import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { dotOf } from "../../webview/graph/looks/dot.js";
import { fold } from "../../webview/graph/layout/fold.js";
import { modulesOf } from "../../webview/graph/model/hierarchy.js";
import { escape, SvgPen } from "../../webview/graph/canvas/svgPen.js";
import { highlight } from "../../webview/shared/highlight.js";
import { setTranslations, t } from "../../webview/shared/words.js";
import { document, graph, read } from "./graphDocuments.js";

const EXTENSION = join(import.meta.dirname, "..", "..");
const PAGE = join(EXTENSION, "..", "daemon", "inductor_debug", "report", "pages", "graph.html");
const EVIL = `"><script>alert('1')</script>\n\\`;

test("the committed offline page is the one that the sources make", () => {
  const result = spawnSync(process.execPath, [join(EXTENSION, "scripts", "pages.mjs"), "--check"], { encoding: "utf8" });
  expect(result.stderr).toBe("");
});

test("the offline page is one file that fetches nothing, and small", () => {
  const page = readFileSync(PAGE, "utf8");
  expect(page).toContain("default-src 'none'");
  expect(page).not.toMatch(/<(?:script|link|img)[^>]*(?:src|href)=/u);
  expect(page.split("@@INDUCTOR_DEBUG_DATA@@").length).toBe(2);
  expect(statSync(PAGE).size).toBeLessThan(400_000);
});

test("DOT has every node, its type and its module, whatever the names", () => {
  const [table] = read(document([graph([
    { name: EVIL, op: "aten.relu.default", module: "layer.0", shape: ["s0", 64], dtype: "float32" },
    { name: "b", op: "aten.mm.default", inputs: [EVIL, EVIL], module: "layer.0" },
  ])])).graphs;
  const dot = dotOf(fold(modulesOf(table!)));
  expect(dot).toContain('subgraph "cluster_2" {');
  expect(dot).toContain('label="relu\\nf32[s0, 64]"');
  expect(dot.match(/ -> "b";/gu)?.length).toBe(1);
  expect(dot).toContain('"\\"><script>alert(\'1\')</script>\\n\\\\"');
});

test("SVG holds names as text", () => {
  const pen = new SvgPen({ title: "600 12px x", plain: "11px x", mono: "11px x" });
  pen.text(0, 0, EVIL, "title", "#fff");
  const file = pen.file(10, 10, "#000");
  expect(file).not.toContain("<script");
  expect(escape("a\u0000b")).toBe("a\uFFFDb");
});

describe("colours", () => {
  const kinds = (text: string, language: string): string[] => highlight(text, language).flat().filter(({ kind }) => kind !== "plain").map(({ kind, text: part }) => `${kind} ${part}`);

  test("Python and Triton", () => {
    expect(kinds("@triton.jit\ndef f(x): # why\n  return tl.load(x, 0x1F) + 'a'", "triton")).toEqual([
      "keyword def", "call f", "comment # why", "keyword return", "call load", "number 0x1F", "string 'a'",
    ]);
  });

  test("C++", () => {
    expect(kinds('#include <x>\nint f() { /* a\nb */ return 1.0f; } // "no"', "cpp")).toEqual([
      "comment #include <x>", "keyword int", "call f", "comment /* a", "comment b */", "keyword return", "number 1.0f", 'comment // "no"',
    ]);
  });

  test.each(["'open", '"""open\nstill', "/* open", "\u0000\uFFFF", ""])("nothing is lost of %j", (text) => {
    for (const language of ["python", "cpp", "text"]) expect(highlight(text, language).map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(text);
  });
});

test("texts are translated where there is a translation", () => {
  setTranslations({ "{0} nodes": "{0} Knoten" });
  expect([t("{0} nodes", 3), t("Search")]).toEqual(["3 Knoten", "Search"]);
  setTranslations({});
});
