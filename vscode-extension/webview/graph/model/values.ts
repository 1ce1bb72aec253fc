/** Reads plain values out of a decoded file: each is what it should be, or the file is damaged. */

/** The content is not a graph file, or not one that this version knows. */
export class FormatError extends Error {}

export type Said = Readonly<Record<string, unknown>>;

export function isMap(value: unknown): value is Said {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function map(value: unknown): Said {
  if (!isMap(value)) throw damaged();
  return value;
}

export function list<T>(value: unknown, read: (item: unknown) => T): T[] {
  if (!Array.isArray(value)) throw damaged();
  return value.map(read);
}

export function text(value: unknown): string {
  if (typeof value !== "string") throw damaged();
  return value;
}

export function number(value: unknown): number {
  if (typeof value !== "number") throw damaged();
  return value;
}

export function flag(value: unknown): boolean {
  if (typeof value !== "boolean") throw damaged();
  return value;
}

/** What may be left out, or be null. */
export function optional<T>(value: unknown, read: (value: unknown) => T): T | null {
  return value === undefined || value === null ? null : read(value);
}

export function damaged(): FormatError {
  return new FormatError("The graph file is damaged.");
}
