/**
 * Graphs of a target: asked of the daemon (`inductorDebug.graph`), read from the files that it names. The newest capture and the one
 * of the save before it are kept, so that the two can be compared.
 */

import { readFile } from "node:fs/promises";
import * as vscode from "vscode";

import type { KernelBuild, Stage } from "../../../shared_schema/generated/wire.js";
import { readBuild } from "../../webview/graph/model/builds.js";
import type { Whole } from "../../webview/graph/model/specs.js";
import { type Depth, DEPTHS } from "../../webview/graph/wire/messages.js";
import type { Subject } from "../server/protocol.js";
import type { Context } from "../services/context.js";

const { t } = vscode.l10n;
/** What is captured for each depth, and for those before it; what is compiled is what was captured before. */
const STAGES: readonly Stage[] = ["mock", "aot", "inductor"];
export const MEDIA_TYPE = "application/vnd.inductor-debug.graph+msgpack";

/** The files of one capture. */
export interface Capture {
  readonly files: readonly string[];
  readonly depth: Depth;
  /** The version of the document that it is of. */
  readonly version: number;
  readonly notes: readonly string[];
}

type Report = (message: string, percentage: number | undefined) => void;
/** Told what a kernel was compiled to, as soon as it is. */
type Built = (build: Whole<KernelBuild>) => void;

/** Where the graphs of a tab come from. */
export interface GraphSource {
  /** What is being done while they come. */
  readonly what: string;
  /** How deep the first capture goes. */
  readonly depth: Depth;
  /** Whether a link can lead to a node: whoever opens it sees the graphs of the file as it is then. */
  readonly linked: boolean;
  /** @throws CaptureError, or `vscode.CancellationError` where the user has had enough. */
  readonly capture: (depth: Depth, fresh: boolean, token: vscode.CancellationToken, report: Report, built: Built) => Promise<Capture>;
}

/** Graphs of a target, captured by the daemon. */
export function captured(context: Context, { uri, target }: Subject): GraphSource {
  return {
    what: t("Capturing the graphs of {0}", target),
    depth: "check",
    linked: true,
    capture: (depth, fresh, token, report, built) => capture(context, vscode.Uri.parse(uri), target, depth, fresh, token, report, built),
  };
}

/** Nothing came of it; the message says why. */
export class CaptureError extends Error {}

/**
 * What the check has captured of the file as it is now is taken where there is no need for more, unless it is to be `fresh`.
 *
 * @throws CaptureError, or `vscode.CancellationError` where the user has had enough.
 */
async function capture(
  context: Context, uri: vscode.Uri, target: string, depth: Depth, fresh: boolean, token: vscode.CancellationToken, report: Report, built: Built,
): Promise<Capture> {
  const version = vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString())?.version ?? 0;
  const stages = STAGES.slice(0, DEPTHS.indexOf(depth) + 1);
  const answer = await context.session.perform("inductorDebug.graph", { uri: uri.toString(), target, stages, fresh, compile: depth === "compiled" }, token, report, ({ document }) => {
    if ("architecture" in document) built(readBuild(document));
  });
  if (!answer) throw new CaptureError(t("The daemon is not running."));
  const files = answer.artifacts.filter(({ media_type: type }) => type === MEDIA_TYPE).map(({ path }) => path);
  const notes = [...answer.notes, ...answer.targets.flatMap(({ stages: all }) => all.flatMap((stage) => stage.notes))];
  if (files.length === 0) throw new CaptureError(answer.reason ?? notes[0] ?? t("No graph was captured."));
  return { files, depth, version, notes };
}

/** Their contents; files that are gone are left out. */
export async function contentsOf(files: readonly string[]): Promise<ArrayBuffer[]> {
  const contents = files.map(async (file) => {
    try {
      const content = await readFile(file);
      return [content.buffer.slice(content.byteOffset, content.byteOffset + content.byteLength)];
    } catch {
      return [];
    }
  });
  return (await Promise.all(contents)).flat();
}
