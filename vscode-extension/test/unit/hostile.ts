/** Values for property tests, made of the shapes of the wire: what fits, and what has been torn. */

import fc from "fast-check";

import { ENUMS, RECORDS, type Shape } from "../../../shared_schema/generated/shapes.js";

const DEPTH = 6;
/** Texts that pages and markup have been tripped up by. */
const texts = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("", "0", "__proto__", "constructor", "<img src=x onerror=alert(1)>", "größer 模型 🙂", "\u0000", "a".repeat(3000)));
const numbers = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, -1, 0.5, 1e308, Number.MIN_VALUE));
const integers = fc.oneof(fc.nat({ max: 40 }), fc.integer(), fc.constantFrom(-1, 0, 2 ** 53, -(2 ** 53)));
export const anything = fc.jsonValue({ maxDepth: 3 });

/** Any value that has a shape, and of its fields any that may be missing. */
export function fitting(shape: Shape, depth = 0): fc.Arbitrary<unknown> {
  if (typeof shape === "string") return named(shape, depth);
  const [kind, ...inner] = shape;
  const parts = inner.map((one) => fitting(one, depth + 1));
  const [first = fc.constant(null)] = parts;
  switch (kind) {
    case "list":
      return depth > DEPTH ? fc.constant([]) : fc.array(first, { maxLength: 3 });
    case "map":
      return depth > DEPTH ? fc.constant({}) : fc.dictionary(texts, first, { maxKeys: 3 });
    case "tuple":
      return fc.tuple(...parts);
    case "or":
      return depth > DEPTH && inner.includes("null") ? fc.constant(null) : fc.oneof(...parts);
  }
}

function named(name: string, depth: number): fc.Arbitrary<unknown> {
  const fields = RECORDS[name];
  if (fields) {
    const all = Object.entries(fields).map(([field, shape]) => [field.replace(/\?$/u, ""), fitting(shape, depth + 1)] as const);
    const required = Object.keys(fields).filter((field) => !field.endsWith("?"));
    return fc.record(Object.fromEntries(all), { requiredKeys: required, noNullPrototype: true });
  }
  const members = ENUMS[name];
  if (members) return fc.constantFrom(...members);
  const plain: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    string: texts, integer: integers, number: numbers, boolean: fc.boolean(), null: fc.constant(null), bytes: fc.constant(new Uint8Array(2)),
  };
  return plain[name] ?? anything;
}

/** The same with some of what is in it replaced by anything, left out, or joined by what has no name here. */
export function torn(shape: Shape): fc.Arbitrary<unknown> {
  return fc.tuple(fitting(shape), fc.array(fc.tuple(fc.nat(), fc.constantFrom("replace", "delete", "add"), anything), { minLength: 1, maxLength: 4 })).map(([value, wounds]) => {
    const whole = { value: structuredClone(value) };
    for (const [at, how, junk] of wounds) {
      const places = [...placesIn(whole)];
      const place = places[at % places.length];
      if (!place) continue;
      const [holder, key] = place;
      if (how === "delete" && !Array.isArray(holder) && holder !== whole) Reflect.deleteProperty(holder, key);
      else Reflect.set(holder, how === "add" && !Array.isArray(holder) ? `${key}_added_later` : key, junk);
    }
    return whole.value;
  });
}

function* placesIn(value: object): Generator<readonly [object, string]> {
  for (const [key, inner] of Object.entries(value as Readonly<Record<string, unknown>>)) {
    yield [value, key];
    if (typeof inner === "object" && inner !== null && !(inner instanceof Uint8Array)) yield* placesIn(inner);
  }
}
