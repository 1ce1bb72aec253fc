/** The steps of a slider over sizes: fine where sizes are small, by doubling where they are large. Pure. */

/** Steps between one power of two and the next. */
const PARTS = 8;
const LARGEST = 1 << 20;

/** The last step of a slider that reaches `maximum`, or well past a size without one. */
export function lastStep(value: number, usual: number, maximum: number | null | undefined): number {
  const reach = maximum ?? Math.max(64, 8 * usual, 2 * value);
  return stepOf(Math.min(Math.max(reach, value), LARGEST));
}

/** The size at a step. */
export function sizeAt(step: number): number {
  const number = step + 1;
  return number < PARTS ? number : (PARTS + (number % PARTS)) * 2 ** (Math.floor(number / PARTS) - 1);
}

/** The step whose size is nearest from below. */
export function stepOf(size: number): number {
  if (size < PARTS) return Math.max(1, Math.floor(size)) - 1;
  const power = Math.floor(Math.log2(size / PARTS));
  return PARTS * power + Math.floor(size / 2 ** power) - 1;
}

/** Sizes worth trying: one, an odd one, powers of two around the usual size, the largest that was proved to run. */
export function presets(usual: number, maximum: number | null | undefined): number[] {
  const near = 2 ** Math.round(Math.log2(Math.max(usual, 2)));
  const wanted = [1, usual, near / 2, near, near * 2, near * 4, near + 1, ...(maximum == null ? [] : [maximum])];
  const allowed = wanted.filter((size) => size >= 1 && (maximum == null || size <= maximum));
  return [...new Set(allowed)].sort((first, second) => first - second);
}
