/** Pages that the daemon has written, and those of our own: text stays text, and places are links into the editor. */

import { expect, test } from "vitest";

import { bytes } from "../../src/common/words.js";
import { withLinks } from "../../src/pages/reportHtml.js";

test("a name of an accelerator chooses it, whatever it is called, and never becomes markup", () => {
  const evil = `/boards/"><script>alert('x')</script>&amp;.toml`;
  const escaped = "/boards/&quot;&gt;&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;amp;.toml";
  const page = withLinks(`<th><span data-accelerator="${escaped}">board</span></th><th><span data-accelerator="spyre">spyre</span></th>`, "/work");
  expect(page).not.toContain("<script");
  expect(page).not.toContain("alert('");
  const passed = [...page.matchAll(/href="command:inductorDebug\.useAccelerator\?([^"]*)">(\w+)<\/a>/gu)].map(([, said = "", name]) => [JSON.parse(decodeURIComponent(said)) as unknown, name]);
  expect(passed).toEqual([[[evil], "board"], [["spyre"], "spyre"]]);
});

test.each([[0, "0 B"], [1023, "1023 B"], [1024, "1 KiB"], [1536, "1.5 KiB"], [300 * 1024, "300 KiB"], [5 * 2 ** 30, "5 GiB"], [2 ** 41, "2048 GiB"]])("%i bytes", (count, text) => {
  expect(bytes(count)).toBe(text);
});

test("places in a report are links into the editor, nothing else is", () => {
  const place = '<p class="place"><a href="models/my%20net.py#L12" data-range="11:4-11:9">models/my net.py:12:5</a></p>';
  const page = withLinks(`${place}<a href="#dtype">dtype</a><a href="file:///lib/x.py#L1" data-range="0:0-0:1">x</a>`, "/work");
  const [first, second, third] = [...page.matchAll(/href="([^"]*)"/gu)].map(([, href]) => href ?? "");
  const said = (href: string): unknown => JSON.parse(decodeURIComponent(href.replace(/^command:inductorDebug\.goToPlace\?/u, "")));
  expect(said(first ?? "")).toEqual([{ path: "/work/models/my net.py", range: { start: { line: 11, character: 4 }, end: { line: 11, character: 9 } } }]);
  expect(second).toBe("#dtype");
  expect(said(third ?? "")).toMatchObject([{ path: "/lib/x.py" }]);
});
