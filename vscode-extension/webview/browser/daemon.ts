/** The daemon as the page knows it: events that it tells, commands that it carries out, and files that it has written. Addresses are relative: the page's own has the token. */

import type { AnalysisNotification, ArtifactReference, Commands, PartialResult, Range } from "../../../shared_schema/generated/wire.js";

import type { ShownCell } from "../shared/cells.js";

export interface FileEntry {
  readonly uri: string;
  readonly name: string;
  readonly path: string;
}

/** A diagnostic of LSP, as far as it is shown. */
export interface Diagnostic {
  readonly range: Range;
  readonly severity?: number;
  readonly code?: string;
  readonly message: string;
  readonly data?: { readonly target?: string; readonly op?: string | null; readonly fingerprint?: string; readonly reproducible?: boolean };
  readonly relatedInformation?: readonly { readonly location: { readonly uri: string; readonly range: Range }; readonly message: string }[];
}

/** What the daemon tells, by the name of the event. */
export interface Events {
  readonly state: { readonly state: "starting" | "running" | "ended"; readonly why: string };
  readonly settings: { readonly accelerator?: string };
  readonly files: { readonly files: readonly FileEntry[]; readonly surveys: readonly string[] };
  /** With the cells of the file, where it is a notebook. */
  readonly analysis: AnalysisNotification & { readonly cells: readonly ShownCell[] };
  readonly diagnostics: { readonly uri: string; readonly diagnostics: readonly Diagnostic[] };
  readonly saved: { readonly uri: string };
  readonly busy: boolean;
  readonly message: string;
  readonly progress: { readonly token: string; readonly value: unknown };
}

/** An artifact that can be read, by a name that the daemon's host has given it. */
export type Readable = ArtifactReference & { readonly id: string };

export interface KeptArtifact {
  readonly id: string;
  readonly kind: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly title: string;
  readonly target: string;
  readonly uri: string;
  readonly stage: string | null;
  readonly created: string;
}

/** What a command tells while it goes on. */
export interface Listening {
  readonly step?: (words: string, percentage: number | undefined) => void;
  readonly piece?: (piece: PartialResult) => void;
}

/** A command that was begun. */
export interface Running<A> {
  readonly answer: Promise<A>;
  readonly cancel: () => void;
}

/** It was cancelled. */
export class CancelledError extends Error {}

/** The daemon's commands without their prefix. */
type Name = keyof Commands extends `inductorDebug.${infer N}` ? N : never;
type RequestOf<N extends Name> = Commands[`inductorDebug.${N}`]["request"];
type AnswerOf<N extends Name> = Commands[`inductorDebug.${N}`]["answer"];
const EVENTS = ["state", "settings", "files", "analysis", "diagnostics", "saved", "busy", "message", "progress"] as const;

export class Daemon {
  private readonly listening = new Map<string, Listening>();
  private readonly hearers = new Map<string, ((data: never) => void)[]>();

  on<E extends keyof Events>(name: E, hear: (data: Events[E]) => void): void {
    this.hearers.set(name, [...(this.hearers.get(name) ?? []), hear]);
  }

  /** Begins to listen; the browser connects again by itself, and is told all anew. `lost` is called where there is no connection. */
  connect(lost: () => void): void {
    const source = new EventSource("events");
    for (const name of EVENTS) source.addEventListener(name, (event: MessageEvent<string>) => { this.tell(name, JSON.parse(event.data) as Events[typeof name]); });
    source.addEventListener("error", lost);
  }

  perform<N extends Name>(command: N, request: RequestOf<N>, listening: Listening = {}): Running<AnswerOf<N>> {
    const token = crypto.randomUUID();
    this.listening.set(token, listening);
    let cancelled = false;
    const answer = this.post(command, request, token).catch((error: unknown) => {
      throw cancelled ? new CancelledError() : error;
    }).finally(() => this.listening.delete(token)) as Promise<AnswerOf<N>>;
    const cancel = (): void => {
      cancelled = true;
      void this.post("stop", {}, token);
    };
    return { answer, cancel };
  }

  async open(uri: string): Promise<void> {
    await this.post("open", { uri }, "");
  }

  async choose(accelerator: string): Promise<void> {
    await this.post("choose", { accelerator }, "");
  }

  findings(uri: string): Promise<string> {
    return textOf(`findings?uri=${encodeURIComponent(uri)}`);
  }

  async source(uri: string): Promise<string> {
    return (JSON.parse(await textOf(`source?uri=${encodeURIComponent(uri)}`)) as { text: string }).text;
  }

  async kept(): Promise<readonly KeptArtifact[]> {
    return JSON.parse(await textOf("artifacts")) as KeptArtifact[];
  }

  async content(artifact: { readonly id: string }): Promise<ArrayBuffer> {
    return (await got(`artifact/${artifact.id}`)).arrayBuffer();
  }

  async text(artifact: { readonly id: string }): Promise<string> {
    return new TextDecoder().decode(await this.content(artifact));
  }

  private async post(command: string, request: unknown, token: string): Promise<unknown> {
    const headers = { "Content-Type": "application/json", "X-Inductor-Debug": "1" };
    const response = await fetch("command", { method: "POST", headers, body: JSON.stringify({ command, request, token }) });
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    const said = (await response.json()) as { answer?: unknown; refused?: string };
    if (said.refused !== undefined) throw new Error(said.refused);
    return said.answer;
  }

  private tell<E extends keyof Events>(name: E, data: Events[E]): void {
    for (const hear of this.hearers.get(name) ?? []) hear(data as never);
    if (name === "progress") this.progressed(data as Events["progress"]);
  }

  private progressed({ token, value }: Events["progress"]): void {
    const partial = token.endsWith("/partial");
    const listening = this.listening.get(partial ? token.slice(0, -"/partial".length) : token);
    if (partial) listening?.piece?.(value as PartialResult);
    else {
      const { message, percentage } = value as { message?: string; percentage?: number };
      if (message !== undefined) listening?.step?.(message, percentage);
    }
  }
}

async function got(address: string): Promise<Response> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(response.status === 404 ? "It is not there any more." : await response.text());
  return response;
}

async function textOf(address: string): Promise<string> {
  return (await got(address)).text();
}
