/** The view "Sizes": the free sizes of each target as sliders, numbers and presets; each change is sent at once. */

import type { FreeSize, TargetSizes } from "../../../shared_schema/generated/wire.js";
import { amount } from "../shared/amounts.js";
import { button, element } from "../shared/dom.js";
import { StateView } from "../shared/stateView.js";
import { hearOfCells } from "../shared/hearOfCells.js";
import { setTranslations, t } from "../shared/words.js";
import type { ToHost, ToPage } from "./messages.js";
import { lastStep, presets, sizeAt, stepOf } from "./scale.js";

declare function acquireVsCodeApi(): { postMessage(message: ToHost): void };

/** One size on show; what the user is just moving is not taken back by an older answer. */
interface Control {
  readonly slider: HTMLInputElement;
  readonly field: HTMLInputElement;
  readonly note: HTMLElement;
}

class TargetView {
  readonly element: HTMLElement;
  private readonly controls = new Map<string, Control>();
  private readonly summary = element("p", { class: "summary", role: "status" });
  private readonly reset: HTMLButtonElement;
  private readonly write: HTMLButtonElement;
  private shown: TargetSizes;

  constructor(shown: TargetSizes, private readonly post: (message: ToHost) => void) {
    this.shown = shown;
    this.reset = button(t("Reset"), t("All sizes of {0} as usual again", shown.target), () => { this.set({}); });
    this.write = button(t("Write as inputs…"), t("Write these sizes as the inputs of {0}", shown.target), () => { this.post({ type: "write", target: this.shown.target, inputs: this.shown.inputs ?? "" }); });
    this.element = element("section", { "aria-label": shown.target }, element("h2", {}, shown.target), this.summary, ...shown.sizes.map((size) => this.row(size)), element("div", { class: "actions" }, this.reset, this.write));
    this.show(shown);
  }

  /** Whether these are the same target and sizes, so that what is on show only takes other values. */
  fits({ target, sizes }: TargetSizes): boolean {
    return target === this.shown.target && sizes.length === this.controls.size && sizes.every(({ name }) => this.controls.has(name));
  }

  show(shown: TargetSizes): void {
    this.shown = shown;
    for (const size of shown.sizes) {
      const control = this.controls.get(size.name);
      if (!control) continue;
      const { slider, field, note } = control;
      slider.max = String(lastStep(size.value, size.usual, size.maximum));
      if (document.activeElement !== slider) slider.value = String(stepOf(size.value));
      if (document.activeElement !== field) field.value = size.known === false ? "" : String(size.value);
      slider.setAttribute("aria-valuetext", size.known === false ? t("any") : String(size.value));
      note.textContent = size.given === true ? t("set by you") : size.known === false ? t("any size") : t("as the inputs are");
      note.classList.toggle("given", size.given === true);
    }
    this.reset.disabled = !shown.sizes.some(({ given }) => given === true);
    this.write.disabled = (shown.inputs ?? "") === "";
    this.summary.replaceChildren(...summaryOf(shown));
  }

  private row(size: FreeSize): HTMLElement {
    const { name, dimensions = [] } = size;
    const id = `size-${this.shown.target}-${name}`;
    const slider = element<"input">("input", { id, type: "range", min: 0, max: lastStep(size.value, size.usual, size.maximum), step: 1, oninput: () => { this.change(name, sizeAt(Number(slider.value))); } });
    const field = element<"input">("input", { type: "number", min: 1, step: 1, placeholder: t("any"), "aria-label": t("{0}, as a number", name), onchange: () => { this.typed(name, field); } });
    const note = element("span", { class: "note" });
    this.controls.set(name, { slider, field, note });
    const tries = presets(size.usual, size.maximum).map((value) => button(String(value), t("{0}: {1}", name, value), () => { this.change(name, value); }, { class: "preset" }));
    return element("div", { class: "size" },
      element("label", { for: id }, element("code", {}, name), element("span", { class: "where" }, dimensions.join(", "))), note,
      element("div", { class: "value" }, slider, field), element("div", { class: "presets", role: "group", "aria-label": t("Sizes of {0} to try", name) }, ...tries));
  }

  private typed(name: string, field: HTMLInputElement): void {
    const value = Number(field.value);
    const usable = field.value !== "" && Number.isInteger(value) && value >= 1;
    field.setAttribute("aria-invalid", String(!usable));
    if (usable) this.change(name, value);
  }

  private change(name: string, value: number): void {
    const control = this.controls.get(name);
    if (control) [control.field.value, control.slider.value] = [String(value), String(stepOf(value))];
    control?.field.removeAttribute("aria-invalid");
    const given = this.shown.sizes.filter((size) => size.given === true).map((size) => [size.name, size.value] as const);
    this.set({ ...Object.fromEntries(given), [name]: value });
  }

  private set(sizes: Readonly<Record<string, number>>): void {
    // What is set is known here at once: the next change adds to it, whenever the answer comes.
    const sizesNow = this.shown.sizes.map((size) => ({ ...size, given: size.name in sizes, value: sizes[size.name] ?? size.usual }));
    this.shown = { ...this.shown, sizes: sizesNow };
    this.post({ type: "set", target: this.shown.target, sizes });
  }
}

/** `3 findings · peak memory 1.2 GiB of 128 GB`, and whether the code is being run for it. */
function summaryOf({ findings, peak_bytes: peak, peak_exact: exact = true, device_bytes: device, at_once: atOnce }: TargetSizes): (Node | string)[] {
  const found = findings === 0 ? t("no findings") : findings === 1 ? t("1 finding") : t("{0} findings", findings);
  if (peak == null) return [found, " · ", t("being captured with these sizes")];
  const memory = device == null ? amount(peak) : t("{0} of {1}", amount(peak), amount(device));
  const over = device != null && peak > device;
  const said = exact ? t("peak memory {0}", memory) : t("peak memory at least {0}", memory);
  return [found, " · ", over ? element("strong", {}, said) : said, ...(atOnce ? [] : [" · ", t("captured with these sizes")])];
}

function start(): void {
  const api = acquireVsCodeApi();
  const translations = document.getElementById("translations")?.textContent ?? "";
  if (translations.trim() !== "") setTranslations(JSON.parse(translations) as Record<string, string>);
  hearOfCells();
  const post = (message: ToHost): void => { api.postMessage(message); };
  const content = element("main");
  const state = new StateView({ cancel: () => { post({ type: "cancel" }); }, retry: () => { post({ type: "retry" }); }, reveal: (place) => { post({ type: "reveal", place, focus: true }); } });
  document.body.append(state.element, content);
  let views: TargetView[] = [];
  const show = (targets: readonly TargetSizes[], selected: string | undefined): void => {
    const same = views.length === targets.length && targets.every((target, index) => views[index]?.fits(target));
    if (same) targets.forEach((target, index) => { views[index]?.show(target); });
    else {
      views = targets.map((target) => new TargetView(target, post));
      content.replaceChildren(...views.map((view) => view.element));
    }
    if (selected !== undefined) views.find((view) => view.element.getAttribute("aria-label") === selected)?.element.querySelector("input")?.focus();
  };
  addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    if (data.type === "state") {
      if (data.state.kind === "empty" || data.state.kind === "failed") show([], undefined);
      state.show(data.state, content.childElementCount > 0);
    } else show(data.targets, data.selected);
  });
  post({ type: "ready" });
}

start();
