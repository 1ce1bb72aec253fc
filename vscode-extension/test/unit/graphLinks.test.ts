/** Links to nodes: what is copied leads back to the same node, whatever it is called, and other links lead nowhere. */

import { expect, test } from "vitest";

import { linkOf, linkText } from "../../src/graph/graphLinks.js";

test.each([
  { file: "/work/model.py", target: "Net", graph: "0.forward", node: "linear_3" },
  { file: "C:\\work\\ä b&c=d.py", target: "Net[0]", graph: "0", node: "<y>?#/%20+" },
  { file: "/work/model.py", target: "Net", graph: undefined, node: undefined },
])("%j", (link) => {
  const text = linkText("vscode", "inductor-debug.inductor-debug", link);
  expect(text).toMatch(/^vscode:\/\/inductor-debug\.inductor-debug\/graph\?/u);
  const { pathname, search } = new URL(text.replace(/^vscode:/u, "http:"));
  expect(linkOf(pathname, search)).toEqual(link);
});

test.each([
  ["/other", "file=/a.py&target=Net"], ["/graph", ""], ["/graph", "file=/a.py"], ["/graph", "target=Net"], ["/graph", "file=/etc/passwd&target=Net"],
])("%s?%s is none of ours", (path, query) => {
  expect(linkOf(path, query)).toBeUndefined();
});
