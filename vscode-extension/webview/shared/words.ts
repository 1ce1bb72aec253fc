/** Texts that people read, in their language where there is a translation: the page's twin of `vscode.l10n.t`. */

let bundle: Readonly<Record<string, string>> = {};

export function setTranslations(translations: Readonly<Record<string, string>>): void {
  bundle = translations;
}

export function t(text: string, ...values: (string | number)[]): string {
  return (bundle[text] ?? text).replace(/\{(\d+)\}/gu, (_whole, index: string) => String(values[Number(index)] ?? ""));
}

/** `20,000`, always with commas: the words around it are English or translated by hand. */
export function numberText(value: number): string {
  return value.toLocaleString("en-US");
}
