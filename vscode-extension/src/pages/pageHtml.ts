/** The HTML around a page (`out/<page>.js` and `.css`): nothing but our own script and style may run, and nothing may be fetched. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export type Page = "charts" | "graph" | "kerneldiff" | "order" | "sizes" | "tensors";

export function pageOf(webview: vscode.Webview, extension: vscode.ExtensionContext, subject: unknown, page: Page): string {
  const nonce = randomBytes(18).toString("base64url");
  const address = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(extension.extensionUri, "out", name)).toString();
  const policy = [
    "default-src 'none'", `script-src 'nonce-${nonce}'`, `style-src ${webview.cspSource} 'nonce-${nonce}'`, "worker-src blob:", "img-src data: blob:",
  ].join("; ");
  const json = (value: unknown): string => JSON.stringify(value).replace(/</gu, "\\u003c");
  return `<!DOCTYPE html>
<html lang="${vscode.env.language}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" nonce="${nonce}" href="${address(`${page}.css`)}">
</head>
<body>
<script type="application/json" id="translations">${json(vscode.l10n.bundle ?? {})}</script>
<script type="application/json" id="subject">${json(subject)}</script>
<script nonce="${nonce}" src="${address(`${page}.js`)}"></script>
</body>
</html>
`;
}
