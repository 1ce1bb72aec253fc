/** Bytes as people read them. Pure. */

import { t } from "./words.js";

export function amount(count: number): string {
  const units = [t("B"), t("KiB"), t("MiB"), t("GiB"), t("TiB")];
  let [value, unit] = [count, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${units[unit] ?? ""}`;
}
