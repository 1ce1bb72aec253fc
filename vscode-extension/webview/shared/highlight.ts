/**
 * Colours for Python, C++ and Triton in the page's own code panes: comments, strings, numbers, keywords, calls. A scanner of one
 * regular expression per language; it never fails, at worst a word has no colour.
 */

export type Kind = "plain" | "comment" | "string" | "number" | "keyword" | "call";

export interface Token {
  readonly kind: Kind;
  readonly text: string;
}

const PYTHON_WORDS =
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield";
const CPP_WORDS =
  "alignas auto bool break case char class const constexpr continue default delete do double else enum extern false float for goto if inline int int32_t int64_t long namespace new nullptr operator private public return short signed sizeof static struct switch template this throw true typedef typename uint8_t union unsigned using virtual void volatile while";

interface Language {
  readonly scan: RegExp;
  readonly words: ReadonlySet<string>;
}

const PYTHON: Language = {
  scan: /(?<comment>#[^\n]*)|(?<string>[rbf]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|(?<number>\b\d[\w.]*)|(?<call>[A-Za-z_]\w*(?=\s*\())|(?<word>[A-Za-z_]\w*)/giu,
  words: new Set(PYTHON_WORDS.split(" ")),
};
const CPP: Language = {
  scan: /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|(?![\s\S]))|^[ \t]*#[^\n]*)|(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*')|(?<number>\b\d[\w.]*)|(?<call>[A-Za-z_]\w*(?=\s*\())|(?<word>[A-Za-z_]\w*)/gmu,
  words: new Set(CPP_WORDS.split(" ")),
};

/** Beyond this a text is shown without colours: it would take longer than it is worth. */
const LONGEST = 2_000_000;

/** The lines of a text, each as coloured pieces. */
export function highlight(text: string, language: string): Token[][] {
  const known = language === "cpp" ? CPP : language === "text" || text.length > LONGEST ? undefined : PYTHON;
  const lines: Token[][] = [[]];
  const add = (kind: Kind, part: string): void => {
    part.split("\n").forEach((line, index) => {
      if (index > 0) lines.push([]);
      if (line !== "") lines.at(-1)?.push({ kind, text: line });
    });
  };
  let end = 0;
  for (const match of known ? text.matchAll(known.scan) : []) {
    if (match.index > end) add("plain", text.slice(end, match.index));
    add(kindOf(match.groups ?? {}, known?.words), match[0]);
    end = match.index + match[0].length;
  }
  add("plain", text.slice(end));
  return lines;
}

function kindOf(groups: Readonly<Record<string, string | undefined>>, words: ReadonlySet<string> | undefined): Kind {
  if (groups["comment"] !== undefined) return "comment";
  if (groups["string"] !== undefined) return "string";
  if (groups["number"] !== undefined) return "number";
  if (words?.has(groups["word"] ?? groups["call"] ?? "") === true) return "keyword";
  return groups["call"] === undefined ? "plain" : "call";
}
