/** The rating control: stars or numbers, a menu where levels are many, a mark where there is one. */

import type { Line, Model } from "../model/model";
import { texts } from "../texts";
import { el, set } from "./dom";
import { icons } from "./icons";
import { lookOf, plain } from "./scale";

export interface RatingControl {
  readonly element: HTMLElement;
  /** Show a rating; null means that there is none. */
  show(value: number | null): void;
  /** Put the keyboard's focus on it. */
  focus(): void;
}

/** Make a control for one title; `rate` is called with a level, or with null to clear. */
export function ratingControl(
  title: string,
  levels: readonly number[],
  rate: (value: number | null) => void,
): RatingControl {
  switch (lookOf(levels)) {
    case "mark":
      return mark(title, levels[0] ?? 0, rate);
    case "menu":
      return menu(title, levels, rate);
    default:
      return buttons(title, levels, rate);
  }
}

/** Her rating as it stands for good: to be seen, not pressed. */
export function ownRating(value: number, levels: readonly number[]): HTMLElement {
  const look = lookOf(levels);
  const said = spoken(levels, value);
  if (look === "mark") return el("span", { class: "own" }, icons.check(), said);
  if (look !== "stars" && look !== "halves") {
    return el("span", { class: "own" }, texts.rate.yourRating(said));
  }
  const on = levels.indexOf(value);
  const stars = levels.map((_, at) => {
    const star = el("span", {}, icons.star());
    star.classList.toggle("on", at <= on);
    return star;
  });
  const name = look === "halves" ? "stars halves own" : "stars own";
  return el(
    "span",
    { class: name, role: "img", "aria-label": texts.rate.yourRating(said) },
    ...stars,
  );
}

/** Say a level aloud: "4 stars", or the bare number. */
export function spoken(levels: readonly number[], value: number): string {
  if (levels.length === 1) return texts.rate.marked;
  if (["stars", "halves"].includes(lookOf(levels))) return texts.rate.star(plain(value));
  if (levels.length === 2 && levels[0] === 0) {
    return value === 0 ? texts.rate.no : texts.rate.yes;
  }
  return plain(value);
}

function buttons(
  title: string,
  levels: readonly number[],
  rate: (value: number | null) => void,
): RatingControl {
  const look = lookOf(levels);
  const stars = look !== "numbers";
  let shown: number | null = null;
  const made = levels.map((level) =>
    el(
      "button",
      {
        type: "button",
        role: "radio",
        "aria-label": spoken(levels, level),
        "aria-checked": "false",
        // Pressing the level that is set takes the rating back.
        on: { click: () => rate(level === shown ? null : level) },
      },
      stars ? icons.star() : spoken(levels, level),
    ),
  );
  const element = el(
    "div",
    {
      class: look === "stars" ? "stars" : `stars ${look}`,
      role: "radiogroup",
      "aria-label": texts.rate.group(title),
      on: { keydown: (event) => sideways(event) },
    },
    ...made,
  );

  function sideways(event: KeyboardEvent): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = shown === null ? (step > 0 ? -1 : levels.length) : levels.indexOf(shown);
    const next = Math.min(Math.max(at + step, 0), levels.length - 1);
    rate(levels[next]!);
    made[next]!.focus();
  }

  function show(value: number | null): void {
    shown = value;
    const level = value === null ? -1 : levels.indexOf(value);
    made.forEach((button, at) => {
      button.classList.toggle("on", at <= level);
      button.classList.toggle("exact", at === level);
      set(button, "aria-checked", at === level ? "true" : "false");
      set(button, "tabindex", at === Math.max(level, 0) ? "0" : "-1");
    });
  }

  show(null);
  return { element, show, focus: () => made.find(({ tabIndex }) => tabIndex === 0)?.focus() };
}

/** A button that stays pressed: seen, liked, bought. */
function mark(title: string, level: number, rate: (value: number | null) => void): RatingControl {
  let shown = false;
  const element = el(
    "button",
    {
      type: "button",
      class: "mark",
      tabindex: 0,
      "aria-label": texts.rate.markOf(title),
      "aria-pressed": "false",
      on: { click: () => rate(shown ? null : level) },
    },
    icons.check(),
    texts.rate.mark,
  );
  return {
    element,
    show: (value) => {
      shown = value !== null;
      set(element, "aria-pressed", String(shown));
    },
    focus: () => element.focus(),
  };
}

function menu(
  title: string,
  levels: readonly number[],
  rate: (value: number | null) => void,
): RatingControl {
  const element = el(
    "select",
    {
      class: "menu",
      "aria-label": texts.rate.group(title),
      on: { change: () => rate(element.value === "" ? null : Number(element.value)) },
    },
    el("option", { value: "" }, texts.rate.notRated),
    ...levels.map((level) => el("option", { value: String(level) }, plain(level))),
  );
  return {
    element,
    show: (value) => {
      element.value = value === null ? "" : String(value);
    },
    focus: () => element.focus(),
  };
}

/** What is said after a rating was given or cleared: what becomes of it, and of others by it. */
export function saidOf(
  { titles, levels, lines }: Model,
  item: string,
  value: number | null,
  before: readonly Line[],
): string {
  const name = titles?.of(item).name ?? item;
  if (value === null) return texts.rate.saidCleared(name);
  const sent = lines.find(({ title }) => title.item === item)?.sent ?? null;
  const fate = sent === null ? texts.rate.withheld : texts.rate.goesAs(plain(sent));
  const earlier = new Map(before.map((line) => [line.title.item, line]));
  const changed = lines.filter((line) => {
    const known = line.title.item === item ? undefined : earlier.get(line.title.item);
    return known?.yours === line.yours && known.sent !== line.sent;
  });
  return texts.rate.saidRated(name, spoken(levels, value), fate, changed.length);
}
