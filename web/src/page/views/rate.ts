/** Part 3: rate the titles asked about, or any other; by touch, mouse or keyboard. */

import { el, say, set } from "../controls/dom";
import { icons } from "../controls/icons";
import { LongList, type Row } from "../controls/long_list";
import { levelOf } from "../controls/scale";
import type { Actions } from "../model/actions";
import type { Model } from "../model/model";
import { aside, type Title } from "../model/titles";
import { texts } from "../texts";
import { answerOf } from "./answer";

type Filter = "asked" | "all" | "rated";

/** The list of titles with its search and filters. */
export function rateView(actions: Actions, present: () => Model) {
  let filter: Filter = "asked";
  let looked = "";
  /** Whether nothing is spelled as it was looked for, so that what is shown is only similar. */
  let alike = false;
  const list = new LongList<Title>(
    ({ item }) => item,
    (title) => titleRow(title, actions, present),
  );
  const input = el("input", {
    type: "search",
    "aria-label": texts.rate.search,
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "search",
    on: { input: () => look(input.value) },
  });
  const clear = el(
    "button",
    {
      type: "button",
      "aria-label": texts.rate.clearSearch,
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
      el("h2", { id: "rate-title", tabindex: -1 }, texts.rate.title),
      el("p", { class: "soft" }, texts.rate.lead),
    ),
    el("div", { class: "search" }, icons.search(), input, clear),
    el(
      "div",
      { class: "filters", role: "group", "aria-label": texts.rate.filters },
      ...filters.values(),
    ),
    matches,
    list.element,
    el("p", { class: "soft small keys" }, texts.rate.keys),
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
    const rated = model.draft.size + model.final.size;
    const now = [model.titles, model.head, model.asked, filter === "rated" ? rated : 0];
    if (wanted === null || now.some((value, i) => value !== depends[i])) {
      depends = now;
      wanted = listed(model);
    }
    set(input, "placeholder", texts.rate.placeholder(model.titles.all.length));
    clear.hidden = looked === "";
    say(filters.get("asked")!, `${texts.rate.asked} ${model.asked.length}`);
    say(filters.get("all")!, texts.rate.all);
    say(filters.get("rated")!, `${texts.rate.yours} ${rated}`);
    for (const [name, button] of filters) {
      set(button, "aria-pressed", String(name === filter && looked === ""));
    }
    say(matches, message(model, wanted.length));
    matches.hidden = matches.textContent === "";
    list.show(wanted);
  }

  function listed(model: Model): readonly Title[] {
    const titles = model.titles!;
    alike = false;
    if (looked !== "") {
      const matches = titles.search(looked);
      alike = matches.length === 0;
      return alike ? titles.searchAlike(looked) : matches;
    }
    if (filter === "asked") return model.head ? model.asked : titles.all;
    if (filter === "all") return titles.all;
    // The latest first, then what is final.
    const items = [...[...model.draft.keys()].reverse(), ...model.final.keys()];
    return items.map((item) => titles.of(item));
  }

  function message(model: Model, shown: number): string {
    if (looked !== "" && shown === 0) return texts.rate.none;
    if (looked !== "") return alike ? texts.rate.alike(shown) : texts.rate.found(shown);
    if (!model.head) return texts.rate.checking;
    if (filter === "rated" && shown === 0) return texts.rate.nothingRated;
    if (filter === "asked" && shown === 0 && model.hasRound) return texts.rate.nothingAsked;
    return "";
  }

  return { element, update, focusSearch: () => input.focus() };
}

function titleRow(title: Title, actions: Actions, present: () => Model): Row<Title> {
  const answer = answerOf(title, actions, present);
  const element = el(
    "li",
    { class: "title", "data-item": title.item },
    el(
      "span",
      { class: "said" },
      el(
        "span",
        { class: "name" },
        el("bdi", {}, title.name),
        aside(title) !== "" && el("span", { class: "year" }, ` ${aside(title)}`),
      ),
      answer.reason,
    ),
    answer.element,
  );
  return { element, focus: answer.focus, update: () => void answer.update() };
}
