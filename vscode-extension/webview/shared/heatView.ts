/** The scale of heat in a page: whether it is bright or dark, and a legend with colours and signs. */

import { type Brightness, css, type Level, levelColour, luminance, SIGNS } from "./heat.js";
import { element } from "./dom.js";

/** Of a colour, whatever it is written as. */
export function brightnessOf(colour: string): Brightness {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return "light";
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red = 255, green = 255, blue = 255] = context.getImageData(0, 0, 1, 1).data;
  return luminance([red, green, blue]) > 0.18 ? "light" : "dark";
}

/** Of the page. */
export function brightness(): Brightness {
  return brightnessOf(getComputedStyle(document.body).backgroundColor);
}

/** A sign on its colour. */
export function levelSign(level: Level): HTMLElement {
  const sign = element("span", { class: "level", "aria-hidden": "true" }, SIGNS[level]);
  sign.style.background = css(levelColour(level, brightness()), 0.45);
  return sign;
}
