/** Part 5: what could be guessed from the raw ratings, and from what is sent. */

import { el, fill, say, set, svg } from "../controls/dom";
import type { Actions } from "../model/actions";
import type { Guess, Model } from "../model/model";
import { categoryName, featureName, percent, texts } from "../texts";
import { onceLoaded } from "./later";
import { secretOf } from "./welcome";

const ARC = "M10 62 A50 50 0 0 1 110 62";
const LENGTH = 100;

/** The two dials and the auditor's figure. */
export function gaugesView(actions: Actions) {
  const lead = el("p", { class: "soft small" });
  const dials = el("div", { class: "stack" });
  const caution = el("p", { class: "small soft" });
  const measured = el("div", { class: "stack" });
  const element = el(
    "section",
    { class: "card stack", "aria-labelledby": "gauges-title" },
    el(
      "div",
      { class: "stack tight" },
      el("h2", { id: "gauges-title", tabindex: -1 }, texts.gauges.title),
      lead,
    ),
    dials,
    caution,
    measured,
  );
  let pairs: ReturnType<typeof pair>[] = [];
  let seen: Model["certificates"] | null = null;
  let features: Model["features"] | null = null;
  return {
    element,
    update(model: Model): void {
      if (features !== model.features) {
        features = model.features;
        say(lead, texts.gauges.lead(secretOf(features)));
        const several = features.length > 1;
        pairs = features.map(({ name }) => pair(several ? featureName(name) : ""));
        fill(dials, ...pairs.map(({ element }) => element));
      }
      // Nothing is known of guesses and certificates before the first check is done. What was
      // measured is of protected answers, and says nothing of those in the clear.
      dials.hidden = model.guesses.length === 0;
      caution.hidden = dials.hidden || model.inTheClear;
      measured.hidden = model.head === null || model.inTheClear;
      for (const [i, guess] of model.guesses.entries()) {
        pairs[i]?.update(guess, model.chosen?.[guess.feature.name]);
      }
      say(caution, texts.gauges.caution(model.guesses[0]?.values ?? true, model.hidesRated));
      if (model.head !== null && seen !== model.certificates) {
        seen = model.certificates;
        onceLoaded(
          ({ showMeasured }) => showMeasured(measured, model, actions),
          () => {
            seen = null;
          },
        );
      }
    },
  };
}

function pair(feature: string) {
  const wrong = el("p", { class: "small" });
  const raw = dial("raw", texts.gauges.raw);
  const sent = dial("sent", texts.gauges.sent);
  return {
    element: el(
      "div",
      { class: "stack tight" },
      feature !== "" && el("h3", { class: "feature" }, feature),
      el("div", { class: "gauges" }, raw.element, sent.element),
      wrong,
    ),
    update(guess: Guess, hers: string | undefined): void {
      const fromRaw = raw.update(guess, guess.raw);
      const fromSent = sent.update(guess, guess.sent);
      say(wrong, wrongOf(guess.feature.name, fromRaw, fromSent, hers));
      wrong.hidden = wrong.textContent === "";
    },
  };
}

/** One dial: empty at an even guess over the categories, full at certainty. */
function dial(kind: "raw" | "sent", name: string) {
  const value = svg("path", { class: "dial value", d: ARC, pathLength: LENGTH });
  value.setAttribute("stroke-dasharray", `${LENGTH} ${LENGTH * 2}`);
  const number = el("p", { class: "number" });
  const of = el("p", { class: "of" });
  const low = el("span");
  const element = el(
    "figure",
    { class: `gauge ${kind}` },
    el("figcaption", {}, name),
    svg(
      "svg",
      { viewBox: "0 0 120 68", "aria-hidden": "true" },
      svg("path", { class: "dial track", d: ARC }),
      value,
    ),
    number,
    of,
    el("p", { class: "ends soft" }, low, el("span", {}, texts.gauges.certain)),
  );
  return {
    element,
    /** Draw the shares; return the category that is guessed, if one is. */
    update({ feature }: Guess, shares: readonly number[]): string | undefined {
      const most = Math.max(...shares);
      const even = 1 / shares.length;
      const guess = feature.categories[shares.indexOf(most)] ?? "";
      const undecided = most - even < 0.005;
      const filled = Math.max(0, (most - even) / (1 - even));
      // A round cap of no length would still paint a dot.
      set(value, "visibility", filled < 0.01 ? "hidden" : "visible");
      set(value, "stroke-dashoffset", (LENGTH * (1 - filled)).toFixed(2));
      say(number, percent(most));
      say(of, undecided ? texts.gauges.even : texts.gauges.sure(categoryName(feature.name, guess)));
      say(low, texts.gauges.chance(percent(even)));
      return undecided ? undefined : guess;
    },
  };
}

/** What to make of guesses that name another category than hers; nothing if none does. */
function wrongOf(
  feature: string,
  fromRaw: string | undefined,
  fromSent: string | undefined,
  hers: string | undefined,
): string {
  const isWrong = (guess: string | undefined) => guess !== undefined && hers && guess !== hers;
  const { wrongRaw, wrongSent } = texts.gauges;
  const said = [];
  if (isWrong(fromRaw)) said.push(wrongRaw(categoryName(feature, fromRaw!)));
  if (isWrong(fromSent)) said.push(wrongSent(categoryName(feature, fromSent!), said.length > 0));
  return said.join(" ");
}
