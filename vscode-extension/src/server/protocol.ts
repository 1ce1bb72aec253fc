/**
 * What we add to the Language Server Protocol, as far as the extension knows it, and the handshake that checks it.
 */

import type { InitializeResult } from "vscode-languageclient/node";

import type { Commands } from "../../../shared_schema/generated/wire.js";

/** Rises when an addition changes its meaning; the daemon's is in `server/lifecycle.py`. Daemons one minor version apart have the same. */
export const PROTOCOL_VERSION = 1;

/** The notification with the state of one document's analysis (`AnalysisNotification`). */
export const ANALYSIS = "inductorDebug/analysis";

/** Commands that the extension has: the daemon may put them into code lenses and code actions, and leaves to us what one of them mends. */
export const CLIENT_COMMANDS = ["inductorDebug.chooseInterpreter", "inductorDebug.setExampleInputs", "inductorDebug.explainRule", "inductorDebug.showSizes", "inductorDebug.showGraph", "inductorDebug.makeReproducer", "inductorDebug.compare", "inductorDebug.showCompileTime"] as const;

/** The daemon's commands; what each is told and answers is generated from its own table. */
export type CommandName = keyof Commands;
export type RequestOf<C extends CommandName> = Commands[C]["request"];
export type AnswerOf<C extends CommandName> = Commands[C]["answer"];

/** A target of a file, as orders name it. */
export interface Subject {
  readonly uri: string;
  readonly target: string;
}

/** Who answered `initialize`. */
export interface Peer {
  readonly name: string;
  readonly version: string;
  /** 0 where the peer does not say. */
  readonly protocol: number;
  /** The commands that it offers. */
  readonly commands: readonly string[];
}

export function peerOf(result: InitializeResult | undefined): Peer {
  const experimental: unknown = result?.capabilities.experimental;
  const ours = property(experimental, "inductorDebug");
  const protocol = property(ours, "protocolVersion");
  const offered = property(result?.capabilities.executeCommandProvider, "commands");
  return {
    name: result?.serverInfo?.name ?? "?",
    version: result?.serverInfo?.version ?? "?",
    protocol: typeof protocol === "number" ? protocol : 0,
    commands: Array.isArray(offered) ? offered.filter((name) => typeof name === "string") : [],
  };
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
