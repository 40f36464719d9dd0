/** Part 6: recommendations, ranked in this browser. */

import { el, keyed, say } from "../dom";
import { icons } from "../icons";
import type { Model, Recommended } from "../model";
import { decimal } from "../scale";
import { texts } from "../texts";

const words = texts.foryou;
const STEP = 20;

/** The ranked list with predicted ratings and their uncertainty. */
export function forYouView(present: () => Model) {
  let shown = STEP;
  let last: Model["recommended"] = null;
  const rows = new Map<string, HTMLElement>();
  const lead = el("p", { class: "soft" });
  const list = el("ol", { class: "recommended" });
  const surer = el("p", { class: "soft small" });
  const more = el("button", {
    type: "button",
    class: "button",
    on: {
      click: () => {
        shown += STEP;
        last = null;
        update(present());
      },
    },
  });
  say(more, words.more);
  const toRate = el("a", { class: "button main", href: "#rate" });
  const element = el(
    "section",
    { class: "card stack", "aria-labelledby": "foryou-title" },
    el(
      "div",
      { class: "stack tight" },
      el("h2", { id: "foryou-title", tabindex: -1 }, words.title),
      lead,
      surer,
    ),
    list,
    el("div", { class: "row" }, more, toRate),
  );

  function update(model: Model): void {
    const none = model.recommended === null;
    say(lead, none ? words.empty : `${words.lead} ${words.basis(model.answers)}`);
    say(toRate, none ? words.toRate : words.again);
    say(surer, none ? "" : sureness(model));
    list.hidden = none;
    more.hidden = none || shown >= (model.recommended?.length ?? 0);
    if (model.recommended === last) return;
    last = model.recommended;
    keyed(
      list,
      rows,
      (model.recommended ?? [])
        .slice(0, shown)
        .map((recommendation, i) => ({ recommendation, rank: i + 1 })),
      ({ recommendation }) => recommendation.title.item,
      () => el("li"),
      (row, { recommendation, rank }) =>
        row.replaceChildren(...recommended(recommendation, rank, model.levels)),
    );
  }

  return { element, update };
}

function sureness(model: Model): string {
  if (!model.surer) return words.better;
  const { before, now } = model.surer;
  return `${words.sure(decimal2(before), decimal2(now))} ${words.better}`;
}

function decimal2(value: number): string {
  return (value / 2 ** 16).toFixed(2);
}

function recommended(line: Recommended, rank: number, levels: readonly number[]): HTMLElement[] {
  const value = decimal(line.shown);
  const deviation = decimal(line.deviation);
  return [
    el("span", { class: "rank", "aria-hidden": "true" }, String(rank)),
    el(
      "span",
      { class: "name" },
      line.title.name,
      line.title.year !== "" && el("span", { class: "year" }, ` ${line.title.year}`),
    ),
    el(
      "span",
      { class: "predicted" },
      el("span", { class: "unseen" }, words.described(value, deviation)),
      el("span", { class: "value", "aria-hidden": "true" }, value, icons.star()),
      spanOf(line, levels),
      el("span", { class: "soft small", "aria-hidden": "true" }, `± ${deviation}`),
    ),
  ];
}

/** The prediction on the scale, with one standard deviation to both sides. */
function spanOf({ shown, deviation }: Recommended, levels: readonly number[]): HTMLElement {
  const low = levels[0] ?? 0;
  const high = levels.at(-1) ?? 1;
  const at = (value: number) => Math.min(Math.max(((value - low) / (high - low)) * 100, 0), 100);
  const between = el("span", { class: "between" });
  between.style.left = `${at(shown - deviation)}%`;
  between.style.right = `${100 - at(shown + deviation)}%`;
  const dot = el("span", { class: "dot" });
  dot.style.left = `${at(shown)}%`;
  return el(
    "span",
    { class: "span", "aria-hidden": "true" },
    el("span", { class: "axis" }),
    between,
    dot,
  );
}
