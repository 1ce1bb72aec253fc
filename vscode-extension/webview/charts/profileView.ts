/** What real steps of one target took: one step as a bar, and a table by expression or kernel, measured beside bound. */

import type { RunProfileDocument, StepTime } from "../../../shared_schema/generated/wire.js";
import { element } from "../shared/dom.js";
import { placeText } from "../shared/places.js";
import { inPercent, inSeconds } from "../shared/figures.js";
import { type Header, table } from "../shared/table.js";
import { numberText, t } from "../shared/words.js";
import { type Reveal, shortened, sourceLink } from "./places.js";
import { kernelsOf, nameOfExpression, overBound, type Part, partsOf, placesOf, type ProfileBy, type ProfileColumn, type ProfileRow, profileRows, sortedProfile } from "./profileModel.js";

const COLOURS = ["blue", "orange", "green", "purple", "red", "yellow"] as const;
const MOST_PLACES = 3;

export class ProfileView {
  readonly element: HTMLElement;
  private readonly said = element("p", { class: "said", "aria-live": "polite" });
  private readonly rows = element("div");
  private by: ProfileBy = "expression";
  private sorting: { readonly column: ProfileColumn; readonly descending: boolean } = { column: "share", descending: true };

  constructor(private readonly shown: RunProfileDocument, private readonly reveal: Reveal | undefined) {
    const { step, idle } = shown;
    this.element = element("section", { class: "profile", "aria-label": t("Profile of {0}", this.subject()) }, element("h2", {}, headingOf(shown)));
    if (step === null || idle === null) {
      this.element.append(element("p", { class: "why", role: "alert" }, t("Not measured: {0}", shown.problem)));
      return;
    }
    const by = element("select", { "aria-label": t("Rows are"), onchange: () => { this.list(by.value as ProfileBy); } },
      element("option", { value: "expression" }, t("by expression")), element("option", { value: "kernel" }, t("by kernel or operator")),
      element("option", { value: "gap" }, t("where nothing computed")));
    this.element.append(
      element("p", { class: "why" }, stepText(shown, step), " ", t("Nothing computed in {0} of it ({1}): Python, launches and waiting.", inSeconds(idle.seconds), inPercent(idle.share))),
      ...(shown.bound_seconds === null ? [] : [element("p", { class: "why" }, boundText(shown, step, shown.bound_seconds))]),
      element("p", { class: "why" }, tieText(shown)), ...shown.notes.map((note) => element("p", { class: "why note" }, note)),
      this.bar(), this.said, element("div", { class: "tools" }, by), this.rows,
    );
    this.look(undefined);
    this.list("expression");
  }

  private subject(): string {
    const { target, trace, side } = this.shown;
    return [target === "" ? nameOfFile(trace) : target, side].filter((part) => part !== "").join(", ");
  }

  /** One step from end to end. */
  private bar(): HTMLElement {
    const parts = partsOf(this.shown).map((part) => {
      const [place] = part.row ? placesOf(part.row) : [];
      const name = nameOfPart(part);
      const { reveal } = this;
      const leads = place !== undefined && reveal !== undefined;
      const shown = element(leads ? "button" : "span", {
        class: `part ${part.kind}${part.row?.backward === true ? " backward" : ""}`, title: `${name} · ${inPercent(part.share)}`, "aria-label": `${name}, ${inPercent(part.share)}`,
        ...(leads ? { type: "button", onclick: () => { reveal(place, true); } } : { role: "img" }),
        onmouseenter: () => { this.look(part); }, onfocus: () => { this.look(part); },
      }, part.width > 0.08 ? shortened(name) : "");
      shown.style.setProperty("flex-grow", String(part.width));
      shown.style.setProperty("--band", `var(--chart-${part.kind === "expression" ? (COLOURS[part.group] ?? "grey") : "grey"})`);
      return shown;
    });
    return element("div", { class: "step", role: "group", "aria-label": t("One step") }, ...parts);
  }

  private look(part: Part | undefined): void {
    if (!part) {
      this.said.textContent = t("One step: each expression with its part of the time, hatched in the backward pass. Point at one, or use the Tab key.");
      return;
    }
    const { row } = part;
    const [place] = row ? placesOf(row) : [];
    const name = nameOfPart(part);
    this.said.replaceChildren(place ? sourceLink(place, name, this.reveal) : name, ` · ${inPercent(part.share)}`, ...(row ? [` · ${inSeconds(row.time.seconds)}`, ` · ${shortened(kernelsOf(row))}`] : []), ...(place ? [` · ${placeText(place)}`] : []));
  }

  private list(by: ProfileBy): void {
    this.by = by;
    const rows = sortedProfile(profileRows(this.shown, by), this.sorting.column, this.sorting.descending);
    const headers = this.columns().flatMap((column) => (column === "name" ? [this.header(column), { title: t("Where") }] : [this.header(column)]));
    const caption = t("What {0} took, {1}", this.subject(), nameOfRows(by));
    this.rows.replaceChildren(rows.length > 0 ? table(caption, headers, rows.map((row) => ({ cells: this.cellsOf(row) }))) : element("p", { class: "said" }, t("There is none.")));
  }

  /** Bounds where there are any; how far off the time is only where the accelerator may be what computed. */
  private columns(): ProfileColumn[] {
    const { bound_seconds: bound, comparable } = this.shown;
    const bounds: ProfileColumn[] = bound === null || this.by === "gap" ? [] : comparable ? ["bound", "over"] : ["bound"];
    return ["share", "time", ...bounds, "name", "calls", "spread"];
  }

  private header(column: ProfileColumn): Header {
    const mine = this.sorting.column === column;
    const numeric = column !== "name";
    return {
      title: titleOf(column, this.by), hint: hintOf(column), numeric, sorted: mine ? (this.sorting.descending ? "descending" : "ascending") : undefined,
      sort: () => {
        this.sorting = { column, descending: mine ? !this.sorting.descending : numeric };
        this.list(this.by);
        this.rows.querySelectorAll<HTMLElement>("button.sort")[this.columns().indexOf(column)]?.focus();
      },
    };
  }

  private cellsOf(row: ProfileRow): (string | Node)[] {
    const { time, bound } = row;
    const over = overBound(row);
    const bar = element("span", { class: "share" }, inPercent(time.share));
    bar.style.setProperty("--part", `${String(Math.min(100, time.share * 100))}%`);
    const cells: Record<ProfileColumn, string | Node> = {
      share: bar, time: inSeconds(time.seconds), spread: time.low === time.high ? "–" : `${inSeconds(time.low)} – ${inSeconds(time.high)}`, calls: numberText(time.calls),
      bound: bound === null ? "–" : bound === 0 ? t("fused") : inSeconds(bound), over: over === undefined ? "–" : numberText(Number(over.toPrecision(3))), name: this.nameOf(row),
    };
    return this.columns().flatMap((column) => (column === "name" ? [cells.name, this.whereOf(row)] : [cells[column]]));
  }

  private nameOf({ name, detail, backward, places }: ProfileRow): Node {
    if (this.by === "gap") return element("span", {}, t("after {0}, before {1}", name === "" ? t("the step began") : shortened(name), detail === "" ? t("it ended") : shortened(detail)));
    const [place] = places;
    const said = name === "" ? t("tied to no expression") : name;
    const text = this.by === "expression" && place ? sourceLink(place, said, this.reveal) : element(name === "" ? "span" : "code", {}, shortened(said));
    return element("span", { title: detail }, text, backward ? ` ${t("(backward)")}` : "");
  }

  private whereOf({ places }: ProfileRow): Node {
    const shown = places.slice(0, MOST_PLACES).flatMap((place, at) => [at > 0 ? ", " : "", this.by === "expression" ? placeText(place) : sourceLink(place, placeText(place), this.reveal)]);
    return element("span", {}, ...shown, places.length > MOST_PLACES ? ` ${t("and {0} more", places.length - MOST_PLACES)}` : "");
  }
}

function headingOf({ target, trace, side, device, device_title: title, threads }: RunProfileDocument): string {
  const what = [target, trace === "" ? "" : t("{0} (recorded)", nameOfFile(trace)), side].filter((part) => part !== "").join(", ");
  const cores = device === "cpu" && threads > 0 ? ` (${threads === 1 ? t("1 thread") : t("{0} threads", threads)})` : "";
  const on = title !== "" ? title : device === "cpu" ? t("the CPU") : device;
  return on === "" ? what : `${t("{0}, on {1}", what, on)}${cores}`;
}

function stepText({ training, target, steps }: RunProfileDocument, step: StepTime): string {
  const what = training ? t("forward and backward") : target === "" ? t("as recorded") : t("forward");
  if (steps === 1) return t("A step took {0} ({1}; one step).", inSeconds(step.seconds), what);
  return t("A step took {0} ({1}; the median of {2} steps, half of them from {3} to {4}).", inSeconds(step.seconds), what, numberText(steps), inSeconds(step.low), inSeconds(step.high));
}

function boundText({ title, accelerator, comparable, side }: RunProfileDocument, step: StepTime, bound: number): string {
  const on = title === "" ? accelerator : title;
  const least = side === "eager" ? t("At least {0} on {1}, each operation by itself.", inSeconds(bound), on) : t("At least {0} on {1}.", inSeconds(bound), on);
  return comparable && bound > 0 ? `${least} ${t("The step took {0} × that.", numberText(Number((step.seconds / bound).toPrecision(3))))}` : least;
}

function tieText({ tied, tied_share: share }: RunProfileDocument): string {
  switch (tied) {
    case "expressions":
      return t("{0} of the computing time is tied to expressions.", inPercent(share));
    case "functions":
      return t("{0} of the computing time is tied to functions, by the stacks in the trace.", inPercent(share));
    case "modules":
      return t("{0} of the computing time is tied to modules, by their names in the trace.", inPercent(share));
    case "nothing":
      return t("Nothing is tied to the source.");
  }
}

function nameOfPart({ kind, row }: Part): string {
  if (kind === "idle") return t("nothing computed");
  if (!row) return t("all other expressions");
  const name = nameOfExpression(row);
  return `${name === "" ? t("tied to no expression") : name}${row.backward ? ` ${t("(backward)")}` : ""}`;
}

function nameOfRows(by: ProfileBy): string {
  return by === "expression" ? t("Expression") : by === "kernel" ? t("Kernel or operator") : t("Between");
}

function titleOf(column: ProfileColumn, by: ProfileBy): string {
  switch (column) {
    case "time":
      return t("Time");
    case "spread":
      return t("Half of the steps");
    case "share":
      return t("Share");
    case "calls":
      return t("Calls");
    case "bound":
      return t("Bound");
    case "over":
      return t("× bound");
    case "name":
      return nameOfRows(by);
  }
}

function hintOf(column: ProfileColumn): string {
  switch (column) {
    case "time":
      return t("In one step: the median");
    case "spread":
      return t("From the lower to the upper quartile");
    case "share":
      return t("Of all steps");
    case "calls":
      return t("In one step");
    case "bound":
      return t("No run is faster; what is fused into another kernel adds nothing");
    case "over":
      return t("How many times as long as it takes at least");
    case "name":
      return "";
  }
}

function nameOfFile(path: string): string {
  return path.split(/[\\/]/u).at(-1) ?? path;
}
