/** The pages of bisections and transfers: what the daemon says is text, wherever it stands, and places are links. */

import { describe, expect, test } from "vitest";

import { type Bisection, bisectionPage, climbed, growingPage, verdictWords } from "../../src/bisect/bisectPage.js";
import { code, commandLine, link, plain, withLinks } from "../../src/pages/reportHtml.js";
import { type Transfer, transfersIn, transfersPage } from "../../src/bisect/transfersPage.js";
import { bytes } from "../../src/common/words.js";

const RANGE = { start: { line: 5, character: 11 }, end: { line: 5, character: 16 } };
const BISECTION: Bisection = {
  target: "Net",
  ladder: [
    { backend: "eager", adds: "the model", state: "ok", why: "The model runs.", seconds: 0.01 },
    { backend: "spyre", state: "wrong", why: "a | b\nc" },
  ],
  verdict: "back-end",
  guilty: { backend: "spyre", graph: "0", direction: "forward", pass: null, node: "mul", op: "aten.mul.Tensor", path: "/work/a b/model.py", range: RANGE },
  commands: ["inductor-debug diff m.py --backend dynamo", "inductor-debug diff m.py --backend spyre"],
  notes: ["<no> pass was searched"],
};

/** What a command link passes on. */
const passed = (html: string): unknown[] =>
  [...html.matchAll(/href="command:[\w.]+\?([^"]*)"/gu)].map((match) => (JSON.parse(decodeURIComponent(match[1] ?? "").replaceAll("&#39;", "'")) as unknown[])[0]);

test("a bisection has its verdict, the ladder, the guilty expression and both commands", () => {
  const page = bisectionPage([BISECTION]);
  expect(page).toContain("<h1>Bisection of Net</h1>");
  expect(page).toContain("<strong>The back end goes wrong: what generates and runs code.</strong>");
  expect(page).toContain('<tr><th scope="row"><code>eager</code></th><td>the model</td><td>pass</td><td>The model runs.</td><td>0.01&nbsp;s</td></tr>');
  expect(page).toContain('<tr><th scope="row"><code>spyre</code></th><td></td><td><strong>wrong</strong></td><td>a | b\nc</td><td></td></tr>');
  expect(page).toContain('<tr><th scope="row">Operation</th><td><code>aten.mul.Tensor</code></td></tr>');
  expect(page).not.toContain("Pass or lowering");
  expect(passed(page)).toEqual([{ path: "/work/a b/model.py", range: RANGE }, ...BISECTION.commands]);
  expect(page).toContain(">model.py, line 6</a>");
  expect(page).toContain("<li>&lt;no&gt; pass was searched</li>");
});

test("a bisection that found nothing says so, and no more", () => {
  const page = bisectionPage([{ ...BISECTION, verdict: "none", guilty: null, commands: [], notes: [] }]);
  expect(page).toContain("<p>No layer goes wrong.</p>");
  expect(page).not.toContain("<h2>");
});

test("every verdict has its words", () => {
  const all = (["none", "front-end", "back-end", "environment", "data-transfer"] as const).map(verdictWords);
  expect(new Set(all).size).toBe(5);
});

const TRANSFER: Transfer = {
  graph: "0", direction: "to-device", role: "input", name: "x", shape: [2], dtype: "int64", device_dtype: "int32", host_bytes: 16, device_bytes: 128,
  layout: { size: [1, 32], waste: 0.9375 }, digest: "0123456789abcdef", round_trip: "changed", changed: 1,
  example: { index: [1], before: "1099511627776", after: "0" }, path: "/work/model.py", line: 3, note: "",
};
const SUMMARY = {
  target: "double", accelerator: "spyre", summary: { transfers: 2, host_bytes: 32, device_bytes: 256, changed: 1 }, problem: null, error: null,
};

describe("transfers", () => {
  test("have a row each, and what does not come back comes first", () => {
    const log = [TRANSFER, { ...TRANSFER, direction: "to-host", role: "output", name: "mul", shape: [], device_dtype: "int64", layout: null, round_trip: "not-run", path: null } as const];
    const page = transfersPage(SUMMARY, log, "/cache/log.jsonl");
    const text = page.replaceAll(/<a [^>]*>/gu, "<a>");
    expect(text).toContain("<p>2 transfers, 32 B on the host, 256 B on spyre.</p>");
    expect(text).toContain("<li><a><code>x</code></a>: 1 element of int64 is kept as int32; 1099511627776 at [1] becomes 0 (model.py, line 4)</li>");
    expect(text).toContain("<td>input <a><code>x</code></a></td><td>int64[2] as int32</td><td>1×32</td><td>94 %</td><td>01234567</td><td><strong>changed</strong></td>");
    expect(text).toContain("<td>to host</td><td>output <code>mul</code></td><td>int64[]</td><td>128 B</td><td></td><td>01234567</td><td>not run</td>");
    expect(passed(page).at(-1)).toEqual({ path: "/cache/log.jsonl", range: null });
  });

  test("without a log there is the summary, with what went wrong", () => {
    const page = transfersPage({ ...SUMMARY, problem: "the model does not fit", error: "ValueError: no" }, [], undefined);
    expect(page).toContain("<strong>the model does not fit</strong>");
    expect(page).toContain("<strong>ValueError: no</strong>");
    expect(page).not.toContain("<table>");
    expect(transfersPage({ ...SUMMARY, summary: { ...SUMMARY.summary, transfers: 1 } }, [], undefined)).toContain("<p>1 transfer, ");
  });

  test("a log of thousands is cut, and says so", () => {
    expect(transfersPage(SUMMARY, Array.from({ length: 1500 }, () => TRANSFER), undefined)).toContain("The log has more: 1500 transfers.");
  });

  test("a line that is broken costs that line only", () => {
    expect(transfersIn(`${JSON.stringify(TRANSFER)}\n{"graph":\n\n${JSON.stringify(TRANSFER)}\n`)).toEqual([TRANSFER, TRANSFER]);
  });
});

describe("text never becomes markup", () => {
  const EVIL = `"><script>alert('x')</script>&amp;`;

  test("neither as text or code, nor in what a link passes on", () => {
    const page = [plain(EVIL), code(EVIL), commandLine(EVIL), link(plain(EVIL), { path: EVIL, range: null })].join("\n");
    expect(page).not.toContain("<script");
    expect(page).not.toContain("alert('");
    expect(passed(page)).toEqual([EVIL, { path: EVIL, range: null }]);
  });
});

test.each([[0, "0 B"], [1023, "1023 B"], [1024, "1 KiB"], [1536, "1.5 KiB"], [300 * 1024, "300 KiB"], [5 * 2 ** 30, "5 GiB"], [2 ** 41, "2048 GiB"]])("%i bytes", (count, text) => {
  expect(bytes(count)).toBe(text);
});

test("a ladder that is being climbed shows what is done, what runs and what waits, and when it ends early what was not run", () => {
  const planned = ["eager", "dynamo", "inductor"].map((backend) => ({ backend, adds: `<${backend}>` }));
  const first = climbed({ planned: [], ladder: [] }, { document: { planned } });
  const second = climbed(first, { document: { ladder: [{ backend: "eager", state: "ok", why: "", seconds: 1 }] } });
  const rows = (html: string): string[] => [...html.matchAll(/<tr><th scope="row">.*?<\/tr>/gu)].map(([row]) => row.replace(/<[^>]+>/gu, " ").replace(/\s+/gu, " ").trim());
  expect(rows(growingPage("Net", first, true))).toEqual(["eager &lt;eager&gt; running…", "dynamo &lt;dynamo&gt; waiting", "inductor &lt;inductor&gt; waiting"]);
  expect(rows(growingPage("Net", second, true))).toEqual(["eager pass 1.0&nbsp;s", "dynamo &lt;dynamo&gt; running…", "inductor &lt;inductor&gt; waiting"]);
  expect(rows(growingPage("Net", second, false)).slice(1)).toEqual(["dynamo &lt;dynamo&gt; not run", "inductor &lt;inductor&gt; not run"]);
  expect(climbed(first, undefined)).toEqual(first);
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
