// How values read, as `rules/amounts.py` and `survey_columns.py` have it. Nothing here knows the page.

function digits(value, count) {
  return String(Number(value.toPrecision(count)));
}

function inBytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${digits(value, 4)} ${units[unit]}`;
}

function inSeconds(value) {
  for (const [factor, unit] of [[1, "s"], [1e-3, "ms"], [1e-6, "µs"]]) {
    if (value >= factor) return `${digits(value / factor, 3)} ${unit}`;
  }
  return `${digits(value / 1e-9, 3)} ns`;
}

function inThousands(value) {
  for (const [factor, prefix] of [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (value >= factor) return `${digits(value / factor, 4)} ${prefix}`;
  }
  return digits(value, 4);
}

const WORDS = {
  text: String,
  count: (value) => value.toLocaleString("en"),
  some: (value) => (value ? value.toLocaleString("en") : "·"),
  thousands: inThousands,
  bytes: inBytes,
  seconds: inSeconds,
  percent: (value) => (value === 0 ? "·" : value >= 0.1 ? `${Math.round(value * 100)}%` : `${(value * 100).toFixed(1)}%`),
  times: (value) => `${value.toFixed(2)}×`,
};

function words(kind, value) {
  return value === null || value === undefined ? "" : WORDS[kind](value);
}

/** An element with attributes and children; text is text and never markup. */
function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
