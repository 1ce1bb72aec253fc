/** Who shows the page: VS Code, or a browser that opened the file. */

import { download } from "../../shared/download.js";
import type { ToHost, ToPage } from "./messages.js";

export interface Host {
  readonly kind: "vscode" | "browser";
  send(message: ToHost): void;
  listen(hear: (message: ToPage) => void): void;
  read(): unknown;
  write(state: unknown): void;
}

interface VsCode {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCode;

export function findHost(): Host {
  return typeof acquireVsCodeApi === "function" ? vsCode(acquireVsCodeApi()) : browser();
}

function vsCode(api: VsCode): Host {
  return {
    kind: "vscode",
    send: (message) => { api.postMessage(message); },
    listen: (hear) => { addEventListener("message", (event: MessageEvent<ToPage>) => { hear(event.data); }); },
    read: () => api.getState(),
    write: (state) => { api.setState(state); },
  };
}

function browser(): Host {
  return {
    kind: "browser",
    send: (message) => {
      if (message.type === "save") download(message.name, message.content);
      else if (message.type === "copyLink") copyLink(message.graph, message.node);
    },
    listen: () => undefined,
    read: () => undefined,
    write: () => undefined,
  };
}

/** The page's own address with the node behind it; it stands in the address line as well, for browsers that let no page copy. */
function copyLink(graph: string, node: string): void {
  location.hash = new URLSearchParams({ graph, node }).toString();
  if ("clipboard" in navigator) navigator.clipboard.writeText(location.href).catch(() => undefined);
}
