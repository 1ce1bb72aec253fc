/** Figures as people read them, on every page the same. Pure. */

import { t } from "./words.js";

const THOUSANDS = ["", "k", "M", "G", "T", "P", "E"] as const;

/** `950`, `1.2 G`: in thousands. */
export function inThousands(value: number): string {
  let [rest, unit] = [value, 0];
  while (rest >= 999.5 && unit < THOUSANDS.length - 1) [rest, unit] = [rest / 1000, unit + 1];
  const number = rest >= 100 ? String(Math.round(rest)) : String(Number(rest.toPrecision(3)));
  return unit === 0 ? number : `${number} ${THOUSANDS[unit] ?? ""}`;
}

/** `73.1 ns`, `4.2 µs`, `12 ms`, `1.5 s`. */
export function inSeconds(value: number): string {
  const units = [[1, t("s")], [1e-3, t("ms")], [1e-6, t("µs")], [1e-9, t("ns")]] as const;
  const [size, unit] = units.find(([least]) => value >= least * 0.9995) ?? [1e-9, t("ns")];
  const amount = value / size;
  return `${amount >= 100 ? Math.round(amount) : Number(amount.toPrecision(3))} ${unit}`;
}

/** `38 %`; what is less than half of one but not nothing is `<1 %`. */
export function inPercent(part: number): string {
  return part > 0 && part < 0.005 ? "<1 %" : `${Math.round(part * 100)} %`;
}
