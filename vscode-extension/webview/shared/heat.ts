/**
 * One scale for everything that is drawn hot or cold, in the gutter, in graphs, in their minimap and in comparisons: five levels, each with
 * a colour and a sign, so that colour is never alone. Pure; no words, so that both sides can use it.
 *
 * Colours are those of magma: even steps for the eye, that people who do not tell red from green, or see no colours, can tell as well. The
 * hottest stands out most: it is the darkest in light themes and the brightest in dark ones. The coldest is hardly to be seen.
 */

export const LEVELS = 5;
export type Level = 0 | 1 | 2 | 3 | 4;

/** What a level looks like where there is no colour. */
export const SIGNS = ["○", "◔", "◑", "◕", "●"] as const;

type Colour = readonly [red: number, green: number, blue: number];

/** Magma, from few points. */
const POINTS: readonly Colour[] = [[0, 0, 4], [81, 18, 124], [183, 55, 121], [252, 137, 97], [252, 253, 191]];

/** The colour of a part between 0 and 1, from dark to bright. */
export function colourOf(part: number): Colour {
  const place = Math.max(0, Math.min(1, part)) * (POINTS.length - 1);
  const index = Math.min(Math.floor(place), POINTS.length - 2);
  const [low, high] = [POINTS[index] ?? [0, 0, 0], POINTS[index + 1] ?? [0, 0, 0]] as const;
  const mix = (channel: 0 | 1 | 2): number => Math.round(low[channel] + (high[channel] - low[channel]) * (place - index));
  return [mix(0), mix(1), mix(2)];
}

export type Brightness = "light" | "dark";

/** The places of the levels among the colours, by the kind of theme. */
const PARTS: Readonly<Record<Brightness, readonly number[]>> = { light: [0.99, 0.86, 0.66, 0.46, 0.2], dark: [0.06, 0.26, 0.48, 0.7, 0.94] };

/** The colour of a level in themes of either kind. */
export function levelColour(level: Level, theme: Brightness): Colour {
  return colourOf(PARTS[theme][level] ?? 0);
}

export function css(colour: Colour, alpha = 1): string {
  return alpha === 1 ? `rgb(${colour.join(" ")})` : `rgb(${colour.join(" ")} / ${alpha})`;
}

/** Black or white, whichever can be read on a colour. */
export function inkOn(colour: Colour): "#000000" | "#ffffff" {
  return luminance(colour) > 0.18 ? "#000000" : "#ffffff";
}

/** Relative luminance as WCAG has it: between 0 and 1. */
export function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map(linear);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** A channel from 0 to 255 as an amount of light. */
export function linear(channel: number): number {
  const part = channel / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
}

/**
 * Where levels begin, as multiples of the error to expect. 4 is what a comparison calls suspicious and 16 what it calls wrong
 * (`kerneldiff/judging/verdict.py`).
 */
export const ERROR_BOUNDS = [1, 4, 16, 256] as const;
/** The hottest that anything in a comparison that passes may be. */
const HOTTEST_IN_PASS: Level = 1;

/** The level of an error; `Infinity` for what is no number. */
export function errorLevel(multiple: number, passes: boolean): Level {
  const level = levelAmong(ERROR_BOUNDS, multiple);
  return passes && level > HOTTEST_IN_PASS ? HOTTEST_IN_PASS : level;
}

/** What a continuous scale of errors goes from and to, as multiples of the error to expect. */
export const ERROR_SCALE = [0.01, 256] as const;

/** The place of an error on that scale, between 0 and 1. */
export function errorPart(multiple: number): number {
  const [low, high] = ERROR_SCALE;
  return Math.max(0, Math.min(1, Math.log(multiple / low) / Math.log(high / low)));
}

/** The colour of a place on a scale in themes of either kind. */
export function partColour(part: number, theme: Brightness): Colour {
  return colourOf(theme === "light" ? 1 - part : part);
}

/** Where levels begin, as parts of the whole. */
export const SHARE_BOUNDS = [0.0001, 0.001, 0.01, 0.1] as const;

/** The level of a part of the whole, such as of all bytes. */
export function shareLevel(value: number, whole: number): Level {
  return whole > 0 ? levelAmong(SHARE_BOUNDS, value / whole) : 0;
}

function levelAmong(bounds: readonly number[], value: number): Level {
  return bounds.reduce((level, bound) => level + Number(value > bound), 0) as Level;
}

/** What levels stand for, coldest first: `≤ 1×`, `1–4×` …, `> 256×`. */
export const ERROR_RANGES = rangesOf(ERROR_BOUNDS.map(String), "×");
/** `≤ 0.01 %` …, `> 10 %`. */
export const SHARE_RANGES = rangesOf(SHARE_BOUNDS.map((part) => String(Number((part * 100).toPrecision(1)))), " %");

function rangesOf(bounds: readonly string[], unit: string): readonly string[] {
  return [`≤ ${bounds[0] ?? ""}${unit}`, ...bounds.slice(1).map((bound, at) => `${bounds[at] ?? ""}–${bound}${unit}`), `> ${bounds.at(-1) ?? ""}${unit}`];
}
