/** Where one looks first: at the beginning of a graph, large enough to read. */

import { expect, test } from "vitest";

import { Camera } from "../../webview/graph/canvas/camera.js";

function started(world: readonly [number, number], first: number): Camera {
  const camera = new Camera();
  camera.start(world[0], world[1], 800, 600, first);
  return camera;
}

test("what fits is in the middle", () => {
  const { x, zoom } = started([400, 300], 30);
  expect(zoom).toBe(1);
  expect(x + 400).toBeCloseTo(200);
});

test("what is tall is in the middle, from its top", () => {
  const { x, y, zoom } = started([600, 90_000], 30);
  expect([x + 400 / zoom, y]).toEqual([300, -24]);
});

test.each([["left", 10], ["middle", 5_000], ["right", 9_990]])("where all is too wide, the first box is seen (%s)", (_name, first) => {
  const { x, zoom } = started([10_000, 90_000], first);
  expect(11 * zoom).toBeCloseTo(9); // the smallest letters
  expect(first).toBeGreaterThan(x);
  expect(first).toBeLessThan(x + 800 / zoom);
  expect(x).toBeGreaterThanOrEqual(-24 / zoom - 1);
  expect(x + 800 / zoom).toBeLessThanOrEqual(10_000 + 24 / zoom + 1);
});
