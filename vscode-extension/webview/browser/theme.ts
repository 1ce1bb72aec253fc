/** The theme of all pages: what the user has chosen, else the system's. Frames are told of a choice by the browser's storage. */

const KEY = "inductor-debug-theme";
const DARK = matchMedia("(prefers-color-scheme: dark)");

export type Theme = "light" | "dark";

export function themeNow(): Theme {
  const chosen = localStorage.getItem(KEY);
  return chosen === "light" || chosen === "dark" ? chosen : DARK.matches ? "dark" : "light";
}

export function chooseTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
}

/** Calls back when the system's theme changes, or another page of ours has chosen one. */
export function watchChoice(changed: () => void): void {
  DARK.addEventListener("change", changed);
  addEventListener("storage", changed);
}
