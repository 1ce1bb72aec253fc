/** The small parts that make folding thousands of boxes quick: lists of numbers, numbers of pairs, pixels that are taken. */

import { expect, test } from "vitest";

import { Numbers, Pairs } from "../../webview/graph/layout/numbers.js";
import { Coverage } from "../../webview/graph/canvas/coverage.js";

test("a list grows, and is sorted by places that are given", () => {
  const numbers = new Numbers();
  for (let value = 0; value < 5_000; value += 1) numbers.push(value * 3);
  expect(numbers.size).toBe(5_000);
  expect([...numbers.all().slice(-2)]).toEqual([14_994, 14_997]);
  const turned = new Numbers();
  turned.sort(numbers, Uint32Array.from({ length: 5_000 }, (_value, at) => 4_999 - at));
  expect([turned.size, ...turned.view().slice(0, 2)]).toEqual([5_000, 14_997, 14_994]);
  turned.clear();
  expect([turned.size, turned.all().length]).toEqual([0, 0]);
});

test("pairs are numbered as they come, as a map of texts would", () => {
  const pairs = new Pairs();
  const known = new Map<string, number>();
  let state = 7;
  const random = (): number => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) % 300;
  for (let step = 0; step < 20_000; step += 1) {
    const [first, second] = [random(), random()];
    const key = `${first} ${second}`;
    const expected = known.get(key) ?? known.size;
    known.set(key, expected);
    expect(pairs.indexOf(first, second)).toBe(expected);
  }
  expect(pairs.size).toBe(known.size);
  expect([pairs.add(-1, 5), pairs.add(-1, 5), pairs.add(5, -1)]).toEqual([true, false, true]);
  pairs.clear();
  expect([pairs.indexOf(5, -1), pairs.indexOf(-1, 5), pairs.indexOf(5, -1)]).toEqual([0, 1, 0]);
});

test("a pixel is taken once, wherever the camera is", () => {
  const coverage = new Coverage({ left: 1000, top: -500, right: 2000, bottom: 500, zoom: 0.1 });
  expect(coverage.take(1001, -499)).toBe(true);
  expect(coverage.take(1009, -491)).toBe(false);
  expect(coverage.take(1011, -491)).toBe(true);
  expect([coverage.take(9_999, 9_999), coverage.take(3_000, 600)]).toEqual([true, false]); // what is outside is at the edge
});
