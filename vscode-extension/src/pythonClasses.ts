/**
 * Classes in the text of a Python file, as far as a directive above one needs them. Text only, no VS Code: the daemon knows more,
 * but the command has to work before anything ran.
 */

export interface PythonClass {
  readonly name: string;
  /** Zero-based line of `class`. */
  readonly line: number;
  /** Zero-based line above which a directive belongs: the first decorator, or the class itself. */
  readonly top: number;
  readonly indentation: string;
  /** Whether a base looks like a module (`nn.Module`, `PreTrainedModel`…). */
  readonly isModule: boolean;
  /** Names of the parameters that `__init__` needs. */
  readonly required: readonly string[];
  /** The directive there is already. */
  readonly directive: Directive | undefined;
}

export interface Directive {
  /** Zero-based first and last line; a directive goes on while a bracket is open or after a comma. */
  readonly line: number;
  readonly lastLine: number;
  readonly inputs: string | undefined;
  readonly init: string | undefined;
  /** Everything else it says (`train`, `dynamic`…), to be kept. */
  readonly others: readonly string[];
}

const COMMENT = /^\s*#/u;
const PREFIX = /^\s*#\s*inductor-debug:\s*/u;

/** The classes at module level, in order. */
export function classesOf(text: string): PythonClass[] {
  const lines = text.split(/\r\n|\r|\n/u);
  return lines.flatMap((line, index) => {
    const match = /^class\s+([\p{L}_][\p{L}\p{N}_]*)\s*(?:\(([^)]*)\)?)?/u.exec(line);
    if (!match?.[1]) return [];
    const top = topOf(lines, index);
    const bases = match[2] ?? "";
    return [
      {
        name: match[1],
        line: index,
        top,
        indentation: "",
        isModule: /\b(?:\w*Module|\w*Model|\w*Layer|\w*Block)\b/u.test(bases),
        required: requiredOf(lines, index),
        directive: directiveOf(lines, top),
      },
    ];
  });
}

/** The directive comment's text. Empty parts are left out. */
export function directiveText(indentation: string, inputs: string, init: string, others: readonly string[] = []): string {
  const parts = [`inputs=${tuple(inputs)}`, ...(init.trim() === "" ? [] : [`init=${tuple(init)}`]), ...others];
  return `${indentation}# inductor-debug: ${parts.join(", ")}`;
}

/** `x` → `(x,)`, `x, y` → `(x, y)`; what is a tuple or a dict already stays. */
export function tuple(expression: string): string {
  const text = expression.trim();
  if (isBracketed(text)) return text;
  return splitTopLevel(text).length > 1 ? `(${text})` : `(${text.replace(/,$/u, "")},)`;
}

/** Why the expression cannot be used, or undefined; only what can be known without Python. */
export function problemOf(expression: string): "empty" | "unbalanced" | "lines" | undefined {
  if (expression.trim() === "") return "empty";
  if (/[\r\n]/u.test(expression)) return "lines";
  return balance(expression) === 0 ? undefined : "unbalanced";
}

function topOf(lines: readonly string[], index: number): number {
  let top = index;
  while (top > 0 && (lines[top - 1] ?? "").startsWith("@")) top -= 1;
  return top;
}

function directiveOf(lines: readonly string[], top: number): Directive | undefined {
  let first = top;
  while (first > 0 && COMMENT.test(lines[first - 1] ?? "")) first -= 1;
  for (let line = first; line < top; line += 1) {
    const start = lines[line] ?? "";
    if (!PREFIX.test(start) || /^ignore\b/u.test(start.replace(PREFIX, ""))) continue;
    let text = start.replace(PREFIX, "");
    let last = line;
    while (last + 1 < top && (balance(text) > 0 || text.trimEnd().endsWith(","))) {
      last += 1;
      text += (lines[last] ?? "").replace(COMMENT, "");
    }
    return { line, lastLine: last, ...partsOf(text) };
  }
  return undefined;
}

function partsOf(text: string): Pick<Directive, "inputs" | "init" | "others"> {
  const parts = splitTopLevel(text).map((part) => part.trim());
  const value = (name: string): string | undefined =>
    parts.find((part) => part.startsWith(`${name}=`))?.slice(name.length + 1).trim();
  const others = parts.filter((part) => part !== "" && !/^(?:inputs|init)=/u.test(part));
  return { inputs: value("inputs"), init: value("init"), others };
}

function requiredOf(lines: readonly string[], index: number): string[] {
  let signature = "";
  for (const line of lines.slice(index + 1)) {
    if (/^\S/u.test(line)) break;
    if (signature === "" && !/^\s+def\s+__init__\s*\(/u.test(line)) continue;
    signature += ` ${line.replace(/#.*$/u, "").trim()}`;
    if (balance(signature) === 0) break;
  }
  const inside = /\((.*)\)/su.exec(signature)?.[1] ?? "";
  return splitTopLevel(inside)
    .map((part) => part.trim())
    .filter((part) => part !== "" && !part.startsWith("*") && part !== "/" && !/(?<![=!<>])=(?!=)/u.test(part))
    .map((part) => part.split(":", 1)[0]?.trim() ?? "")
    .filter((name) => name !== "self");
}

function isBracketed(text: string): boolean {
  if (!/^[([{]/u.test(text)) return false;
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    depth += step(text.charAt(index));
    if (depth === 0) return index === text.length - 1 && (text.startsWith("{") || text.startsWith("[") || isTuple(text));
  }
  return false;
}

function isTuple(text: string): boolean {
  const inside = text.slice(1, -1).trim();
  return inside === "" || inside.endsWith(",") || splitTopLevel(inside).length > 1;
}

function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = "";
  for (const character of text) {
    depth += step(character);
    if (character === "," && depth === 0) {
      parts.push(part);
      part = "";
    } else part += character;
  }
  return part.trim() === "" ? parts : [...parts, part];
}

/** Open minus closed brackets, outside of strings. */
function balance(text: string): number {
  const bare = text.replace(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gu, "");
  let depth = 0;
  for (const character of bare) depth += step(character);
  return depth;
}

function step(character: string): number {
  if ("([{".includes(character)) return 1;
  return ")]}".includes(character) ? -1 : 0;
}
