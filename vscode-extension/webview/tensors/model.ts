/** The rows of a line in groups and in order, and their parts in words. Pure: nothing here draws. */

import type { DeviceLayout, TensorRow } from "../../../shared_schema/generated/wire.js";
import { numberText, t } from "../shared/words.js";

export type Order = "line" | "bytes" | "name" | "dtype";
export type GroupName = "line" | "held" | "saved" | "input" | "parameter" | "buffer";

export interface Group {
  readonly name: GroupName;
  readonly rows: readonly TensorRow[];
  /** Bytes of the memory in it, each counted once. */
  readonly bytes: number;
}

const GROUPS: readonly GroupName[] = ["line", "held", "saved", "input", "parameter", "buffer"];

/** What the line touches, what variables hold, what autograd keeps, and what is there from the start; empty ones are left out. */
export function groupsOf(rows: readonly TensorRow[], order: Order): Group[] {
  return GROUPS.map((name) => {
    const mine = sorted(rows.filter((row) => groupOf(row) === name), order);
    return { name, rows: mine, bytes: mine.reduce((sum, row) => sum + (row.counted ? row.storage_bytes : 0), 0) };
  }).filter((group) => group.rows.length > 0);
}

function groupOf({ roles, kind }: TensorRow): GroupName {
  if (roles.includes("saved")) return "saved";
  if (roles.length > 0) return "line";
  return kind === "parameter" || kind === "buffer" || kind === "input" ? kind : "held";
}

/** The daemon's own order is that of what matters for the line. */
function sorted(rows: readonly TensorRow[], order: Order): readonly TensorRow[] {
  switch (order) {
    case "line":
      return rows;
    case "bytes":
      return [...rows].sort((left, right) => right.bytes - left.bytes);
    case "name":
      return [...rows].sort((left, right) => left.label.localeCompare(right.label, "en", { numeric: true }));
    case "dtype":
      return [...rows].sort((left, right) => left.dtype.localeCompare(right.dtype, "en"));
  }
}

export interface Dimension {
  readonly name: string;
  readonly size: string;
}

/** Each dimension with its name, if it has one, and its size: the number where it is known, else the symbol. */
export function dimensionsOf({ shape, sizes, dims }: TensorRow): Dimension[] {
  return shape.map((size, index) => {
    const number = sizes[index];
    const symbol = typeof size === "string" ? size : "";
    const name = dims[index] ?? "";
    return { name: name === "" ? symbol : name, size: number === undefined ? String(size) : numberText(number) };
  });
}

/** `512 B`, `4 KiB`, `1.5 MiB`. */
export function bytesText(count: number): string {
  const units = [t("B"), t("KiB"), t("MiB"), t("GiB"), t("TiB")];
  let amount = count;
  let unit = 0;
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${Number(amount.toPrecision(3))} ${units[unit] ?? ""}`;
}

/** The rows of sticks that a picture shows of a tensor: how many there are, and how full the last one of each is. */
export interface Sticks {
  /** Elements of one stick, and along the dimension that lies in sticks. */
  readonly elements: number;
  readonly length: number;
  readonly dimension: number;
  /** Sticks of one row of the tensor, and rows in all. */
  readonly perRow: number;
  readonly rows: number;
  /** The share of the last stick that holds elements, from 0 to 1. */
  readonly last: number;
}

export function sticksOf(layout: DeviceLayout, sizes: readonly number[]): Sticks | undefined {
  const elements = layout.size.at(-1);
  const dimension = layout.stick_dimension ?? undefined;
  if (elements === undefined || elements === 0 || dimension === undefined) return undefined;
  const length = sizes[dimension] ?? 1;
  const perRow = Math.ceil(length / elements);
  if (perRow === 0) return undefined;
  const rows = layout.size.slice(0, -1).reduce((product, size) => product * size, 1) / perRow;
  return { elements, length, dimension, perRow, rows, last: (length - (perRow - 1) * elements) / elements };
}

/** The share of a layout's memory that is padding, from 0 to 1. */
export function wasteOf(layout: DeviceLayout): number {
  return layout.bytes > 0 ? layout.padding_bytes / layout.bytes : 0;
}

/** The points of a curve in a box, and where its highest point is. */
export function curvePoints(curve: readonly number[], width: number, height: number): { readonly points: readonly (readonly [number, number])[]; readonly top: number } {
  const highest = Math.max(...curve, 1);
  const step = width / Math.max(1, curve.length);
  const points = curve.flatMap((value, index) => {
    const y = height - (value / highest) * height;
    return [[index * step, y], [(index + 1) * step, y]] as const;
  });
  return { points, top: curve.indexOf(highest) };
}
