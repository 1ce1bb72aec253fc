/** The scale of heat: which level a value has, and that people with any colour vision can tell the levels apart. */

import { describe, expect, test } from "vitest";

import { colourOf, ERROR_RANGES, errorLevel, inkOn, type Level, levelColour, LEVELS, linear, luminance, SHARE_RANGES, shareLevel, SIGNS } from "../../webview/shared/heat.js";

type Triple = readonly [number, number, number];

/** Machado, Oliveira and Fernandes (2009), severity 1: what is seen of linear RGB. */
const VISION: Readonly<Record<string, readonly Triple[]>> = {
  "full colour vision": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
  "no colour vision": [[0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722], [0.2126, 0.7152, 0.0722]],
};

function seen(colour: Triple, matrix: readonly Triple[]): Triple {
  const light = colour.map(linear);
  const made = matrix.map((row) => Math.min(1, Math.max(0, row.reduce((sum, part, at) => sum + part * (light[at] ?? 0), 0))));
  return [made[0] ?? 0, made[1] ?? 0, made[2] ?? 0];
}

/** CIE L*a*b* (D65) of linear RGB. */
function lab([red, green, blue]: Triple): Triple {
  const root = (value: number): number => (value > 216 / 24389 ? Math.cbrt(value) : (24389 / 27 * value + 16) / 116);
  const x = root((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047);
  const y = root(0.2126729 * red + 0.7151522 * green + 0.072175 * blue);
  const z = root((0.0193339 * red + 0.119192 * green + 0.9503041 * blue) / 1.08883);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

const levels = Array.from({ length: LEVELS }, (_none, level) => level as Level);

describe.each(Object.entries(VISION))("with %s", (_name, matrix) => {
  test.each(["light", "dark"] as const)("neighbouring levels differ clearly in %s themes, and the hottest stands out most", (theme) => {
    const colours = levels.map((level) => lab(seen(levelColour(level, theme), matrix)));
    const steps = colours.slice(1).map((colour, at) => Math.hypot(...colour.map((part, channel) => part - (colours[at]?.[channel] ?? 0))));
    expect(Math.min(...steps)).toBeGreaterThan(14); // 2.3 is what one just notices
    const lightness = colours.map(([light]) => light);
    expect([...lightness].sort((left, right) => (theme === "light" ? right - left : left - right))).toEqual(lightness);
  });
});

test("what stands on a level can be read", () => {
  for (const level of levels) {
    for (const theme of ["light", "dark"] as const) {
      const colour = levelColour(level, theme);
      const [one, other] = [luminance(colour), inkOn(colour) === "#000000" ? 0 : 1];
      expect((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)).toBeGreaterThan(4.5);
    }
  }
});

test("every level has a sign and a range of its own", () => {
  for (const all of [SIGNS, ERROR_RANGES, SHARE_RANGES]) expect(new Set(all).size).toBe(LEVELS);
  expect(ERROR_RANGES).toEqual(["≤ 1×", "1–4×", "4–16×", "16–256×", "> 256×"]);
  expect(SHARE_RANGES).toEqual(["≤ 0.01 %", "0.01–0.1 %", "0.1–1 %", "1–10 %", "> 10 %"]);
});

test("errors are levels by multiples of what is to be expected; nothing is hot in a comparison that passes", () => {
  expect([0, 1, 1.5, 4, 5, 16, 17, 300, Infinity].map((multiple) => errorLevel(multiple, false))).toEqual([0, 0, 1, 1, 2, 2, 3, 4, 4]);
  expect([0, 3, 5, 1e9, Infinity].map((multiple) => errorLevel(multiple, true))).toEqual([0, 1, 1, 1, 1]);
});

test("bytes and operations are levels by their part of the whole", () => {
  expect([0, 0.5, 2, 50, 500, 5000].map((value) => shareLevel(value, 10_000))).toEqual([0, 0, 1, 2, 3, 4]);
  expect(shareLevel(0, 0)).toBe(0);
});

test("colours go from dark to bright", () => {
  const brightness = [-1, 0, 0.2, 0.5, 0.9, 1, 2].map((part) => luminance(colourOf(part)));
  expect([...brightness].sort((left, right) => left - right)).toEqual(brightness);
});
