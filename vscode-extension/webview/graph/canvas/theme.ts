/** Colours and fonts, read from the CSS variables of `graph.css` so that the drawing follows VS Code's theme. */

import type { OperationKind } from "../../../../shared_schema/generated/wire.js";
import type { Brightness } from "../../shared/heat.js";
import { brightnessOf } from "../../shared/heatView.js";

export interface Theme {
  readonly background: string;
  readonly box: string;
  readonly scope: string;
  readonly line: string;
  readonly wire: string;
  readonly text: string;
  readonly pale: string;
  readonly accent: string;
  readonly match: string;
  readonly error: string;
  readonly warning: string;
  readonly information: string;
  readonly added: string;
  readonly removed: string;
  readonly changed: string;
  readonly palette: readonly string[];
  readonly kinds: Readonly<Record<OperationKind, string>>;
  /** Whether the background is bright. */
  readonly brightness: Brightness;
  readonly font: string;
  readonly mono: string;
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.body);
  const value = (name: string): string => style.getPropertyValue(`--graph-${name}`).trim();
  const palette = ["blue", "green", "orange", "purple", "red", "yellow", "grey"].map(value);
  return {
    background: value("background"), box: value("box"), scope: value("scope"), line: value("line"), wire: value("wire"), text: value("text"),
    pale: value("pale"), accent: value("accent"), match: value("match"), error: value("error"), warning: value("warning"),
    information: value("information"), added: value("added"), removed: value("removed"), changed: value("changed"), palette,
    kinds: {
      product: value("blue"), reduction: value("purple"), elementwise: value("green"), lookup: value("yellow"), layout: value("grey"), conversion: value("orange"),
      creation: value("pale"), random: value("red"), other: value("pale"),
    },
    brightness: brightnessOf(value("background")),
    font: value("font"), mono: value("mono"),
  };
}
