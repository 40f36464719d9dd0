/** Part 3: rate the titles asked about, or any other; by touch, mouse or keyboard. */

import type { Actions } from "../actions";
import { el, fill, say, set } from "../dom";
import { icons } from "../icons";
import { LongList, type Row } from "../long_list";
import type { Line, Model } from "../model";
import { ratingControl, spoken } from "../rating";
import { levelOf, plain } from "../scale";
import { texts } from "../texts";
import type { Title } from "../titles";

const words = texts.rate;

type Filter = "asked" | "all" | "rated";

/** The list of titles with its search and filters. */
export function rateView(actions: Actions, present: () => Model) {
  let filter: Filter = "asked";
  let looked = "";
  const list = new LongList<Title>(
    ({ item }) => item,
    (title) => titleRow(title, actions, present),
  );
  const input = el("input", {
    type: "search",
    "aria-label": words.search,
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    on: { input: () => look(input.value) },
  });
  const clear = el(
    "button",
    {
      type: "button",
      "aria-label": words.clearSearch,
      on: {
        click: () => {
          look("");
          input.focus();
        },
      },
    },
    icons.close(),
  );
  const matches = el("p", { class: "soft small", role: "status" });
  const filters = new Map<Filter, HTMLButtonElement>(
    (["asked", "all", "rated"] as const).map((name) => [
      name,
      el("button", { type: "button", on: { click: () => choose(name) } }),
    ]),
  );
  const element = el(
    "section",
    { class: "stack", "aria-labelledby": "rate-title" },
    el(
      "div",
      { class: "stack tight" },
      el("h2", { id: "rate-title", tabindex: -1 }, words.title),
      el("p", { class: "soft" }, words.lead),
    ),
    el("div", { class: "search" }, icons.search(), input, clear),
    el(
      "div",
      { class: "filters", role: "group", "aria-label": words.filters },
      ...filters.values(),
    ),
    matches,
    list.element,
    el("p", { class: "soft small keys" }, words.keys),
  );
  element.addEventListener("keydown", keys);

  function look(text: string): void {
    looked = text;
    if (input.value !== text) input.value = text;
    wanted = null;
    update(present());
  }

  function choose(name: Filter): void {
    filter = name;
    looked = "";
    input.value = "";
    wanted = null;
    update(present());
  }

  function keys(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = (event.target as Element).closest<HTMLElement>("[data-item]");
    if (!row || event.target instanceof HTMLSelectElement) {
      if (event.target === input && event.key === "ArrowDown") {
        event.preventDefault();
        list.element.querySelector<HTMLElement>("[tabindex='0']")?.focus();
      }
      return;
    }
    const item = row.dataset.item!;
    const steps = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const level = /^[1-9]$/.test(event.key) ? levelOf(present().levels, event.key) : undefined;
    if (steps !== undefined) {
      event.preventDefault();
      if (!list.move(item, steps) && steps < 0) input.focus();
    } else if (["0", "Backspace", "Delete"].includes(event.key)) actions.rate(item, null);
    else if (level !== undefined) actions.rate(item, level);
  }

  // The list is made again only when what it depends on changed.
  let wanted: readonly Title[] | null = null;
  let depends: readonly unknown[] = [];

  function update(model: Model): void {
    if (!model.titles) return;
    // What she is rating already does not go when the question comes.
    if (!model.head && model.pending && filter === "asked") filter = "all";
    const now = [model.titles, model.head, model.asked, filter === "rated" ? model.draft.size : 0];
    if (wanted === null || now.some((value, i) => value !== depends[i])) {
      depends = now;
      wanted = listed(model);
    }
    set(input, "placeholder", words.placeholder(model.titles.all.length));
    clear.hidden = looked === "";
    say(filters.get("asked")!, `${words.asked} ${model.asked.length}`);
    say(filters.get("all")!, words.all);
    say(filters.get("rated")!, `${words.yours} ${model.draft.size}`);
    for (const [name, button] of filters) {
      set(button, "aria-pressed", String(name === filter && looked === ""));
    }
    say(matches, message(model, wanted.length));
    matches.hidden = matches.textContent === "";
    list.show(wanted);
  }

  function listed(model: Model): readonly Title[] {
    const titles = model.titles!;
    if (looked !== "") return titles.search(looked);
    if (filter === "asked") return model.head ? model.asked : titles.all;
    if (filter === "all") return titles.all;
    return [...model.draft.keys()].reverse().map((item) => titles.of(item));
  }

  function message(model: Model, shown: number): string {
    if (looked !== "") return shown === 0 ? words.none : words.found(shown);
    if (!model.head) return words.checking;
    if (filter === "rated" && shown === 0) return words.nothingRated;
    if (filter === "asked" && shown === 0 && model.hasRound) return words.nothingAsked;
    return "";
  }

  return { element, update, focusSearch: () => input.focus() };
}

function titleRow(title: Title, actions: Actions, present: () => Model): Row<Title> {
  const control = ratingControl(title.name, present().levels, (value) =>
    actions.rate(title.item, value),
  );
  const fate = el("span", { class: "fate" });
  const element = el(
    "li",
    { class: "title", "data-item": title.item },
    el(
      "span",
      { class: "name" },
      title.name,
      title.year !== "" && el("span", { class: "year" }, ` ${title.year}`),
    ),
    el("span", { class: "answer" }, control.element, fate),
  );
  let drawn: readonly unknown[] = [];
  return {
    element,
    focus: () => control.focus(),
    update: () => {
      const model = present();
      const final = model.final.get(title.item);
      const rating = model.draft.get(title.item) ?? null;
      const line = lineOf(model, title.item);
      const now = [final, rating, line];
      if (drawn.length > 0 && now.every((value, i) => value === drawn[i])) return;
      drawn = now;
      control.element.hidden = final !== undefined;
      control.show(rating);
      if (final !== undefined) showFinal(fate, final, model.levels);
      else showFate(fate, line, model.levels);
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

function showFinal(fate: HTMLElement, sent: number | null, levels: readonly number[]): void {
  fate.className = sent === null ? "fate in" : "fate out";
  say(fate, sent === null ? words.withheld : words.sentAs(spoken(levels, sent)));
  set(fate, "title", words.final);
}

function showFate(fate: HTMLElement, line: Line | undefined, levels: readonly number[]): void {
  if (!line) {
    fate.className = "fate";
    fill(fate);
    return;
  }
  fate.className = line.sent === null ? "fate in" : "fate out";
  say(
    fate,
    line.sent === null
      ? words.staysHere
      : words.leavesAs(levels.length === 2 ? spoken(levels, line.sent) : plain(line.sent)),
  );
}
