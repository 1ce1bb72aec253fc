// Charts of the rows that are shown, each a card with a picture and the same in words for those who cannot see it.

/** The colours of the page as it is now, light or dark. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

/** A canvas in real pixels, with its context in CSS ones. */
function canvasOf(width, height, label) {
  const ratio = window.devicePixelRatio || 1;
  const canvas = make("canvas", { width: width * ratio, height: height * ratio, role: "img", "aria-label": label });
  canvas.style.width = "100%";
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = "11px system-ui, sans-serif";
  return [canvas, context];
}

function card(title, picture, ...below) {
  return make("figure", { class: "card" }, make("figcaption", {}, title), picture, ...below);
}

/** A place of the pointer on a canvas, in the units it was drawn in. */
function pointOn(canvas, event, width) {
  const box = canvas.getBoundingClientRect();
  return [((event.clientX - box.left) * width) / box.width, event.clientY - box.top];
}

const SEVERITIES = ["error", "warning", "information", "hint"];

/** Models by rules: a cell is as strong as its worst finding. More rows than pixels share one, which shows the worst. */
function heatMap(page, rows) {
  const { rules, matrix } = page.data;
  if (rules.length === 0) return null;
  const width = 980;
  const named = rows.length <= 45;
  const left = named ? 190 : 12;
  const top = 92;
  const pitch = Math.max(Math.min(18, 420 / Math.max(rows.length, 1)), 0.001);
  const height = top + Math.max(Math.min(420, rows.length * pitch), 18);
  const wide = (width - left - 70) / rules.length;
  const [canvas, draw] = canvasOf(width, height, `${rows.length} models by ${rules.length} rules; the table below has the same numbers`);
  const colour = palette();
  const bars = Math.min(rows.length, Math.ceil(height - top));
  const thick = (height - top) / Math.max(bars, 1);
  for (let bar = 0; bar < bars; bar++) {
    const from = Math.floor((bar * rows.length) / bars);
    const to = Math.max(Math.floor(((bar + 1) * rows.length) / bars), from + 1);
    for (let rule = 0; rule < rules.length; rule++) {
      let worst = 9;
      for (let at = from; at < to; at++) worst = Math.min(worst, matrix.get(rows[at] * rules.length + rule) ?? 9);
      if (worst < 9) {
        draw.fillStyle = colour(SEVERITIES[worst]);
        draw.fillRect(left + rule * wide + 0.5, top + bar * thick, Math.max(wide - 1, 1), Math.max(thick - (named ? 1 : 0), 1));
      }
    }
    if (named) {
      draw.fillStyle = colour("ink");
      draw.textAlign = "right";
      draw.fillText(fitting(draw, page.name(rows[bar]), left - 10), left - 6, top + bar * thick + thick / 2 + 4);
    }
  }
  draw.fillStyle = colour("ink");
  draw.textAlign = "left";
  rules.forEach((rule, at) => {
    draw.save();
    draw.translate(left + at * wide + wide / 2 + 3, top - 6);
    draw.rotate(-Math.PI / 4);
    draw.fillText(rule, 0, 0);
    draw.restore();
  });
  const cell = (event) => {
    const [x, y] = pointOn(canvas, event, width);
    const bar = Math.floor((y - top) / thick);
    const rule = Math.floor((x - left) / wide);
    return bar >= 0 && bar < bars ? [rows[Math.floor((bar * rows.length) / bars)], rules[rule]] : [undefined, undefined];
  };
  canvas.addEventListener("mousemove", (event) => {
    const [row, rule] = cell(event);
    canvas.title = row === undefined ? "" : `${page.name(row)}${rule === undefined ? "" : `: ${rule}`}`;
  });
  canvas.addEventListener("click", (event) => {
    const [row] = cell(event);
    if (row !== undefined) page.open(row);
  });
  const legend = SEVERITIES.map((name) => make("span", { class: `key ${name}` }, name));
  const made = card("Models × rules", canvas, make("p", { class: "legend" }, ...legend));
  made.classList.add("whole");
  return made;
}

function fitting(draw, text, width) {
  if (draw.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && draw.measureText(`${text.slice(0, end)}…`).width > width) end--;
  return `${text.slice(0, end)}…`;
}

/** Horizontal bars of names with amounts, each of one or more parts. */
function bars(title, items, kind, keys = []) {
  if (items.length === 0) return null;
  const most = Math.max(...items.map((item) => item.parts.reduce((sum, part) => sum + part, 0)), 1e-12);
  const list = make("div", { class: "bars" });
  for (const { name, parts, open } of items) {
    const total = parts.reduce((sum, part) => sum + part, 0);
    const pieces = parts.map((part, at) => {
      const piece = make("i", { class: `part${at}`, title: keys.length > 0 ? `${keys[at]} ${words(kind, part)}` : undefined });
      piece.style.width = `${(100 * part) / most}%`;
      return piece;
    });
    const label = open ? make("button", { class: "name", title: name, on: { click: open } }, name) : make("span", { class: "name", title: name }, name);
    list.append(label, make("span", { class: "bar" }, ...pieces), make("span", { class: "amount" }, words(kind, total)));
  }
  const legend = keys.length > 0 ? make("p", { class: "legend" }, ...keys.map((key, at) => make("span", { class: `key part${at}` }, key))) : null;
  return card(title, list, legend);
}

/** Axes of a plot, linear or logarithmic, with a few ticks, and from values to places. */
function plotted(draw, box, x, y, colour) {
  const scale = (axis, from, to) => {
    const change = axis.log ? Math.log10 : (value) => value;
    const [low, high] = [change(axis.low), change(axis.high)];
    return (value) => from + ((change(value) - low) / (high - low || 1)) * (to - from);
  };
  const across = scale(x, box.left, box.right);
  const up = scale(y, box.bottom, box.top);
  draw.strokeStyle = colour("line");
  draw.fillStyle = colour("pale");
  draw.lineWidth = 1;
  draw.textAlign = "center";
  for (const tick of ticks(x)) {
    draw.beginPath();
    draw.moveTo(across(tick), box.top);
    draw.lineTo(across(tick), box.bottom);
    draw.stroke();
    draw.fillText(x.words(tick), across(tick), box.bottom + 14);
  }
  draw.textAlign = "right";
  for (const tick of ticks(y)) {
    draw.beginPath();
    draw.moveTo(box.left, up(tick));
    draw.lineTo(box.right, up(tick));
    draw.stroke();
    draw.fillText(y.words(tick), box.left - 5, up(tick) + 4);
  }
  draw.textAlign = "center";
  draw.fillText(x.label, (box.left + box.right) / 2, box.bottom + 30);
  return [across, up];
}

function ticks(axis) {
  if (axis.log && axis.doubling) {
    const range = Math.log2(axis.high / axis.low);
    const step = [1, 2, 3, 5, 10].find((powers) => range / powers <= 7) ?? 10;
    const from = Math.ceil(Math.log2(axis.low) / step) * step;
    return Array.from({ length: Math.floor((Math.log2(axis.high) - from) / step) + 1 }, (_, at) => 2 ** (from + at * step));
  }
  if (axis.log) {
    const [from, to] = [Math.ceil(Math.log10(axis.low)), Math.floor(Math.log10(axis.high))];
    const step = Math.max(1, Math.ceil((to - from) / 6));
    return Array.from({ length: Math.max(Math.floor((to - from) / step) + 1, 0) }, (_, at) => 10 ** (from + at * step));
  }
  const rough = (axis.high - axis.low) / 5 || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max([1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= rough), axis.whole ? 1 : 0);
  const found = [];
  for (let tick = Math.ceil(axis.low / step) * step; tick <= axis.high; tick += step) found.push(tick);
  return found;
}

/** Dots that name their row and open it. `dots` are {x, y, row, colour}; `lines` are lists of points. */
function scatter(page, title, dots, axes, lines = []) {
  if (dots.length === 0) return null;
  const [width, height] = [480, 300];
  const [canvas, draw] = canvasOf(width, height, `${title}: ${dots.length} models`);
  const colour = palette();
  const box = { left: 70, right: width - 12, top: 10, bottom: height - 38 };
  const [across, up] = plotted(draw, box, axes.x, axes.y, colour);
  draw.save();
  draw.beginPath();
  draw.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
  draw.clip();
  draw.lineWidth = 1.4;
  draw.strokeStyle = colour("ink");
  for (const line of lines) {
    draw.beginPath();
    line.forEach(([x, y], at) => (at ? draw.lineTo(across(x), up(y)) : draw.moveTo(across(x), up(y))));
    draw.stroke();
  }
  draw.globalAlpha = dots.length > 400 ? 0.45 : 0.8;
  for (const dot of dots) {
    draw.fillStyle = colour(dot.colour ?? "accent");
    draw.beginPath();
    draw.arc(across(dot.x), up(dot.y), dots.length > 400 ? 2 : 4, 0, 7);
    draw.fill();
  }
  draw.restore();
  const nearest = (event) => {
    const [x, y] = pointOn(canvas, event, width);
    let [best, distance] = [undefined, 100];
    for (const dot of dots) {
      const away = (across(dot.x) - x) ** 2 + (up(dot.y) - y) ** 2;
      if (away < distance) [best, distance] = [dot, away];
    }
    return best;
  };
  canvas.addEventListener("mousemove", (event) => {
    const dot = nearest(event);
    canvas.title = dot === undefined ? "" : `${page.name(dot.row)}: ${axes.x.words(dot.x)}, ${axes.y.words(dot.y)}`;
  });
  canvas.addEventListener("click", (event) => {
    const dot = nearest(event);
    if (dot !== undefined) page.open(dot.row);
  });
  return card(title, canvas);
}

function span(values, log) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return log ? { low: low / 1.6, high: high * 1.6 } : { low: Math.min(low, 0), high: high * 1.05 || 1 };
}

/** Values from the largest to the smallest: one dot a model. */
function ranked(page, title, rows, value, kind, log, lines = []) {
  const found = rows.map((row) => [row, value(row)]).filter(([, amount]) => amount !== null && (!log || amount > 0));
  found.sort((one, other) => other[1] - one[1]);
  const dots = found.map(([row, amount], at) => ({ x: at + 1, y: amount, row }));
  const across = { ...span([1, Math.max(dots.length, 2)], false), whole: true, label: "models, the largest first", words: (tick) => String(Math.round(tick)) };
  const levels = lines.map((level) => [[across.low, level], [across.high, level]]);
  const up = { ...span([...dots.map((dot) => dot.y), ...lines], log), log, doubling: kind === "bytes", label: "", words: (tick) => words(kind, tick) };
  return scatter(page, title, dots, { x: across, y: up }, levels);
}

/** How many values lie between powers of ten. */
function histogram(title, groups, label) {
  const all = groups.flatMap((group) => group.values);
  if (all.length === 0) return null;
  const logs = all.map((value) => Math.log10(Math.max(value, 1e-3)));
  const [low, high] = [Math.floor(Math.min(...logs) * 2) / 2, Math.ceil(Math.max(...logs) * 2) / 2 + 0.5];
  const count = Math.max(Math.round((high - low) * 4), 1);
  const heights = groups.map((group) => {
    const bins = new Array(count).fill(0);
    for (const value of group.values) bins[Math.min(count - 1, Math.floor(((Math.log10(Math.max(value, 1e-3)) - low) / (high - low)) * count))]++;
    return bins;
  });
  const [width, height] = [480, 300];
  const [canvas, draw] = canvasOf(width, height, `${title}: ${all.length} values`);
  const colour = palette();
  const box = { left: 46, right: width - 12, top: 10, bottom: height - 38 };
  const most = Math.max(...Array.from({ length: count }, (_, at) => heights.reduce((sum, bins) => sum + bins[at], 0)));
  const axes = [
    { low: 10 ** low, high: 10 ** high, log: true, label, words: (tick) => digits(tick, 2) },
    { low: 0, high: most * 1.08, whole: true, label: "", words: (tick) => String(Math.round(tick)) },
  ];
  const [across, up] = plotted(draw, box, axes[0], axes[1], colour);
  for (let at = 0; at < count; at++) {
    let below = 0;
    groups.forEach((group, number) => {
      const amount = heights[number][at];
      if (amount === 0) return;
      const from = across(10 ** (low + ((high - low) * at) / count));
      const to = across(10 ** (low + ((high - low) * (at + 1)) / count));
      draw.fillStyle = colour(group.colour);
      draw.fillRect(from + 0.5, up(below + amount), to - from - 1, up(below) - up(below + amount));
      below += amount;
    });
  }
  const legend = make("p", { class: "legend" }, ...groups.map((group) => make("span", { class: `key ${group.colour}` }, group.name)));
  return card(title, canvas, legend);
}
