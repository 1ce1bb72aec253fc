/** The steps of the sliders over sizes. */

import { expect, test } from "vitest";

import { lastStep, presets, sizeAt, stepOf } from "../../webview/sizes/scale.js";

test("every step has a size of its own, larger than the one before, and finds itself", () => {
  let before = 0;
  for (let step = 0; step <= lastStep(1 << 20, 1, null); step++) {
    const size = sizeAt(step);
    expect(size).toBeGreaterThan(before);
    expect(stepOf(size)).toBe(step);
    before = size;
  }
});

test("small sizes are all there, and so is every power of two", () => {
  expect([0, 1, 2, 3, 4, 5, 6, 7].map(sizeAt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  for (let power = 1; power < 1 << 20; power *= 2) expect(sizeAt(stepOf(power))).toBe(power);
});

test("a slider ends at the largest size that was proved to run, else well past the present one", () => {
  expect(sizeAt(lastStep(16, 16, 512))).toBe(512);
  expect(sizeAt(lastStep(16, 16, null))).toBe(128);
  expect(sizeAt(lastStep(3000, 16, 512))).toBeLessThanOrEqual(3000);
  expect(sizeAt(lastStep(3000, 16, 512))).toBeGreaterThan(2500);
});

test("presets are one, an odd one, powers of two and the usual size, none past the maximum", () => {
  expect(presets(8, null)).toEqual([1, 4, 8, 9, 16, 32]);
  expect(presets(100, 200)).toEqual([1, 64, 100, 128, 129, 200]);
  expect(presets(1, null)).toEqual([1, 2, 3, 4, 8]);
});
