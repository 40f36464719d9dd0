/** What she demands of the service: a witness, a certificate; as a card, and a dialog to change it. */

import { addressOf } from "../../../index";
import { el, fill } from "../../controls/dom";
import type * as english from "../../languages/later/en";
import type { Actions } from "../../model/actions";
import type { Demands, Model } from "../../model/model";
import { languageOf, readByHer, texts } from "../../texts";

const LANGUAGES = import.meta.glob<typeof english.demands>("../../languages/later/*.ts", {
  eager: true,
  import: "demands",
});
const words = languageOf(Object.values(LANGUAGES), readByHer());

const KEY = /^[0-9a-f]{64}$/;

/** What is demanded now. */
export function demandsCard(actions: Actions) {
  const lines = el("div", { class: "stack tight" });
  let present: Model | null = null;
  const change = el(
    "button",
    {
      type: "button",
      class: "button",
      on: { click: () => present && demandsDialog(present, actions) },
    },
    texts.notices.demands,
  );
  const element = el(
    "section",
    { class: "card stack" },
    el("h3", {}, words.title),
    lines,
    el("div", { class: "row" }, change),
  );
  let seen: Demands | null = null;
  return {
    element,
    update(model: Model): void {
      present = model;
      if (seen === model.demands || !model.demands) return;
      seen = model.demands;
      const { witness, hours, requireCertificate, mostAuc, mostLeak } = seen;
      fill(
        lines,
        el("p", {}, witness ? words.witnessed(witness, hours) : words.notWitnessed),
        el("p", {}, requireCertificate ? words.certified(mostAuc) : words.notCertified),
        mostLeak !== null && el("p", {}, words.bounded(mostLeak)),
      );
    },
  };
}

/** Change it; the service is then checked again. */
export function demandsDialog(model: Model, actions: Actions): void {
  const demands = model.demands;
  if (!demands) return;
  const named = [...new Set([...model.witnesses, ...(demands.witness ? [demands.witness] : [])])];
  const witness = model.anyWitness ? typed(demands) : chosen(demands, named);
  const witnessKey = el("input", {
    type: "text",
    id: "demands-witness-key",
    value: demands.witnessKey,
    spellcheck: "false",
    autocomplete: "off",
  });
  const hours = number("demands-hours", demands.hours, { min: 0, max: 8760, step: 1 });
  const auditors = el(
    "textarea",
    { id: "demands-auditors", rows: 2, spellcheck: "false", autocomplete: "off" },
    demands.auditors.join("\n"),
  );
  const required = el("input", {
    type: "checkbox",
    id: "demands-required",
    checked: demands.requireCertificate,
  });
  const most = number("demands-most", demands.mostAuc, { min: 0.5, max: 1, step: 0.01 });
  const leak = number("demands-leak", demands.mostLeak ?? "", { min: 0.5, max: 1, step: 0.01 });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const dialog = el("dialog", { "aria-labelledby": "demands-title" });
  const keep = (event: Event) => {
    event.preventDefault();
    const keys = auditors.value.split(/\s+/).filter(Boolean);
    const address = addressIn(witness.value);
    const key = witnessKey.value.trim();
    const bad =
      address === undefined
        ? words.badWitness
        : (problemOf(keys, required.checked, hours.valueAsNumber, most.valueAsNumber) ??
          (key !== "" && !KEY.test(key) ? words.badKey : undefined) ??
          (leak.value !== "" && !isAuc(leak.valueAsNumber) ? words.badLeak : undefined));
    problem.hidden = bad === undefined;
    problem.textContent = bad ?? "";
    if (bad !== undefined) return;
    dialog.close();
    actions.demand({
      ...demands,
      witness: address || null,
      witnessKey: address ? key : "",
      withoutWitness: !address && (model.anyWitness || named.length > 0),
      hours: hours.valueAsNumber,
      auditors: keys,
      requireCertificate: required.checked,
      mostAuc: most.valueAsNumber,
      mostLeak: leak.value === "" ? null : leak.valueAsNumber,
    });
  };
  fill(
    dialog,
    el(
      "form",
      { class: "stack", novalidate: true, on: { submit: keep } },
      el("h2", { id: "demands-title" }, words.title),
      field(words.witness, witness, noteOf(model, named)),
      field(words.witnessKey, witnessKey, words.witnessKeyNote),
      field(words.hours, hours, words.hoursNote),
      el("label", { class: "check" }, required, words.require),
      field(words.most, most, words.mostNote),
      field(words.auditors, auditors, words.auditorsNote),
      field(words.leak, leak, words.leakNote),
      problem,
      el(
        "div",
        { class: "row" },
        el("button", { type: "submit", class: "button main" }, words.keep),
        el(
          "button",
          { type: "button", class: "button", on: { click: () => dialog.close() } },
          words.cancel,
        ),
      ),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** One of those that the service names. */
function chosen(demands: Demands, named: readonly string[]): HTMLSelectElement {
  return el(
    "select",
    { id: "demands-witness" },
    ...named.map((address) =>
      el("option", { value: address, selected: address === demands.witness }, address),
    ),
    el("option", { value: "", selected: demands.witness === null }, words.none),
  );
}

/** Any address. */
function typed(demands: Demands): HTMLInputElement {
  const value = demands.witness ?? "";
  return el("input", { type: "text", id: "demands-witness", value, inputmode: "url" });
}

function noteOf(model: Model, named: readonly string[]): string {
  if (model.anyWitness) return words.anyWitness;
  return named.length > 0 ? words.witnessNote : words.noneNamed;
}

/** The address in one spelling, nothing if there is none, and undefined if it is bad. */
function addressIn(text: string): string | undefined {
  try {
    return text.trim() === "" ? "" : addressOf(text);
  } catch {
    return undefined;
  }
}

function isAuc(most: number): boolean {
  return most >= 0.5 && most <= 1;
}

function problemOf(keys: string[], required: boolean, hours: number, most: number) {
  if (!(hours >= 0 && hours <= 8760)) return words.badHours;
  if (!isAuc(most)) return words.badMost;
  if (keys.some((key) => !KEY.test(key))) return words.badKey;
  if (required && keys.length === 0) return words.noAuditor;
  return undefined;
}

function number(id: string, value: number | "", bounds: Record<string, number>): HTMLInputElement {
  return el("input", { type: "number", id, value, inputmode: "decimal", ...bounds });
}

function field(label: string, control: HTMLElement, note: string): HTMLElement {
  const described = `${control.id}-note`;
  control.setAttribute("aria-describedby", described);
  return el(
    "div",
    { class: "stack tight field" },
    el("label", { for: control.id }, label),
    control,
    el("p", { class: "soft small", id: described }, note),
  );
}
