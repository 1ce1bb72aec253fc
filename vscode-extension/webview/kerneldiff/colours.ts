/** The colours of errors. Pure. */

/** Viridis, from few points: even steps for the eye, and readable without colour vision. */
export const POINTS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]] as const;

/** The colour of a part between 0 and 1. */
export function colourOf(part: number): readonly [number, number, number] {
  const place = Math.max(0, Math.min(1, part)) * (POINTS.length - 1);
  const index = Math.min(Math.floor(place), POINTS.length - 2);
  const [low, high] = [POINTS[index] ?? POINTS[0], POINTS[index + 1] ?? POINTS[0]];
  const mix = (channel: 0 | 1 | 2): number => Math.round(low[channel] + (high[channel] - low[channel]) * (place - index));
  return [mix(0), mix(1), mix(2)];
}
