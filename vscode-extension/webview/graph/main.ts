/**
 * The entry of the page. In VS Code it says `ready` and the extension answers with what to show; in a browser the data stand in the
 * page itself, put there by the daemon (`inductor_debug/report/graphs/graph_html.py`).
 */

import type { Finding } from "../../../shared_schema/generated/wire.js";
import { hearOfCells } from "../shared/hearOfCells.js";
import { bytesOf, ownData } from "../shared/ownData.js";
import { setTranslations } from "../shared/words.js";
import { App } from "./app.js";
import { findHost } from "./wire/host.js";

/** What the daemon puts into the page (`graph_html`). */
interface Own {
  readonly documents: readonly string[];
  readonly findings: readonly Finding[];
  /** Texts of the user's files by path, so that an expression can be shown without an editor. */
  readonly sources?: Readonly<Record<string, string>>;
}

declare global {
  /** For tests and benchmarks: the page's own app. */
  interface Window {
    inductorDebugGraph?: App;
  }
}

function start(): void {
  const host = findHost();
  const translations = document.getElementById("translations")?.textContent ?? "";
  if (translations.trim() !== "") setTranslations(JSON.parse(translations) as Record<string, string>);
  hearOfCells();
  const subject = document.getElementById("subject")?.textContent ?? "";
  if (subject !== "") host.write({ ...(host.read() as object | undefined), subject: JSON.parse(subject) as unknown }); // for a restart of VS Code
  const app = new App(host);
  window.inductorDebugGraph = app;
  host.listen((message) => { app.hear(message); });
  if (host.kind === "vscode") host.send({ type: "ready" });
  else void showOwn(app);
}

async function showOwn(app: App): Promise<void> {
  const own = ownData() as Own | undefined;
  if (!own) {
    await app.load([], [], "kernels");
    return;
  }
  const { documents, findings, sources = {} } = own;
  app.state.sources = sources;
  app.scenes.setFindings(findings.map(({ rule, severity, message, path, range, op, related = [] }) => ({ rule, severity, message, op: op ?? null, place: { path, range }, also: related })));
  await app.load(documents.map(bytesOf), [], "kernels");
  const said = new URLSearchParams(location.hash.slice(1));
  const [graph, node] = [said.get("graph"), said.get("node")];
  if (graph !== null && node !== null) await app.following.goToNamed(graph, node);
}

start();
