/** What is underlined, read from the screen: the text that one sees above each squiggle. Runs in the page and knows nothing outside of it. */

/** A squiggle on the screen: the line's number as the gutter shows it, and the text above the squiggle. */
export interface Squiggle {
  readonly line: number;
  readonly text: string;
  readonly severity: string;
}

export function squigglesOnScreen(): Squiggle[] {
  const numbers = [...document.querySelectorAll(".margin-view-overlays .line-numbers")].map((element) => ({
    top: element.getBoundingClientRect().top,
    line: Number(element.textContent),
  }));
  const lines = [...document.querySelectorAll(".editor-instance .view-line")].map((element) => ({
    rect: element.getBoundingClientRect(),
    element,
  }));
  const textUnder = (line: Element, left: number, right: number): string => {
    let text = "";
    const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (let index = 0; index < (node.textContent ?? "").length; index += 1) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + 1);
        const rect = range.getBoundingClientRect();
        const middle = (rect.left + rect.right) / 2;
        if (middle > left && middle < right) text += node.textContent?.charAt(index) ?? "";
      }
    }
    return text.replaceAll("\u00a0", " ");
  };
  return [...document.querySelectorAll(".editor-instance .view-overlays [class*=squiggly-]:not(.squiggly-unnecessary)")].flatMap((element) => {
    const rect = element.getBoundingClientRect();
    const middle = (rect.top + rect.bottom) / 2;
    const line = lines.find((candidate) => candidate.rect.top <= middle && middle <= candidate.rect.bottom);
    const number = numbers.find((candidate) => line && Math.abs(candidate.top - line.rect.top) < 2);
    if (!line || !number) return [];
    const severity = /squiggly-(\w+)/u.exec(element.className)?.[1] ?? "";
    return [{ line: number.line, text: textUnder(line.element, rect.left, rect.right), severity }];
  }).sort((left, right) => left.line - right.line);
}
