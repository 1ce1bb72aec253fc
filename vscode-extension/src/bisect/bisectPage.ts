/** A bisection as a page: what goes wrong, the ladder, the guilty part, and the commands for both sides. Works on the contract's document. Pure. */

import { basename } from "node:path";
import * as vscode from "vscode";

import { code, commandLine, heading, link, list, paragraph, plain, type Place, type Position, table } from "../pages/reportHtml.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;

/** The contract's `bisect` document. */
export interface Bisection {
  readonly target: string;
  readonly ladder: readonly Rung[];
  readonly verdict: "none" | "front-end" | "back-end" | "environment" | "data-transfer";
  readonly guilty: Guilty | null;
  readonly commands: readonly string[];
  readonly notes?: readonly string[];
}

export interface Rung {
  readonly backend: string;
  readonly adds?: string;
  readonly state: "ok" | "wrong" | "failed";
  readonly why: string;
  readonly seconds?: number;
}

export interface Guilty {
  readonly backend: string;
  readonly graph: string | null;
  readonly direction: string | null;
  readonly pass: string | null;
  readonly node: string | null;
  readonly op: string | null;
  readonly path: string | null;
  readonly range: { readonly start: Position; readonly end: Position } | null;
}

/** What went wrong, in one sentence. */
export function verdictWords(verdict: Bisection["verdict"]): string {
  switch (verdict) {
    case "none":
      return t("no layer goes wrong");
    case "front-end":
      return t("the front end goes wrong: what captures and rewrites graphs");
    case "back-end":
      return t("the back end goes wrong: what generates and runs code");
    case "environment":
      return t("the environment is to blame: the model itself, or what is installed");
    case "data-transfer":
      return t("values change on their way to the accelerator or back");
  }
}

/** The body of the page. */
export function bisectionPage(documents: readonly Bisection[]): string {
  return documents.map(one).join("\n<hr>\n");
}

/** A ladder that is being climbed. */
export interface Climb {
  /** All rungs that there are to climb; empty while nobody knows. */
  readonly planned: readonly Pick<Rung, "backend" | "adds">[];
  readonly ladder: readonly Rung[];
}

/** The page while the ladder is climbed, or when that has ended early: then nothing `goesOn`. */
export function growingPage(target: string, { planned, ladder }: Climb, goesOn: boolean): string {
  const ahead = planned.slice(ladder.length).map(({ backend, adds = "" }, at) => {
    const running = goesOn && at === 0;
    const state = running ? `<span class="state-spinner" aria-hidden="true"></span>${plain(t("running…"))}` : plain(goesOn ? t("waiting") : t("not run"));
    return [code(backend), plain(adds), state, "", ""];
  });
  return [heading(1, t("Bisection of {0}", target)), ladderTable(ladder, ahead)].join("\n");
}

/** The climb with what a piece of an answer adds to it (`server/commands/partial_results.py`). */
export function climbed({ planned, ladder }: Climb, piece: unknown): Climb {
  const { document = {} } = (piece ?? {}) as { document?: Partial<Climb> };
  return { planned: [...planned, ...(document.planned ?? [])], ladder: [...ladder, ...(document.ladder ?? [])] };
}

/** The place of the guilty expression. */
export function guiltyPlace({ guilty }: Bisection): Place | undefined {
  return guilty?.path === null || guilty?.path === undefined ? undefined : { path: guilty.path, range: guilty.range };
}

function one(document: Bisection): string {
  const { target, ladder, verdict, guilty, commands, notes = [] } = document;
  const verdictText = plain(sentence(verdictWords(verdict)));
  return [
    heading(1, t("Bisection of {0}", target)),
    paragraph(verdict === "none" ? verdictText : `<strong>${verdictText}</strong>`),
    ladderTable(ladder),
    ...(guilty ? [heading(2, t("Where")), guiltyTable(guilty, guiltyPlace(document))] : []),
    ...(commands.length > 0 ? [heading(2, t("To see both sides")), paragraph(plain(t("The last that is right, and the first that is not:"))), ...commands.map(commandLine)] : []),
    ...(notes.length > 0 ? [heading(2, t("Notes")), list(notes.map(plain))] : []),
  ].join("\n");
}

function ladderTable(ladder: readonly Rung[], ahead: readonly (readonly string[])[] = []): string {
  const rows = ladder.map(({ backend, adds = "", state, why, seconds }) => [
    code(backend), plain(adds), stateWords(state), plain(why), seconds === undefined ? "" : plain(words.seconds(seconds)).replace(" ", "&nbsp;"),
  ]);
  return table([t("Backend"), t("Adds"), t("Result"), t("Why"), t("Time")], [...rows, ...ahead]);
}

function stateWords(state: Rung["state"]): string {
  if (state === "ok") return plain(t("pass"));
  return `<strong>${plain(state === "wrong" ? t("wrong") : t("failed"))}</strong>`;
}

function guiltyTable(guilty: Guilty, place: Place | undefined): string {
  const { backend, direction, graph, pass, op, node } = guilty;
  const parts: (readonly [string, string | null])[] = [
    [t("Backend"), code(backend)],
    [t("Direction"), direction && plain(direction)],
    [t("Graph"), graph && code(graph)],
    [t("Pass or lowering"), pass && code(pass)],
    [t("Operation"), op && code(op)],
    [t("Node"), node && code(node)],
    [t("Expression"), place ? link(plain(placeWords(place)), place) : null],
  ];
  return table([], parts.flatMap(([name, html]) => (html === null || html === "" ? [] : [[plain(name), html]])));
}

/** `model.py, line 13`. */
export function placeWords({ path, range }: Place): string {
  return range ? t("{0}, line {1}", basename(path), range.start.line + 1) : basename(path);
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
