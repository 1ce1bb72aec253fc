/** Where compiling goes, as a tree to draw: phases, the modules in them, and the expressions in those; and as rows of tables. Pure. */

import type { CompileTimeDocument, Location } from "../../../shared_schema/generated/wire.js";
import { placeOf } from "./rowPlaces.js";

/** A piece of the time, with all that is inside it; what is not inside any of its pieces was spent on whole graphs, or on the module itself. */
export interface Slab {
  readonly kind: "target" | "phase" | "module" | "expression";
  readonly name: string;
  /** The class of a module. */
  readonly detail: string;
  /** Whose time it is: "Dynamo", "AOTAutograd", "Inductor"; empty for the whole. */
  readonly part: string;
  readonly place: Location | undefined;
  readonly outer: Slab | undefined;
  /** The largest first. */
  readonly inner: readonly Slab[];
  readonly seconds: number;
  /** How many modules are drawn as one. */
  readonly count: number;
}

interface Growing extends Slab {
  readonly inner: Growing[];
  seconds: number;
  readonly modules: Set<string>;
  readonly known: Map<string, Growing>;
  count: number;
}

/** The whole of a document. With `together`, the equal layers of a stack are one piece. */
export function slabsOf(document: CompileTimeDocument, together: boolean): Slab {
  const whole = grown({ kind: "target", name: document.target, detail: "", part: "", place: undefined, outer: undefined });
  const kinds = new Map(document.modules.map(({ module, kind }) => [module, kind]));
  const { phases, modules, expressions, seconds } = document.slices;
  seconds.forEach((own, at) => {
    const phase = document.compile_phases[phases[at] ?? -1];
    if (!phase) return;
    let slab = within(whole, `phase ${phases[at] ?? ""}`, () => ({ kind: "phase", name: phase.phase, detail: "", part: phase.part, place: undefined }));
    const { part } = slab;
    const met = [whole, slab];
    for (const [path, name] of stepsTo(document.modules[modules[at] ?? -1]?.module ?? "")) {
      const kind = kinds.get(path) ?? "";
      const shown = together ? name.replace(/\.\d+/gu, ".*") : name;
      slab = within(slab, `module ${shown} ${together ? kind : ""}`, () => ({ kind: "module", name: shown, detail: kind, part, place: undefined }));
      slab.modules.add(path);
      met.push(slab);
    }
    const expression = document.expressions[expressions[at] ?? -1];
    const place = expression && placeOf(expression);
    if (expression && place) {
      slab = within(slab, `expression ${String(expressions[at])}`, () => ({ kind: "expression", name: expression.text, detail: "", part, place }));
      met.push(slab);
    }
    for (const one of met) one.seconds += own;
  });
  settle(whole);
  return whole;
}

function grown(given: Pick<Slab, "kind" | "name" | "detail" | "part" | "place" | "outer">): Growing {
  return { ...given, inner: [], seconds: 0, modules: new Set(), known: new Map(), count: 1 };
}

function within(outer: Growing, key: string, given: () => Pick<Slab, "kind" | "name" | "detail" | "part" | "place">): Growing {
  let found = outer.known.get(key);
  if (!found) {
    found = grown({ ...given(), outer });
    outer.known.set(key, found);
    outer.inner.push(found);
  }
  return found;
}

/** `["encoder", "encoder"], ["encoder.layer.3", "layer.3"], …`: each step into a module, with its name; a list and its item are one. */
function stepsTo(module: string): [string, string][] {
  if (module === "") return [];
  const steps: [string, string][] = [];
  let path = "";
  for (const segment of module.split(".")) {
    path = path === "" ? segment : `${path}.${segment}`;
    const last = steps.at(-1);
    if (last && /^\d+$/u.test(segment)) [last[0], last[1]] = [path, `${last[1]}.${segment}`];
    else steps.push([path, segment]);
  }
  return steps;
}

function settle(slab: Growing): void {
  slab.count = Math.max(1, slab.modules.size);
  slab.inner.sort((one, other) => other.seconds - one.seconds);
  slab.inner.forEach(settle);
}

/** A piece as it is drawn: its row from the top, and from where to where it goes, as parts of the width. */
export interface Drawn {
  readonly slab: Slab;
  readonly row: number;
  readonly from: number;
  readonly to: number;
}

/** All pieces that can be seen when `focus` is as wide as the drawing; what is around it is, too. Those narrower than `least` are left out. */
export function layOut(focus: Slab, least: number): Drawn[] {
  const around: Slab[] = [];
  for (let slab = focus.outer; slab; slab = slab.outer) around.unshift(slab);
  const drawn: Drawn[] = around.map((slab, row) => ({ slab, row, from: 0, to: 1 }));
  const add = (slab: Slab, row: number, from: number, to: number): void => {
    if (to - from < least) return;
    drawn.push({ slab, row, from, to });
    let at = from;
    for (const inner of slab.inner) {
      const width = slab.seconds > 0 ? ((to - from) * inner.seconds) / slab.seconds : 0;
      add(inner, row + 1, at, at + width);
      at += width;
    }
  };
  add(focus, around.length, 0, 1);
  return drawn;
}

export function depthOf(slab: Slab): number {
  return 1 + Math.max(0, ...slab.inner.map(depthOf));
}

export type By = "expression" | "module" | "phase";

export interface TimeRow {
  readonly name: string;
  readonly seconds: number;
  readonly place: Location | undefined;
  readonly detail: string;
}

/** What a table lists; the documents' rows have the largest first. */
export function rowsOf(document: CompileTimeDocument, by: By, together: boolean): TimeRow[] {
  switch (by) {
    case "expression":
      return document.expressions.flatMap((row) => {
        const place = placeOf(row);
        return place ? [{ name: row.text, seconds: row.seconds, place, detail: partsText(row.parts) }] : [];
      });
    case "module":
      return together
        ? document.alike.map(({ pattern, kind, count, seconds }) => ({ name: pattern, seconds, place: undefined, detail: count > 1 ? `${kind} × ${String(count)}` : kind }))
        : document.modules.map(({ module, kind, seconds }) => ({ name: module, seconds, place: undefined, detail: kind }));
    case "phase":
      return [...document.compile_phases].sort((one, other) => other.seconds - one.seconds).map(({ part, phase, seconds }) => ({ name: phase, seconds, place: undefined, detail: part }));
  }
}

function partsText(parts: Readonly<Record<string, number>>): string {
  return Object.entries(parts).sort(([, one], [, other]) => other - one).map(([part]) => part).join(", ");
}

/** The seconds of each part of the compiler, the largest first. */
export function partsOf({ compile_phases: phases }: CompileTimeDocument): [string, number][] {
  const found = new Map<string, number>();
  for (const { part, seconds } of phases) found.set(part, (found.get(part) ?? 0) + seconds);
  return [...found].sort(([, one], [, other]) => other - one);
}
