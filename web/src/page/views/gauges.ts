/** Part 5: what could be guessed from the raw ratings, and from what is sent. */

import type { Actions } from "../actions";
import { el, fill, say, set, svg } from "../dom";
import type { Guess, Measured, Model } from "../model";
import { percent } from "../scale";
import { categoryName, featureName, texts } from "../texts";
import { secretOf } from "./welcome";

const words = texts.gauges;
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
      el("h2", { id: "gauges-title", tabindex: -1 }, words.title),
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
        say(lead, words.lead(secretOf(features)));
        const several = features.length > 1;
        pairs = features.map(({ name }) => pair(several ? featureName(name) : ""));
        fill(dials, ...pairs.map(({ element }) => element));
      }
      // Nothing is known of guesses and certificates before the first check is done.
      dials.hidden = caution.hidden = model.guesses.length === 0;
      measured.hidden = model.head === null;
      for (const [i, guess] of model.guesses.entries()) pairs[i]?.update(guess);
      say(caution, words.caution(model.guesses[0]?.values ?? true, model.hidesRated));
      if (seen !== model.certificates) {
        seen = model.certificates;
        showMeasured(measured, model, actions);
      }
    },
  };
}

function pair(feature: string) {
  const raw = dial("raw", words.raw);
  const sent = dial("sent", words.sent);
  return {
    element: el(
      "div",
      { class: "stack tight" },
      feature !== "" && el("h3", { class: "feature" }, feature),
      el("div", { class: "gauges" }, raw.element, sent.element),
    ),
    update(guess: Guess): void {
      raw.update(guess, guess.raw);
      sent.update(guess, guess.sent);
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
    el("p", { class: "ends soft" }, low, el("span", {}, words.certain)),
  );
  return {
    element,
    update({ feature }: Guess, shares: readonly number[]): void {
      const most = Math.max(...shares);
      const even = 1 / shares.length;
      const guess = feature.categories[shares.indexOf(most)] ?? "";
      const undecided = most - even < 0.005;
      const filled = Math.max(0, (most - even) / (1 - even));
      // A round cap of no length would still paint a dot.
      set(value, "visibility", filled < 0.01 ? "hidden" : "visible");
      set(value, "stroke-dashoffset", (LENGTH * (1 - filled)).toFixed(2));
      say(number, percent(most));
      say(of, undecided ? words.even : words.sure(categoryName(feature.name, guess)));
      say(low, words.chance(percent(even)));
    },
  };
}

function showMeasured(parent: HTMLElement, model: Model, actions: Actions): void {
  fill(parent);
  for (const measured of model.certificates) parent.append(certificate(measured, model, actions));
  if (model.certificates.length === 0) {
    parent.append(
      el(
        "div",
        { class: "measured none" },
        el("h3", {}, words.nobody),
        el("p", { class: "small soft" }, words.nobodyMore),
      ),
    );
  }
}

/** What a confirmed auditor measured; from anybody else it is a claim, and gets no picture. */
function certificate(measured: Measured, model: Model, actions: Actions): HTMLElement {
  if (!measured.trusted) return claim(measured, actions);
  const two = model.features.length === 1 && model.features[0].categories.length === 2;
  // Below 0.5 the attack is right when its sign is flipped: it leaks as much.
  const leak = Math.max(measured.auc, 1 - measured.auc);
  return el(
    "div",
    { class: "measured" },
    el(
      "div",
      { class: "headline" },
      el("h3", {}, words.measured),
      el("p", { class: "auc" }, words.auc(figure(measured.auc))),
    ),
    leakBar(measured),
    el("p", { class: "small" }, two ? words.pair((leak * 100).toFixed(0)) : words.several),
    el(
      "p",
      { class: "small" },
      words.against(measured.adversary, measured.panel, measured.outsiders),
    ),
    measured.named !== undefined &&
      el("p", { class: "small" }, words.named((measured.named * 100).toFixed(1))),
    whose(measured, actions),
  );
}

function claim(measured: Measured, actions: Actions): HTMLElement {
  return el(
    "div",
    { class: "measured none" },
    el("h3", {}, words.claimed),
    el("p", { class: "small soft" }, words.claimedMore),
    whose(measured, actions),
  );
}

/** Whose figure it is, how it was come by, and whether she trusts the key. */
function whose(measured: Measured, actions: Actions): HTMLElement {
  const { low, high, nullLow, nullHigh } = measured;
  return el(
    "details",
    { class: "small" },
    el("summary", {}, words.whose(measured.auditor, measured.trusted)),
    el(
      "p",
      { class: "soft" },
      !measured.trusted && `${words.claims(figure(measured.auc))} `,
      words.attack(measured.attack),
      " ",
      words.interval(figure(low), figure(high), figure(nullLow), figure(nullHigh)),
      measured.trusted && ` ${words.drawn}`,
    ),
    el("p", { class: "mono" }, grouped(measured.key)),
    !measured.trusted && el("p", {}, words.stranger),
    el(
      "button",
      {
        type: "button",
        class: "link",
        on: { click: () => actions.trust(measured.key, !measured.trusted) },
      },
      measured.trusted ? words.withdraw : words.confirm,
    ),
  );
}

function figure(share: number): string {
  return share.toFixed(2);
}

/** A bar from 0.5 to 1 with the interval, and what shuffled labels give. */
function leakBar(measured: Measured): HTMLElement {
  const at = (share: number) => Math.min(Math.max((share - 0.5) * 200, 0), 100);
  const folded = (low: number, high: number): [number, number] =>
    low >= 0.5 ? [low, high] : [high >= 0.5 ? 0.5 : 1 - high, Math.max(high, 1 - low)];
  const between = (name: string, low: number, high: number) => {
    const bar = el("span", { class: name });
    bar.style.left = `${at(low)}%`;
    bar.style.width = `${Math.max(at(high) - at(low), 0.5)}%`;
    return bar;
  };
  const dot = el("span", { class: "dot" });
  dot.style.left = `${at(Math.max(measured.auc, 1 - measured.auc))}%`;
  const said = words.figure(figure(measured.auc), figure(measured.low), figure(measured.high));
  return el(
    "div",
    { role: "img", "aria-label": said },
    el(
      "div",
      { class: "leak" },
      el("span", { class: "axis" }),
      between("null", ...folded(measured.nullLow, measured.nullHigh)),
      between("between", ...folded(measured.low, measured.high)),
      dot,
    ),
    el("p", { class: "ends soft" }, el("span", {}, words.blind), el("span", {}, words.sureEnd)),
  );
}

/** A long hexadecimal text in groups that can be read aloud. */
export function grouped(hex: string, groups = 16): string {
  return (hex.match(/.{1,4}/g) ?? []).slice(0, groups).join(" ");
}
