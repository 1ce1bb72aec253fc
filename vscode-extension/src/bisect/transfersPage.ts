/** A log of transfers as a page: what crosses to the accelerator and back, and what does not come back as it was. Works on the log's lines. Pure. */

import { basename } from "node:path";
import * as vscode from "vscode";

import { code, heading, link, list, paragraph, plain, table } from "../pages/reportHtml.js";
import * as words from "../common/words.js";

const { t } = vscode.l10n;
/** Rows of one page: its preview would take seconds for more. */
const MOST_ROWS = 1000;

/** One tensor that crosses (`capture/script_backends/transfers.py: Transfer.to_dict`). */
export interface Transfer {
  readonly graph: string;
  readonly direction: "to-device" | "to-host";
  readonly role: string;
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly device_dtype: string;
  readonly host_bytes: number;
  readonly device_bytes: number;
  readonly layout: { readonly size: readonly number[]; readonly waste: number } | null;
  readonly digest: string;
  readonly round_trip: "same" | "changed" | "not-run";
  readonly changed: number;
  readonly example: { readonly index: readonly number[]; readonly before: string; readonly after: string } | null;
  readonly path: string | null;
  readonly line: number | null;
  readonly note: string;
}

/** What the daemon answers for a target. */
export interface TransfersOf {
  readonly target: string;
  readonly accelerator: string;
  readonly summary: { readonly transfers: number; readonly host_bytes: number; readonly device_bytes: number; readonly changed: number };
  readonly problem: string | null;
  readonly error: string | null;
}

/** The lines of a log; one that cannot be read is left out. */
export function transfersIn(log: string): Transfer[] {
  return log.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as Transfer];
    } catch {
      return [];
    }
  });
}

/** The body of the page. `path` is the log's file, where it was kept. */
export function transfersPage({ target, accelerator, summary, problem, error }: TransfersOf, log: readonly Transfer[], path: string | undefined): string {
  const { transfers, host_bytes: host, device_bytes: device } = summary;
  const shown = log.slice(0, MOST_ROWS);
  const changed = shown.filter((transfer) => transfer.round_trip === "changed");
  return [
    heading(1, t("Transfers of {0}", target)),
    paragraph(plain(t("{0}, {1} on the host, {2} on {3}.", words.transfers(transfers), words.bytes(host), words.bytes(device), accelerator))),
    ...[problem, error].flatMap((text) => (text === null ? [] : [paragraph(`<strong>${plain(text)}</strong>`)])),
    ...(changed.length > 0 ? [heading(2, t("What does not come back as it was")), list(changed.map(changeLine))] : []),
    ...(shown.length > 0 ? [heading(2, t("All transfers")), table(HEAD(), shown.map(row))] : []),
    ...(log.length > shown.length ? [paragraph(plain(t("The log has more: {0}.", words.transfers(log.length))))] : []),
    ...(path === undefined ? [] : [paragraph(link(plain(t("The log: one JSON document a line")), { path, range: null }))]),
  ].join("\n");
}

const HEAD = (): string[] => [
  t("Graph"), t("Direction"), t("Tensor"), t("Type"), t("On the device"), t("Padding"), t("Digest"), t("Round trip"),
];

function row(transfer: Transfer): string[] {
  const { graph, direction, role, dtype, device_dtype: kept, shape, layout, digest, round_trip: trip, device_bytes: bytes } = transfer;
  const type = `${dtype}[${shape.join(", ")}]`;
  return [
    plain(graph),
    direction === "to-device" ? t("to device") : t("to host"),
    `${plain(role)} ${nameOf(transfer)}`,
    plain(dtype === kept ? type : t("{0} as {1}", type, kept)),
    plain(layout ? layout.size.join("×") : words.bytes(bytes)),
    layout ? `${Math.round(layout.waste * 100)} %` : "",
    plain(digest.slice(0, 8)),
    trip === "changed" ? `<strong>${plain(t("changed"))}</strong>` : plain(trip === "same" ? t("same") : t("not run")),
  ];
}

function changeLine(transfer: Transfer): string {
  const { changed, dtype, device_dtype: kept, example, path, line } = transfer;
  const what = changed === 1 ? t("1 element of {0} is kept as {1}", dtype, kept) : t("{0} elements of {1} are kept as {2}", changed, dtype, kept);
  const how = example ? `; ${t("{0} at [{1}] becomes {2}", example.before, example.index.join(", "), example.after)}` : "";
  const where = path === null ? "" : ` (${plain(line === null ? basename(path) : t("{0}, line {1}", basename(path), line + 1))})`;
  return `${nameOf(transfer)}: ${plain(what + how)}${where}`;
}

/** The tensor's name; it leads to where it was declared. */
function nameOf({ name, path, line }: Transfer): string {
  const start = line === null ? null : { line, character: 0 };
  return path === null ? code(name) : link(code(name), { path, range: start && { start, end: start } });
}
