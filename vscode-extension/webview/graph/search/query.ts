/**
 * The language of the search box: words and conditions, all of which must hold. Text is turned into plain data; `search.ts` looks for nodes.
 *
 *     relu                  in the name, operation, module, type or arguments; case does not matter
 *     "two words"           the same with blanks
 *     /conv\d/              a regular expression, of JavaScript
 *     op:mm  module:layer.3  name:x  rule:dtype  dtype:bf16  kind:elementwise   in that alone (also op:/^mm$/)
 *     shape:>1M  bytes:>=4MB  flops:<1G   a size: elements, bytes, floating-point operations
 *     shape:64               a dimension of that size, or part of the shape as it is written
 *     -relu                 not
 */

export type Field = "any" | "op" | "module" | "name" | "rule" | "dtype" | "kind" | "shape";
export type Quantity = "elements" | "bytes" | "flops";
export type Sign = ">" | ">=" | "<" | "<=" | "=";

export type Term = { readonly not: boolean } & (
  | { readonly is: "text"; readonly field: Field; readonly text: string }
  | { readonly is: "pattern"; readonly field: Field; readonly pattern: RegExp }
  | { readonly is: "amount"; readonly quantity: Quantity; readonly sign: Sign; readonly amount: number }
);

export type Problem =
  /** A regular expression that is none, with what the engine says of it. */
  | { readonly what: "pattern"; readonly text: string; readonly why: string }
  /** A number was wanted, such as `1M`. */
  | { readonly what: "number"; readonly text: string }
  /** There is no such field. */
  | { readonly what: "field"; readonly text: string }
  /** Nothing stands after the colon. */
  | { readonly what: "nothing"; readonly text: string };

export interface Query {
  readonly terms: readonly Term[];
  /** What keeps it from being understood; then there are no terms. */
  readonly problem?: Problem;
}

export const FIELDS = ["op", "module", "name", "rule", "dtype", "kind", "shape", "bytes", "flops"] as const;
const OTHER_NAMES: Readonly<Record<string, (typeof FIELDS)[number]>> = { numel: "shape", type: "dtype", in: "module" };
const QUANTITIES: Readonly<Partial<Record<string, Quantity>>> = { shape: "elements", bytes: "bytes", flops: "flops" };
/** A word: perhaps not, perhaps a field, and a pattern, a text in quotes, or letters without blanks. An open quote or slash goes to the end. */
const WORD = /(?<not>-)?(?:(?<field>[a-z]+):)?(?:\/(?<pattern>(?:\\.|[^/\\])*)(?:\/(?<flags>[a-z]*)(?=\s|$)|$)|"(?<quoted>[^"]*)(?:"|$)|(?<plain>\S*))\s*/giu;
const COMPARED = /^(?<sign>>=|<=|[<>=])(?<amount>.*)$/u;

export function parse(text: string): Query {
  const terms: Term[] = [];
  for (const match of text.trim().matchAll(WORD)) {
    if (match[0] === "") continue;
    const read = termOf(match.groups ?? {}, match[0].trim());
    if ("what" in read) return { terms: [], problem: read };
    terms.push(read);
  }
  return { terms };
}

function termOf(groups: Readonly<Record<string, string | undefined>>, whole: string): Term | Problem {
  const { pattern, flags = "", quoted, plain = "" } = groups;
  const not = groups["not"] !== undefined && whole !== "-";
  const said = plain.startsWith(":") ? undefined : groups["field"]?.toLowerCase(); // `aten::mm` is a name
  const known = said === undefined ? undefined : (OTHER_NAMES[said] ?? FIELDS.find((field) => field === said));
  if (said !== undefined && known === undefined) return { what: "field", text: said };
  const field: Field = known === undefined || known === "bytes" || known === "flops" ? "any" : known;
  if (pattern !== undefined) {
    try {
      return { not, is: "pattern", field, pattern: new RegExp(pattern, [...new Set(`${flags.replace(/[gy]/gu, "")}i`)].join("")) };
    } catch (error) {
      return { what: "pattern", text: pattern, why: error instanceof Error ? error.message.replace(/^.*: (?=[^:]*$)/u, "") : "" };
    }
  }
  const value = quoted ?? (whole === "-" || plain.startsWith(":") ? whole : plain);
  if (value === "" && said !== undefined) return { what: "nothing", text: said };
  const quantity = QUANTITIES[known ?? ""];
  const compared = quoted === undefined && quantity ? COMPARED.exec(value)?.groups : undefined;
  if (quantity && (compared || known !== "shape")) {
    const amount = amountOf(compared?.["amount"] ?? value);
    if (amount === undefined) return { what: "number", text: compared?.["amount"] ?? value };
    return { not, is: "amount", quantity, sign: (compared?.["sign"] ?? ">=") as Sign, amount };
  }
  return { not, is: "text", field, text: value.toLowerCase() };
}

const DECIMAL: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const BINARY: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** `1M` is a million, `4MB` as well, `4MiB` is 4 × 2²⁰; undefined for what is no number. */
export function amountOf(text: string): number | undefined {
  const match = /^(?<digits>\d+(?:[.,]\d+)*|\.\d+)\s*(?<unit>[kmgt]?)(?<binary>i?)(?:b|flops?)?$/iu.exec(text.replaceAll("_", ""));
  const { digits = "", unit = "", binary = "" } = match?.groups ?? {};
  if (!match || (binary !== "" && unit === "")) return undefined;
  const value = Number(/,\d{3}(?:,|\.|$)/u.test(digits) ? digits.replaceAll(",", "") : digits.replace(",", "."));
  return Number.isNaN(value) ? undefined : value * ((binary === "" ? DECIMAL : BINARY)[unit.toLowerCase()] ?? 1);
}

export function holds(sign: Sign, value: number, amount: number): boolean {
  switch (sign) {
    case ">":
      return value > amount;
    case ">=":
      return value >= amount;
    case "<":
      return value < amount;
    case "<=":
      return value <= amount;
    case "=":
      return value === amount;
  }
}
