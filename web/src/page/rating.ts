/** The rating control: a radio group of stars or numbers, or a menu where levels are many. */

import { el, set } from "./dom";
import { icons } from "./icons";
import type { Model } from "./model";
import { lookOf, plain } from "./scale";
import { texts } from "./texts";

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
  return lookOf(levels) === "menu" ? menu(title, levels, rate) : buttons(title, levels, rate);
}

/** Say a level aloud: "4 stars", or the bare number. */
export function spoken(levels: readonly number[], value: number): string {
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

/** What is said after a rating was given or cleared: the rating, and what becomes of it. */
export function saidOf(
  { titles, levels, lines }: Model,
  item: string,
  value: number | null,
): string {
  const name = titles?.of(item).name ?? item;
  if (value === null) return texts.rate.saidCleared(name);
  const sent = lines.find(({ title }) => title.item === item)?.sent ?? null;
  const fate = sent === null ? texts.rate.staysHere : texts.rate.leavesAs(plain(sent));
  return texts.rate.saidRated(name, spoken(levels, value), fate);
}
