/** How lines of a level look: a sign in the gutter that is filled as far as the level is high, and a colour behind the line. */

import * as vscode from "vscode";

import { type Brightness, css, type Level, levelColour, LEVELS } from "../../webview/shared/heat.js";

/** So faint that every theme's text stays readable on it; the sign in the gutter has the full colour. */
const BEHIND = 0.2;

/** A decoration for each level, coldest first. The coldest has a sign alone. */
export function levelStyles(): vscode.TextEditorDecorationType[] {
  return Array.from({ length: LEVELS }, (_none, index) => {
    const level = index as Level;
    const look = (theme: Brightness): vscode.ThemableDecorationRenderOptions => {
      const colour = levelColour(level, theme);
      const behind = level === 0 ? {} : { backgroundColor: css(colour, BEHIND), overviewRulerColor: css(colour) };
      return { gutterIconPath: signOf(level, theme), gutterIconSize: "70%", ...behind };
    };
    return vscode.window.createTextEditorDecorationType({
      isWholeLine: true, light: look("light"), dark: look("dark"), overviewRulerLane: vscode.OverviewRulerLane.Left,
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    });
  });
}

/** A disc of which as many quarters are filled as the level has. */
function signOf(level: Level, theme: Brightness): vscode.Uri {
  const [line, fill] = [theme === "light" ? "#424242" : "#c5c5c5", css(levelColour(level, theme))];
  const end = (level / (LEVELS - 1)) * 2 * Math.PI;
  const sector = level === LEVELS - 1 ? `<circle cx="8" cy="8" r="6" fill="${fill}"/>`
    : `<path d="M8 8V2A6 6 0 ${end > Math.PI ? 1 : 0} 1 ${(8 + 6 * Math.sin(end)).toFixed(2)} ${(8 - 6 * Math.cos(end)).toFixed(2)}Z" fill="${fill}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">${level === 0 ? "" : sector}<circle cx="8" cy="8" r="6.4" fill="none" stroke="${line}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}
