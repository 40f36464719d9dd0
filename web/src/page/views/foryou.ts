/** Part 6: recommendations, ranked in this browser. */

import { el, fill, keyed, say } from "../controls/dom";
import { icons } from "../controls/icons";
import { decimal } from "../controls/scale";
import type { Actions } from "../model/actions";
import type { Model, Recommended } from "../model/model";
import { aside, type Title } from "../model/titles";
import { texts } from "../texts";
import { answerOf } from "./answer";

const STEP = 20;

/** The ranked list with predicted ratings and their uncertainty. */
export function forYouView(actions: Actions, present: () => Model) {
  let shown = STEP;
  const elements = new Map<string, HTMLElement>();
  const rows = new WeakMap<HTMLElement, Row>();
  const lead = el("p", { class: "soft" });
  const list = el("ol", { class: "recommended" });
  const surer = el("p", { class: "soft small" });
  const more = el("button", {
    type: "button",
    class: "button",
    on: {
      click: () => {
        shown += STEP;
        update(present());
      },
    },
  });
  say(more, texts.foryou.more);
  const toRate = el("a", { class: "button main", href: "#rate" });
  const element = el(
    "section",
    { class: "card stack", "aria-labelledby": "foryou-title" },
    el(
      "div",
      { class: "stack tight" },
      el("h2", { id: "foryou-title", tabindex: -1 }, texts.foryou.title),
      lead,
      surer,
    ),
    list,
    el("div", { class: "row" }, more, toRate),
  );

  function update(model: Model): void {
    const none = model.recommended === null;
    say(
      lead,
      none
        ? texts.foryou.empty
        : `${model.inTheClear ? texts.foryou.leadClear : texts.foryou.lead} ${texts.foryou.basis(model.answers)}`,
    );
    say(toRate, none ? texts.foryou.toRate : texts.foryou.again);
    say(surer, none ? "" : sureness(model));
    list.hidden = none;
    more.hidden = none || shown >= (model.recommended?.length ?? 0);
    if (model.view !== "foryou") return;
    keyed(
      list,
      elements,
      (model.recommended ?? [])
        .slice(0, shown)
        .map((recommendation, i) => ({ recommendation, rank: i + 1 })),
      ({ recommendation }) => recommendation.title.item,
      ({ recommendation }) => {
        const row = rowOf(recommendation.title, actions, present);
        rows.set(row.element, row);
        return row.element;
      },
      (element, { recommendation, rank }) => rows.get(element)?.update(recommendation, rank),
    );
  }

  return { element, update };
}

function sureness(model: Model): string {
  if (!model.surer || model.site.sets) return texts.foryou.better;
  const { before, now } = model.surer;
  return `${texts.foryou.sure(decimal2(before), decimal2(now))} ${texts.foryou.better}`;
}

function decimal2(value: number): string {
  return (value / 2 ** 16).toFixed(2);
}

interface Row {
  readonly element: HTMLElement;
  update(line: Recommended, rank: number): void;
}

/** A row: rank, title, prediction; and what she says of it if she knows it already. */
function rowOf(title: Title, actions: Actions, present: () => Model): Row {
  const { sets } = present().site;
  const answer = answerOf(title, actions, present);
  const rank = el("span", { class: "rank", "aria-hidden": "true" });
  const predicted = el("span", { class: "predicted" });
  let asked = sets;
  const seen = el(
    "button",
    {
      type: "button",
      class: "link seen",
      "aria-label": texts.foryou.seenOf(title.name),
      on: {
        click: () => {
          asked = true;
          toggle();
          answer.focus();
        },
      },
    },
    texts.foryou.seen,
  );
  const element = el(
    "li",
    { "data-recommended": title.item },
    rank,
    el(
      "span",
      { class: "name" },
      title.link === ""
        ? el("bdi", {}, title.name)
        : el(
            "a",
            { href: title.link, rel: "noreferrer noopener", target: "_blank" },
            el("bdi", {}, title.name),
          ),
      aside(title) !== "" && el("span", { class: "year" }, ` ${aside(title)}`),
    ),
    predicted,
    el("span", { class: "known" }, seen, answer.element, answer.reason),
  );
  const toggle = () => {
    asked ||= present().draft.has(title.item);
    seen.hidden = asked;
    answer.element.hidden = answer.reason.hidden = !asked;
  };
  let drawn: Recommended | null = null;
  return {
    element,
    update(line: Recommended, number: number): void {
      say(rank, String(number));
      answer.update();
      toggle();
      if (drawn === line) return;
      drawn = line;
      // A set has no stars to predict: its order is all there is to say.
      predicted.hidden = sets;
      if (!sets) fill(predicted, ...prediction(line, present().levels));
    },
  };
}

function prediction(line: Recommended, levels: readonly number[]): HTMLElement[] {
  const value = decimal(line.shown);
  const deviation = decimal(line.deviation);
  return [
    el("span", { class: "unseen" }, texts.foryou.described(value, deviation)),
    el("span", { class: "value", "aria-hidden": "true" }, value, icons.star()),
    spanOf(line, levels),
    el("span", { class: "soft small", "aria-hidden": "true" }, `± ${deviation}`),
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
