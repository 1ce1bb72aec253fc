/** When the colours of a page change: drawings follow. */

/** Calls back when VS Code or the system changes the theme. */
export function watchTheme(changed: () => void): void {
  new MutationObserver(changed).observe(document.body, { attributes: true, attributeFilter: ["class", "data-vscode-theme-id"] });
  new MutationObserver(changed).observe(document.documentElement, { attributes: true, attributeFilter: ["style", "data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) matchMedia(query).addEventListener("change", changed);
}
