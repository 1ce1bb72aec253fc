/** Where one looks at a drawing and how closely. Screen = (world - corner) × zoom. */

import type { View } from "./pens.js";

const SMALLEST = 0.0001; // a chain of 50,000 nodes fits into a window
const LARGEST = 4;
/** So close that the smallest letters (11 pixels, `pens.ts`) have 9. */
export const CLOSE_ENOUGH = 9 / 11;

export class Camera {
  x = 0;
  y = 0;
  zoom = 1;

  view(width: number, height: number): View {
    return { left: this.x, top: this.y, right: this.x + width / this.zoom, bottom: this.y + height / this.zoom, zoom: this.zoom };
  }

  pan(x: number, y: number): void {
    this.x -= x / this.zoom;
    this.y -= y / this.zoom;
  }

  /** Closer or farther; the point of the world under (x, y) of the screen stays there. */
  scale(factor: number, x: number, y: number): void {
    const zoom = Math.min(LARGEST, Math.max(SMALLEST, this.zoom * factor));
    this.x += x / this.zoom - x / zoom;
    this.y += y / this.zoom - y / zoom;
    this.zoom = zoom;
  }

  centre(x: number, y: number, width: number, height: number): void {
    this.x = x - width / this.zoom / 2;
    this.y = y - height / this.zoom / 2;
  }

  /** All of it. */
  fit(worldWidth: number, worldHeight: number, width: number, height: number, largest = 1): void {
    const margin = 24;
    this.zoom = Math.max(SMALLEST, Math.min(largest, (width - 2 * margin) / Math.max(1, worldWidth), (height - 2 * margin) / Math.max(1, worldHeight)));
    this.centre(worldWidth / 2, worldHeight / 2, width, height);
  }

  /** The beginning of it, large enough to read; `middle` is where the first box stands, which is what one begins with where all is too wide. */
  start(worldWidth: number, worldHeight: number, width: number, height: number, middle = worldWidth / 2): void {
    const margin = 24;
    const whole = Math.min((width - 2 * margin) / Math.max(1, worldWidth), (height - 2 * margin) / Math.max(1, worldHeight));
    if (whole >= CLOSE_ENOUGH) {
      this.fit(worldWidth, worldHeight, width, height);
      return;
    }
    this.zoom = Math.min(1, Math.max(CLOSE_ENOUGH, (width - 2 * margin) / Math.max(1, worldWidth)));
    const [seen, edge] = [width / this.zoom, margin / this.zoom];
    this.x = seen >= worldWidth + 2 * edge ? (worldWidth - seen) / 2 : Math.min(worldWidth + edge - seen, Math.max(-edge, middle - seen / 2));
    this.y = -edge;
  }
}
