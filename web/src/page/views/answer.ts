/** What she gives to one title, and what becomes of it; on the rows of lists. */

import { el, fill, say, set } from "../controls/dom";
import { ownRating, ratingControl, spoken } from "../controls/rating";
import { plain } from "../controls/scale";
import type { Actions } from "../model/actions";
import type { Line, Model } from "../model/model";
import type { Title } from "../model/titles";
import { texts } from "../texts";

/** The control, or what was given for good; what becomes of it; and why, in a few words. */
export function answerOf(title: Title, actions: Actions, present: () => Model) {
  const control = ratingControl(title.name, present().levels, (value) =>
    actions.rate(title.item, value),
  );
  const own = el("span");
  const fate = el("span", { class: "fate" });
  const reason = el("span", { class: "reason" });
  let drawn: readonly unknown[] = [];
  return {
    element: el("span", { class: "answer" }, control.element, own, fate),
    reason,
    focus: () => control.focus(),
    /** Draw what changed; whether anything did. */
    update(): boolean {
      const model = present();
      const final = model.final.get(title.item);
      const rating = model.draft.get(title.item) ?? null;
      const given = model.given.get(title.item);
      const line = lineOf(model, title.item);
      const now = [final, rating, given, line];
      if (drawn.length > 0 && now.every((value, i) => value === drawn[i])) return false;
      drawn = now;
      const isFinal = final !== undefined;
      control.element.hidden = isFinal;
      own.hidden = !isFinal;
      control.show(rating);
      fill(own, isFinal && given !== undefined && ownRating(given, model.levels));
      if (isFinal) showFinal(fate, reason, final, model.levels);
      else showFate(fate, reason, line, model.levels);
      return true;
    },
  };
}

const indexed = new WeakMap<readonly Line[], ReadonlyMap<string, Line>>();

/** What becomes of a title as it is rated now; undefined if that is not worked out yet. */
function lineOf({ lines, draft }: Model, item: string): Line | undefined {
  const byItem = indexed.get(lines) ?? new Map(lines.map((line) => [line.title.item, line]));
  indexed.set(lines, byItem);
  const line = byItem.get(item);
  return line?.yours === draft.get(item) ? line : undefined;
}

function showFinal(
  fate: HTMLElement,
  reason: HTMLElement,
  sent: number | null,
  levels: readonly number[],
): void {
  fate.className = sent === null ? "fate in" : "fate out";
  say(fate, sent === null ? texts.rate.withheld : texts.rate.sentAs(shortly(levels, sent)));
  say(reason, texts.rate.final);
}

function showFate(
  fate: HTMLElement,
  reason: HTMLElement,
  line: Line | undefined,
  levels: readonly number[],
): void {
  if (!line) {
    fate.className = "fate";
    fill(fate);
    fill(reason);
    return;
  }
  fate.className = line.sent === null ? "fate in" : "fate out";
  say(
    fate,
    line.sent === null ? texts.rate.withheld : texts.rate.goesAs(shortly(levels, line.sent)),
  );
  say(reason, line.was === undefined ? line.brief : texts.rate.changed);
  set(reason, "title", line.why);
}

/** A level in as few letters as possible: 4, or yes and no. */
function shortly(levels: readonly number[], value: number): string {
  return levels.length === 2 ? spoken(levels, value) : plain(value);
}
