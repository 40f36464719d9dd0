/** Part 1 and 2: what this is, and the choice of what to protect. */

import { el, fill, say } from "../controls/dom";
import { icons } from "../controls/icons";
import type { Actions } from "../model/actions";
import type { FeatureChoice, Model } from "../model/model";
import { categoryName, featureName, groupName, listed, texts } from "../texts";
import { deviceButton } from "./ledger/files";

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
  const example = el("p");
  const measured = el("p", { class: "soft small" });
  let drawn: readonly FeatureChoice[] | null = null;
  return {
    element,
    update(model) {
      if (model.phase !== "welcome") return;
      say(lead, texts.welcome.lead(secretOf(model.features), model.hidesRated));
      say(example, exampleText(model));
      example.hidden = example.textContent === "";
      say(measured, model.head ? measuredText(model) : "");
      measured.hidden = measured.textContent === "";
      if (drawn === model.features) return;
      drawn = model.features;
      fill(
        element,
        el("h1", { tabindex: -1 }, texts.welcome.title),
        lead,
        el(
          "section",
          { class: "giveaway stack tight" },
          el("h2", {}, texts.welcome.whyTitle),
          el("p", {}, texts.welcome.why),
          example,
        ),
        measured,
        choiceForm(model.features, null, texts.welcome.start, (names) => actions.choose(names)),
        el(
          "button",
          { type: "button", class: "button wide", on: { click: () => actions.sayNone(true) } },
          texts.welcome.none,
        ),
        deviceButton(actions),
        el("p", { class: "soft small" }, texts.welcome.nothingStored),
      );
    },
  };
}

/** What was measured of all titles together, by whom, and against whom. */
function measuredText({ certificates, features }: Model): string {
  const trusted = certificates.find((certificate) => certificate.trusted);
  const shown = trusted ?? certificates[0];
  if (!shown) return texts.welcome.notMeasured;
  const two = features.length === 1 && features[0]?.categories.length === 2;
  const figure = texts.welcome.figure(shown.auc, two);
  const against = texts.gauges.against(shown.adversary, shown.panel, shown.outsiders);
  return (trusted ? texts.welcome.measured : texts.welcome.claimed)(shown.auditor, figure, against);
}

/** How one title of this site tells groups apart; nothing before that is known. */
function exampleText({ example }: Model): string {
  if (!example) return "";
  const { title, feature, more, fewer, times } = example;
  const names = [more, fewer].map((category) => groupName(feature, category)) as [string, string];
  return texts.welcome.example(title.name, ...names, times.toFixed(1));
}

/** The choice of a category for each feature. */
export function choiceForm(
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
          if (missing) problem.textContent = texts.welcome.missing(featureName(missing.name));
          else choose(names);
        },
      },
    },
    el("h2", {}, texts.welcome.choose),
    features.length > 1 && el("p", { class: "soft small" }, texts.welcome.several),
    ...features.map((feature, i) => choices(feature, i, names)),
    el("p", { class: "kept" }, icons.lock(), el("span", {}, texts.welcome.stays)),
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
    el("legend", {}, texts.welcome.legend(featureName(feature.name))),
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
