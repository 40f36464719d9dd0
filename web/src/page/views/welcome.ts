/** Part 1 and 2: what this is, and the choice of what to protect. */

import type { Actions } from "../actions";
import { add, el, fill, say } from "../dom";
import { icons } from "../icons";
import type { FeatureChoice, Measured, Model } from "../model";
import { categoryName, featureName, listed, texts } from "../texts";
import { deviceButton, files } from "./files";

const words = texts.welcome;

/** "gender", or "gender and age". */
export function secretOf(features: readonly FeatureChoice[]): string {
  return listed(features.map(({ name }) => featureName(name)));
}

/** The first screen. */
export function welcomeView(actions: Actions): {
  element: HTMLElement;
  update(model: Model): void;
} {
  const element = el("section", { class: "welcome" });
  const lead = el("p", { class: "lead" });
  const measured = el("p", { class: "soft small" });
  let drawn: readonly FeatureChoice[] | null = null;
  return {
    element,
    update(model) {
      if (model.phase !== "welcome") return;
      say(lead, words.lead(secretOf(model.features), model.hidesRated));
      say(measured, model.head ? measuredText(model.certificates) : "");
      if (drawn === model.features) return;
      drawn = model.features;
      fill(
        element,
        el("h1", { tabindex: -1 }, words.title),
        lead,
        measured,
        choiceForm(model.features, null, words.start, (names) => actions.choose(names)),
        noneCard(model, actions),
        deviceButton(actions, files.have),
        el("p", { class: "soft small" }, words.nothingStored),
      );
    },
  };
}

/** For somebody who is in none of the categories, or does not want to say even here. */
function noneCard(model: Model, actions: Actions): HTMLElement {
  const secret = secretOf(model.features);
  return el(
    "details",
    { class: "card stack" },
    el("summary", {}, words.none),
    el("p", {}, words.noneWhy(secret)),
    el("p", {}, words.noneEveryone),
    el(
      "button",
      { type: "button", class: "button", on: { click: () => actions.sayNone(true) } },
      words.showEveryone,
    ),
    el("p", { class: "soft small" }, words.noneClear(secret)),
  );
}

/** The best titles for everyone: nothing was said, and nothing is sent. */
export function everyoneView(actions: Actions) {
  const list = el("ol", { class: "everyone" });
  const element = el(
    "section",
    { class: "card stack", "aria-labelledby": "everyone-title" },
    el("h1", { id: "everyone-title", tabindex: -1 }, words.everyone),
    el("p", { class: "soft" }, words.everyoneLead),
    list,
    el(
      "button",
      { type: "button", class: "button", on: { click: () => actions.sayNone(false) } },
      words.everyoneBack,
    ),
  );
  let drawn: Model["everyone"] = null;
  return {
    element,
    update({ everyone }: Model): void {
      if (drawn === everyone) return;
      drawn = everyone;
      fill(
        list,
        ...(everyone ?? []).map(({ name, year }) => el("li", {}, `${name} ${year}`.trim())),
      );
    },
  };
}

/** What was measured of all titles together, by whom, and against whom. */
function measuredText(certificates: readonly Measured[]): string {
  const trusted = certificates.find((certificate) => certificate.trusted);
  const shown = trusted ?? certificates[0];
  if (!shown) return words.notMeasured;
  const auc = shown.auc.toFixed(2);
  const against = texts.gauges.against(shown.adversary, shown.panel, shown.outsiders);
  return (trusted ? words.measured : words.claimed)(shown.auditor, auc, against);
}

/** A dialog to change the choice later. */
export function changeDialog(model: Model, actions: Actions): void {
  const dialog = el("dialog", { "aria-label": words.change });
  const close = () => dialog.close();
  const form = choiceForm(model.features, model.chosen, words.keep, (names) => {
    actions.choose(names);
    close();
  });
  form.append(
    el("button", { type: "button", class: "button", on: { click: close } }, words.cancel),
  );
  add(dialog, form);
  form.prepend(el("p", { class: "soft small" }, words.changeNote));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function choiceForm(
  features: readonly FeatureChoice[],
  chosen: Readonly<Record<string, string>> | null,
  done: string,
  choose: (names: Record<string, string>) => void,
): HTMLFormElement {
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const names: Record<string, string> = { ...chosen };
  const form = el(
    "form",
    {
      class: "card stack",
      novalidate: true,
      autocomplete: "off",
      on: {
        submit: (event) => {
          event.preventDefault();
          const missing = features.find(({ name }) => names[name] === undefined);
          problem.hidden = missing === undefined;
          if (missing) problem.textContent = words.missing(featureName(missing.name));
          else choose(names);
        },
      },
    },
    el("h2", {}, words.choose),
    features.length > 1 && el("p", { class: "soft small" }, words.several),
    ...features.map((feature, i) => choices(feature, i, names)),
    el("p", { class: "kept" }, icons.lock(), el("span", {}, words.stays)),
    problem,
    el("button", { type: "submit", class: "button main wide" }, done),
  );
  return form;
}

function choices(
  feature: FeatureChoice,
  index: number,
  names: Record<string, string>,
): HTMLFieldSetElement {
  return el(
    "fieldset",
    {},
    el("legend", {}, words.legend(featureName(feature.name))),
    el(
      "div",
      { class: "choices" },
      ...feature.categories.map((category) =>
        el(
          "label",
          {},
          el("input", {
            type: "radio",
            name: `feature-${index}`,
            checked: names[feature.name] === category,
            on: {
              change: () => {
                names[feature.name] = category;
              },
            },
          }),
          el("span", {}, categoryName(feature.name, category)),
        ),
      ),
    ),
  );
}
